import { type ApolloServerPlugin, type GraphQLRequestContext, HeaderMap } from '@apollo/server';
import { type GraphQLSchema, printSchema } from 'graphql';
import { isKnownTag, strongTag } from '../../http/content/entity-tag.js';
import type { Context } from './context.js';

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
