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

/** Defined as in Apollo, so that its tools understand the printed schema. */
export const CACHE_CONTROL_DIRECTIVE = new GraphQLDirective({
  name: NAME,
  description:
    'The field depends only on its arguments and the data of the project: its response may be cached until that data changes.',
  locations: [DirectiveLocation.FIELD_DEFINITION],
  args: {
    maxAge: {
      type: GraphQLInt,
      description:
        'Seconds for which a cached response may be used unchecked: 0, as each use is checked against the data.',
    },
    scope: {
      type: new GraphQLEnumType({
        name: 'CacheControlScope',
        description: 'The clients that may share a cached response.',
        values: {
          PUBLIC: { description: 'All clients.' },
          PRIVATE: { description: 'Clients with the same rights in the same project.' },
        },
      }),
      description: 'The clients that may share it.',
    },
    inheritMaxAge: { type: GraphQLBoolean, description: "Whether the parent's `maxAge` applies." },
  },
});

/** Whether the whole response of an operation may be cached, fields of fragments included. */
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
