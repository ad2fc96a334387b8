import { type ApolloServerPlugin, type GraphQLRequestContext, HeaderMap } from '@apollo/server';
import { type GraphQLSchema, printSchema } from 'graphql';
import type { AppError } from '../../ground/kernel/errors.js';
import { isKnownTag, strongTag } from '../../request/http/content/entity-tag.js';
import { errorHeaders, logFault, toAppError } from '../../request/http/error-reply.js';
import type { Context } from './execution/context.js';
import { causeOf, isOfApollo } from './execution/errors.js';
import { presentRateLimit } from './schema/rate-limit.resolver.js';

/** An unavailable database fails every field of an operation for the same reason. */
const MAX_LOGGED_FAULTS = 3;

/**
 * Logs what clients must not see, notes the code of the first error, sets Retry-After for refused fields, and responds
 * with 503 if the database prevented every result. Adds the state of the quota if the request has
 * `"extensions": { "rateLimit": true }`. D-10.
 */
export const outcome: ApolloServerPlugin<Context> = {
  async requestDidStart() {
    return {
      async didEncounterErrors({ errors, contextValue }) {
        const faults = errors
          .filter(({ extensions }) => !isOfApollo(extensions.code))
          .map((error) => toAppError(causeOf(error)))
          .filter(({ code }) => code === 'internal' || code === 'unavailable');
        for (const fault of faults.slice(0, MAX_LOGGED_FAULTS)) logFault(contextValue.request, fault);
      },
      async willSendResponse({ request, errors, response, contextValue }) {
        if (response.body.kind !== 'single') return;
        const { singleResult } = response.body;
        const { data, errors: shown } = singleResult;
        const { standing } = contextValue.request;
        if (standing && request.extensions?.rateLimit) {
          singleResult.extensions = { ...singleResult.extensions, rateLimit: presentRateLimit(standing) };
        }
        if (shown?.[0]) contextValue.request.errorCode = String(shown[0].extensions?.code);
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
  context.request.hasRefusedField = true;
  const latest = Math.max(...refused.map(({ retryAfterSeconds = 1 }) => retryAfterSeconds));
  headers.set('retry-after', String(latest));
}

/**
 * Gives a GET that reads the schema a strong ETag of schema and query. Sends 304, without executing anything, to a client
 * that already has the response. RFC 9110 §13.1.2.
 */
export function schemaTag(schema: GraphQLSchema): ApolloServerPlugin<Context> {
  const printed = printSchema(schema);
  const tagOf = ({ request, source = '', contextValue }: GraphQLRequestContext<Context>): string | null => {
    const isRead = request.http?.method === 'GET' && contextValue.operation?.cost.schema === 1;
    // The remaining quota differs in each response.
    if (!isRead || request.extensions?.rateLimit) return null;
    return strongTag(printed, source, request.operationName ?? '', JSON.stringify(request.variables ?? {}));
  };
  return {
    async requestDidStart() {
      return {
        async responseForOperation(context) {
          const tag = tagOf(context);
          const known = context.request.http?.headers.get('if-none-match');
          if (tag === null || known === undefined || !isKnownTag(known, tag)) return null;
          // The door removes the body.
          const http = { status: 304, headers: new HeaderMap() };
          return { http, body: { kind: 'single', singleResult: {} } };
        },
        async willSendResponse(context) {
          const tag = tagOf(context);
          const { http, body } = context.response;
          if (tag === null || body.kind !== 'single' || body.singleResult.errors) return;
          http.headers.set('etag', tag);
          http.headers.set('cache-control', 'private, no-cache');
        },
      };
    },
  };
}
