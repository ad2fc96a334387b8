import type { ApolloServerPlugin } from '@apollo/server';
import type { Context } from './execution/context.js';
import { presentRateLimit } from './schema/rate-limit.type.js';

/** Adds the state of the quota to a response if the request has `"extensions": { "rateLimit": true }`. */
export const rateLimit: ApolloServerPlugin<Context> = {
  async requestDidStart() {
    return {
      async willSendResponse({ request, response, contextValue }) {
        const standing = contextValue.standing();
        if (!standing || !request.extensions?.rateLimit || response.body.kind !== 'single') return;
        const { singleResult } = response.body;
        singleResult.extensions = { ...singleResult.extensions, rateLimit: presentRateLimit(standing) };
      },
    };
  },
};
