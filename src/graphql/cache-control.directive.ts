import { getDirective } from '@graphql-tools/utils';
import {
  DirectiveLocation,
  type DocumentNode,
  GraphQLBoolean,
  GraphQLDirective,
  GraphQLEnumType,
  GraphQLInt,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { rootFieldNames } from './operation-size.js';

const NAME = 'cacheControl';

/** As Apollo defines it, so that its tools understand the printed schema. */
export const CACHE_CONTROL_DIRECTIVE = new GraphQLDirective({
  name: NAME,
  description:
    'The field depends on nothing but its arguments and the data of the project: its answer may be kept in memory until that data changes.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: {
    maxAge: {
      type: GraphQLInt,
      description: 'Seconds for which it may be used unseen: none, each use is checked against the data.',
    },
    scope: {
      type: new GraphQLEnumType({
        name: 'CacheControlScope',
        description: 'For whom an answer may be kept.',
        values: {
          PUBLIC: { description: 'For everybody.' },
          PRIVATE: { description: 'For those with the same rights in the same project.' },
        },
      }),
      description: 'For whom it may be kept.',
    },
    inheritMaxAge: { type: GraphQLBoolean, description: "Whether the parent's age counts." },
  },
});

/** Whether all that an operation asks for may be kept, fields of fragments included. */
export function mayBeKept(
  schema: GraphQLSchema,
): (document: DocumentNode, operation: OperationDefinitionNode) => boolean {
  const fields = Object.values(schema.getQueryType()?.getFields() ?? {});
  const kept = new Set(
    fields.filter((field) => getDirective(schema, field, NAME)?.length).map(({ name }) => name),
  );
  return (document, operation) => {
    if (operation.operation !== 'query') return false;
    const asked = rootFieldNames(document, operation).filter((name) => name !== '__typename');
    return asked.length > 0 && asked.every((name) => kept.has(name));
  };
}
