import type { ApolloServerPlugin } from '@apollo/server';
import type { CompiledOperations } from './compiled-operations.js';
import type { Context } from './context.js';

/** Tells of operations that are valid and of an allowed size, so that the next one like it need not be checked again. */
export function learn(operations: CompiledOperations): ApolloServerPlugin<Context> {
  return {
    async requestDidStart() {
      return {
        async willSendResponse({ source, request, document, operation, response }) {
          const isFaultless = response.body.kind === 'single' && !response.body.singleResult.errors;
          if (!source || !document || !operation || !isFaultless) return;
          operations.learn({ source, operationName: request.operationName ?? null }, document, operation);
        },
      };
    },
  };
}
