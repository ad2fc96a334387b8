import { ApolloServer } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { JsonBody } from '../../request/http/content/json-body.js';
import { type Context, contextOf } from './execution/context.js';
import { formatError, refusal } from './execution/errors.js';
import type { PersistedQueries } from './known-documents.js';
import { type OperationPluginOptions, operationPlugin } from './operation.plugin.js';
import { givenName } from './operations/measured-operation.js';
import { parametersOf, persistedQueryProblem } from './request-parameters.js';

const MAX_TOKENS = 2_000;

interface ApolloOptions extends OperationPluginOptions {
  persistedQueries: PersistedQueries;
  log: FastifyBaseLogger;
}

/** Starts Apollo Server with the plugin of this gateway: it handles every request that `KnownOperations` does not answer. */
export async function startApollo(options: ApolloOptions) {
  const server = new ApolloServer<Context>({
    schema: options.schema,
    formatError,
    introspection: true,
    includeStacktraceInErrorResponses: false,
    // `operationPlugin` validates, after the charge.
    dangerouslyDisableValidation: true,
    documentStore: options.documents,
    persistedQueries: { cache: options.persistedQueries },
    parseOptions: { maxTokens: MAX_TOKENS },
    stopOnTerminationSignals: false,
    plugins: [
      operationPlugin(options),
      ApolloServerPluginLandingPageDisabled(),
      // It would wrap every resolver of every type; `KnownOperations` decides before execution what may be cached. D-43.
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
    request.operation ??= givenName(parametersOf(request).operationName);
    const response: unknown = await executeRequest.call(request.server, request, reply);
    if (reply.statusCode >= 400) request.errorCode ??= codeIn(response);
    if (reply.statusCode !== 304) return response;
    return reply.removeHeader('content-type').removeHeader('content-length').send();
  };
  return { handleRequest, stop: () => server.stop() };
}

/** The code of an error that Apollo found before it made a context. */
function codeIn(body: unknown): string | null {
  try {
    return JSON.parse(String(body)).errors[0].extensions.code;
  } catch {
    return null;
  }
}
