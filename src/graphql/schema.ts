import { type GraphQLSchema, lexicographicSortSchema } from 'graphql';
import { buildSchema } from 'type-graphql';
import { PetResolver } from './pet.resolver.js';
import { ProjectResolver } from './project.resolver.js';

/** The schema of DOOR 1. `resolvers` come from the composition root: type-graphql finds each by its class. */
export async function createSchema(resolvers: readonly object[]): Promise<GraphQLSchema> {
  const byClass = new Map<unknown, object>(resolvers.map((resolver) => [resolver.constructor, resolver]));
  const schema = await buildSchema({
    resolvers: [PetResolver, ProjectResolver],
    container: { get: (type: unknown) => byClass.get(type) },
    // Services check values, for both doors alike.
    validate: false,
  });
  return lexicographicSortSchema(schema);
}
