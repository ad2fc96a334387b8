import type { ApolloServerPlugin } from '@apollo/server';
import type { GraphQLSchema } from 'graphql';
import { AppError } from '../errors.js';
import type { Context } from './context.js';
import { refusal } from './errors.js';
import { measureOperation, type OperationSize, pageSizesOf } from './operation-size.js';

/** The largest operation that is executed. The introspection query of Apollo Sandbox, 13 deep, is the deepest in use. */
const LIMITS: OperationSize = { rootFields: 20, depth: 15, aliases: 30, directives: 10, cost: 5_000 };

const IN_WORDS: Record<keyof OperationSize, string> = {
  rootFields: 'root fields',
  depth: 'levels of depth',
  aliases: 'aliases',
  directives: 'directives',
  cost: 'fields in all, those inside a page counted once for each of its entries',
};

/** Refuses an operation that is too large, before anything of it executes. */
export function operationLimits(schema: GraphQLSchema): ApolloServerPlugin<Context> {
  const pages = pageSizesOf(schema);
  return {
    async requestDidStart() {
      return {
        // Not earlier: a GraphQLError thrown in requestDidStart becomes a 500.
        async didResolveOperation({ document, operation, request, contextValue }) {
          if (!operation) return;
          const size = measureOperation(document, operation, request.variables ?? {}, pages);
          contextValue.rootFieldCount = size.rootFields;
          for (const name of Object.keys(LIMITS) as (keyof OperationSize)[]) {
            if (size[name] > LIMITS[name]) throw refusal(tooLarge(name, size[name]));
          }
        },
      };
    },
  };
}

function tooLarge(name: keyof OperationSize, count: number): AppError {
  const allowed = `at most ${LIMITS[name]} are allowed`;
  return new AppError(
    'invalid_request',
    `The operation has ${count} ${IN_WORDS[name]}; ${allowed}. Split it.`,
  );
}
