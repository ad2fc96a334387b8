import type { ApolloServerPlugin, HeaderMap } from '@apollo/server';
import { errorHeaders, logFault } from '../../http/error-reply.js';
import { toAppError } from '../../http/to-app-error.js';
import type { AppError } from '../../kernel/errors.js';
import type { Context } from './context.js';
import { causeOf, isOfApollo } from './errors.js';

/** An unavailable database fails every field of an operation for the same reason. */
const MAX_LOGGED_FAULTS = 3;

/**
 * Logs what clients must not see, notes the code of the first error, sets Retry-After for refused fields, and responds
 * with 503 if the database prevented every result.
 */
export const outcome: ApolloServerPlugin<Context> = {
  async requestDidStart() {
    return {
      async didEncounterErrors({ errors, contextValue }) {
        const faults = errors
          .filter(({ extensions }) => !isOfApollo(extensions.code))
          .map((error) => toAppError(causeOf(error)))
          .filter(({ code }) => code === 'internal' || code === 'unavailable');
        for (const fault of faults.slice(0, MAX_LOGGED_FAULTS)) logFault(contextValue, fault);
      },
      async willSendResponse({ errors, response, contextValue }) {
        if (response.body.kind !== 'single') return;
        const { data, errors: shown } = response.body.singleResult;
        if (shown?.[0]) contextValue.noteError(String(shown[0].extensions?.code));
        const hasData = data && Object.values(data).some((value) => value !== null);
        const faults = (errors ?? []).map((error) => toAppError(causeOf(error)));
        tellRefusedFields(faults, response.http.headers, contextValue);
        const [first] = faults;
        if (hasData || !first || faults.some(({ code }) => code !== 'unavailable')) return;
        response.http.status = first.status;
        for (const [name, value] of Object.entries(errorHeaders(first)))
          response.http.headers.set(name, value);
      },
    };
  },
};

/** After the latest of their times, all refused fields are admitted. RFC 9110 §10.2.3 allows the header on any status. */
function tellRefusedFields(faults: readonly AppError[], headers: HeaderMap, context: Context): void {
  const refused = faults.filter(({ code }) => code === 'field_rate_limited');
  if (refused.length === 0) return;
  context.noteRefusedField();
  const latest = Math.max(...refused.map(({ retryAfterSeconds = 1 }) => retryAfterSeconds));
  headers.set('retry-after', String(latest));
}
