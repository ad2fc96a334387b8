import { ApolloServer } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import type { FastifyBaseLogger, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { EventLoopTurns } from '../../ground/scheduling/event-loop-turns.js';
import type { JsonBody } from '../../request/http/content/json-body.js';
import { type Context, contextOf } from './execution/context.js';
import { formatError, refusal } from './execution/errors.js';
import type { KnownDocuments, PersistedQueries } from './known-documents.js';
import type { KnownOperations } from './known-operations.js';
import { operationPlugin } from './operation.plugin.js';
import type { OperationCharges } from './operation-charges.js';
import { givenName } from './operations/measured-operation.js';
import { parametersOf, persistedQueryProblem } from './request-parameters.js';

const MAX_TOKENS = 2_000;

interface ApolloOptions {
  schema: GraphQLSchema;
  charges: OperationCharges;
  documents: KnownDocuments;
  persistedQueries: PersistedQueries;
  known: KnownOperations;
  turns: EventLoopTurns;
  log: FastifyBaseLogger;
}

/** Apollo Server with the plugins of this gateway: it handles every request that `KnownOperations` does not answer. */
export class Apollo {
  private readonly executeRequest: RouteHandlerMethod;

  private constructor(
    private readonly server: ApolloServer<Context>,
    private readonly turns: EventLoopTurns,
  ) {
    this.executeRequest = fastifyApolloHandler(server, {
      context: async (request, reply) => {
        const problem = persistedQueryProblem(request);
        if (problem) throw refusal(problem);
        return contextOf(request, reply);
      },
    });
  }

  static async start({ turns, persistedQueries, ...options }: ApolloOptions): Promise<Apollo> {
    const { schema, charges, documents, known, log } = options;
    const server = new ApolloServer<Context>({
      schema,
      formatError,
      introspection: true,
      includeStacktraceInErrorResponses: false,
      // `operationPlugin` validates, after the charge.
      dangerouslyDisableValidation: true,
      documentStore: documents,
      persistedQueries: { cache: persistedQueries },
      parseOptions: { maxTokens: MAX_TOKENS },
      stopOnTerminationSignals: false,
      plugins: [
        operationPlugin({ schema, charges, documents, known, turns }),
        ApolloServerPluginLandingPageDisabled(),
        // It would wrap every resolver of every type; `mayBeKept` decides before execution what may be cached. D-43.
        ApolloServerPluginCacheControlDisabled(),
      ],
      logger: log,
    });
    await server.start();
    return new Apollo(server, turns);
  }

  /** Parses, charges and executes the request. Returns the body. A request that Apollo refuses may not be charged yet. */
  async handleRequest(request: FastifyRequest, reply: FastifyReply, body: JsonBody | null): Promise<unknown> {
    const { caller } = request;
    // A request that is not charged yet is not known: parsing its document may take milliseconds. Requests that shared a
    // failed read do not wait, so that they share the next read. A large body has waited already.
    if (caller && request.paidBy === null && !body?.isLarge) {
      body?.forgetValue();
      await this.turns.next(caller.projectId);
    }
    // Apollo refuses the other methods.
    request.body = body?.parse();
    request.operation ??= givenName(parametersOf(request).operationName);
    const response = await this.executeRequest.call(request.server, request, reply);
    if (reply.statusCode >= 400) request.errorCode ??= codeIn(response);
    if (reply.statusCode !== 304) return response;
    return reply.removeHeader('content-type').removeHeader('content-length').send();
  }

  stop(): Promise<void> {
    return this.server.stop();
  }
}

/** The code of an error that Apollo found before it made a context. */
function codeIn(body: unknown): string | null {
  try {
    return JSON.parse(String(body)).errors[0].extensions.code;
  } catch {
    return null;
  }
}
