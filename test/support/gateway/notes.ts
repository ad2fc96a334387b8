import { Ctx, Field, ID, ObjectType, Query, Resolver } from 'type-graphql';
import type { Context } from '../../../src/doors/graphql/execution/context.js';
import { Entries } from '../../../src/doors/graphql/operations/type-options.js';
import { type Caller, requireScope } from '../../../src/ground/kernel/caller.js';
import type { Noun } from '../../../src/noun/noun.js';
import type { NounDescription } from '../../../src/nouns.js';

export const NOTE: NounDescription = {
  singular: 'note',
  plural: 'notes',
  type: 'Note',
  withArticle: 'a note',
  headline: 'Notes for tests',
  fields: [
    {
      name: 'name',
      label: 'Name',
      kind: 'text',
      json: 'text',
      scalar: 'String',
      isRequired: true,
      example: 'First',
    },
  ],
  filters: [],
  hasCount: false,
};

@ObjectType('Note', { description: 'A note.' })
class NoteType {
  @Field(() => ID, { description: 'Its id.' })
  id!: string;

  @Field(() => String, { description: 'Its name.' })
  name!: string;
}

@Resolver()
class NoteResolver {
  @Entries(1)
  @Query(() => [NoteType], { description: 'All {{nouns}} of the project. Needs `{{items}}:read`.' })
  notes(@Ctx() { caller }: Context): NoteType[] {
    return notesOf(caller);
  }
}

function notesOf(caller: Caller): NoteType[] {
  requireScope(caller, 'notes:read');
  return [{ id: '1', name: 'First' }];
}

/** The smallest noun that a gateway can serve: it stores nothing. */
export const notes: Noun = {
  description: NOTE,
  entities: [],
  migrations: [],
  open: () => ({
    service: {},
    files: { description: NOTE, entity: class {} as never, parse: (input) => input as object },
    seedDemo: async () => {},
    openDoors: async () => ({
      resolvers: [new NoteResolver()],
      routes: (app) =>
        app.get('/notes', { config: { operationId: 'listNotes' } }, async ({ caller }) =>
          notesOf(caller as Caller),
        ),
    }),
  }),
  contract: () => Promise.reject(new Error('Notes have no contract.')),
};
