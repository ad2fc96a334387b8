import type { ApolloServerPlugin } from '@apollo/server';
import { errorHeaders, logFault } from '../http/error-reply.js';
import { toAppError } from '../http/to-app-error.js';
import type { Context } from './context.js';
import { causeOf, isOfApollo } from './errors.js';

/** Logs what clients are not shown, and answers 503 where the database kept everything from being answered. */
export const outcome: ApolloServerPlugin<Context> = {
  async requestDidStart() {
    return {
      async didEncounterErrors({ errors, contextValue }) {
        for (const error of errors) {
          if (!isOfApollo(error.extensions.code)) logFault(contextValue, toAppError(causeOf(error)));
        }
      },
      async willSendResponse({ errors, response }) {
        if (response.body.kind !== 'single') return;
        const { data } = response.body.singleResult;
        const hasData = data && Object.values(data).some((value) => value !== null);
        const faults = (errors ?? []).map((error) => toAppError(causeOf(error)));
        const [first] = faults;
        if (hasData || !first || faults.some(({ code }) => code !== 'unavailable')) return;
        response.http.status = first.status;
        for (const [name, value] of Object.entries(errorHeaders(first)))
          response.http.headers.set(name, value);
      },
    };
  },
};
