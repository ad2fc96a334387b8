import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import type { FastifyBaseLogger, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { ONE_UNIT } from '../admission/cost.js';
import type { Meter } from '../admission/meter.js';
import { JsonBody } from '../http/content/json-body.js';
import type { EventLoopTurns } from '../scheduling/event-loop-turns.js';
import type { KnownDocuments } from './documents/known-documents.js';
import type { PersistedQueries } from './documents/persisted-queries.js';
import { persistedQueryProblem } from './documents/persisted-query-problem.js';
import { parametersOf } from './documents/request-parameters.js';
import { type Context, contextOf } from './execution/context.js';
import { formatError, refusal } from './execution/errors.js';
import { outcome } from './execution/outcome.plugin.js';
import { schemaTag } from './execution/schema-tag.plugin.js';
import { admitOperation } from './operations/admit-operation.plugin.js';
import type { KnownOperations } from './operations/known-operations.js';
import { longReads } from './operations/long-reads.js';
import type { OperationCharges } from './operations/operation-charges.js';
import { givenName } from './operations/operation-name.js';
import { rateLimit } from './rate-limit.plugin.js';

const MAX_TOKENS = 2_000;

interface ApolloOptions {
  schema: GraphQLSchema;
  meter: Meter;
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
    private readonly meter: Meter,
    private readonly turns: EventLoopTurns,
  ) {
    this.executeRequest = fastifyApolloHandler(server, {
      context: async (request, reply) => {
        const problem = persistedQueryProblem(request);
        if (problem) throw refusal(problem);
        return contextOf(request, reply, meter);
      },
    });
  }

  static async start({ meter, turns, persistedQueries, ...options }: ApolloOptions): Promise<Apollo> {
    const { schema, charges, documents, known, log } = options;
    const server = new ApolloServer<Context>({
      schema,
      formatError,
      introspection: true,
      includeStacktraceInErrorResponses: false,
      // `admitOperation` validates, after the charge.
      dangerouslyDisableValidation: true,
      documentStore: documents,
      persistedQueries: { cache: persistedQueries },
      parseOptions: { maxTokens: MAX_TOKENS },
      stopOnTerminationSignals: false,
      plugins: [
        admitOperation({ schema, charges, documents, turns }),
        rateLimit,
        learning(known),
        schemaTag(schema),
        outcome,
        ApolloServerPluginLandingPageDisabled(),
        // It would wrap every resolver of every type; `mayBeKept` decides before execution what may be cached.
        ApolloServerPluginCacheControlDisabled(),
        longReads(turns),
      ],
      logger: log,
    });
    await server.start();
    return new Apollo(server, meter, turns);
  }

  /** Parses, charges and executes the request. Returns the body. */
  async handleRequest(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    const { caller } = request;
    const body = request.body instanceof JsonBody ? request.body : null;
    // A request that is not charged yet is not known: parsing its document may take milliseconds. Requests that shared a
    // failed read do not wait, so that they share the next read. A large body has waited already.
    if (caller && request.paidBy === null && !body?.isLarge) {
      body?.forgetValue();
      await this.turns.next(caller.projectId);
    }
    // Apollo refuses the other methods.
    request.body = request.method === 'POST' ? body?.parse() : undefined;
    request.operation ??= givenName(parametersOf(request).operationName);
    const response = await this.executeRequest.call(request.server, request, reply);
    if (reply.statusCode >= 400) request.errorCode ??= codeIn(response);
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
    // A request that Apollo refused before the operation was known costs one unit; nothing was executed.
    if (caller && request.paidBy === null) await this.meter.charge(request, reply, ONE_UNIT);
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

function learning(known: KnownOperations): ApolloServerPlugin<Context> {
  return {
    requestDidStart: async () => ({ willSendResponse: async (executed) => known.learn(executed) }),
  };
}
