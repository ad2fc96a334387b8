import { ApolloServer } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { jsonIn } from '../../ground/kernel/json.js';
import type { JsonBody } from '../../request/http/content/json-body.js';
import { type Context, contextOf } from './execution/context.js';
import { formatError, refusal } from './execution/errors.js';
import type { PersistedQueries } from './known-documents.js';
import { answerType, refuseBatch } from './negotiation.js';
import { type OperationPluginOptions, operationPlugin } from './operation.plugin.js';
import { givenName } from './operations/measured-operation.js';
import { dropEmptyParameters, parametersOf, persistedQueryProblem } from './request-parameters.js';
import { SERVER_SENT_END, SERVER_SENT_EVENTS, type StreamFormat } from './streams/stream-format.js';
import type { AskedStream } from './streams/subscriptions.js';

const MAX_TOKENS = 2_000;

/** Starts Apollo Server with the plugin of this gateway: it handles every request that `KnownOperations` does not answer. */
export async function startApollo(
  options: OperationPluginOptions & { persistedQueries: PersistedQueries; log: FastifyBaseLogger },
) {
  const server = new ApolloServer<Context>({
    schema: options.schema,
    formatError,
    introspection: true,
    includeStacktraceInErrorResponses: false,
    // `operationPlugin` validates, after the charge.
    dangerouslyDisableValidation: true,
    // `operationPlugin` knows the valid documents.
    documentStore: null,
    persistedQueries: { cache: options.persistedQueries },
    parseOptions: { maxTokens: MAX_TOKENS },
    stopOnTerminationSignals: false,
    plugins: [
      operationPlugin(options),
      ApolloServerPluginLandingPageDisabled(),
      // It would wrap every resolver of every type; `KnownOperations` decides before execution what may be cached.
      ApolloServerPluginCacheControlDisabled(),
    ],
    logger: options.log,
  });
  await server.start();
  const executeRequest = fastifyApolloHandler(server, {
    context: async (request, reply) => {
      const problem = persistedQueryProblem(request);
      if (problem) throw refusal(problem);
      return contextOf(request, reply);
    },
  });

  /** Parses, charges and executes the request. Returns the body. A request that Apollo refuses may not be charged yet. */
  const handleRequest = async (request: FastifyRequest, reply: FastifyReply, body: JsonBody | null) => {
    const { caller } = request;
    // A request that is not charged yet is not known: parsing its document may take milliseconds. Requests that shared a
    // failed read do not wait, so that they share the next read. A large body has waited already.
    if (caller && request.paidBy === null && !body?.isLarge) {
      body?.forgetValue();
      await options.turns.next(caller.projectId);
    }
    // Apollo refuses the other methods.
    request.body = body?.parse();
    if (Array.isArray(request.body)) return refuseBatch(request.body, request, reply);
    dropEmptyParameters(request);
    request.operation ??= givenName(parametersOf(request).operationName);
    const response: unknown = await executeRequest.call(request.server, request, reply);
    if (reply.statusCode >= 400) request.errorCode ??= codeIn(response);
    if (reply.statusCode !== 304) return response;
    return reply.removeHeader('content-type').removeHeader('content-length').send();
  };

  /** As `handleRequest`, for a client that accepts a stream. Only a subscription is answered with one. */
  const handleStream = async (
    request: FastifyRequest,
    reply: FastifyReply,
    { body, format }: { body: JsonBody | null; format: StreamFormat },
  ) => {
    const asked: AskedStream = { format, opened: null };
    options.subscriptions.asked.set(request, asked);
    // Refusals, and the results of other operations, are JSON. Only a client that accepts none gets an event: urql accepts
    // both for every query.
    const accepted = answerType(request);
    // Apollo refuses a GET without the type of a body, and `EventSource` sends none.
    const headers = { accept: accepted ?? 'application/json', 'content-type': 'application/json' };
    Object.assign(request.headers, headers);
    const response = await handleRequest(request, reply, body);
    if (asked.opened) {
      // A stream keeps nothing of the body.
      request.bodyShare?.end();
      // The request was refused, or its client has left, meanwhile.
      if (reply.sent || reply.raw.destroyed) asked.opened.close();
      else asked.opened.begin(request, reply);
      // Fastify adds listeners to a returned reply, and each stream would keep them.
      return undefined;
    }
    if (reply.statusCode >= 400 || accepted !== undefined || format !== SERVER_SENT_EVENTS) return response;
    reply.type(format.contentType);
    return format.result(String(response).trim(), null) + SERVER_SENT_END;
  };
  return { handleRequest, handleStream, stop: () => server.stop() };
}

/** The code of an error that Apollo found before it made a context. */
function codeIn(body: unknown): string | null {
  const answer = jsonIn(String(body)) as { errors?: { extensions?: { code?: string } }[] } | undefined;
  return answer?.errors?.[0]?.extensions?.code ?? null;
}
