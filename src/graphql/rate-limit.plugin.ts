import type { ApolloServerPlugin } from '@apollo/server';
import type { GraphQLSchema } from 'graphql';
import { toAppError } from '../http/to-app-error.js';
import type { Context } from './context.js';
import { refusal } from './errors.js';
import { sizeProblem } from './operation-limits.js';
import { measureOperation, pageSizesOf, readsOnlySchema } from './operation-size.js';
import { presentRateLimit } from './rate-limit.type.js';

/**
 * Admits operations: refuses one that is too large, charges any other one unit for each root field, both before anything
 * of it executes. Reading the schema spends nothing of the plan and has a limit of its own. Adds the state of the quota to a response whose request asks: `"extensions": { "rateLimit": true }`.
 */
export function rateLimit(schema: GraphQLSchema): ApolloServerPlugin<Context> {
  const pages = pageSizesOf(schema);
  return {
    async requestDidStart() {
      return {
        // Not earlier: a GraphQLError thrown in requestDidStart becomes a 500. And in one place, as Apollo runs the hooks
        // of several plugins at the same time.
        async didResolveOperation({ document, operation, request, contextValue }) {
          if (!operation) return;
          const size = measureOperation(document, operation, request.variables ?? {}, pages);
          const problem = sizeProblem(size);
          if (problem) throw refusal(problem);
          contextValue.rootFieldCount = size.rootFields;
          contextValue.isIntrospection = readsOnlySchema(document, operation, request.variables ?? {});
          try {
            if (contextValue.isIntrospection) await contextValue.chargeSchema();
            else await contextValue.charge(size.rootFields);
          } catch (error) {
            throw refusal(toAppError(error));
          }
        },
        async willSendResponse({ request, response, contextValue }) {
          const standing = contextValue.standing();
          if (!standing || !request.extensions?.rateLimit || response.body.kind !== 'single') return;
          const { singleResult } = response.body;
          singleResult.extensions = { ...singleResult.extensions, rateLimit: presentRateLimit(standing) };
        },
      };
    },
  };
}
