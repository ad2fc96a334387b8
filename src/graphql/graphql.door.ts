import { ApolloServer } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled';
import { fastifyApolloHandler } from '@as-integrations/fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import Negotiator from 'negotiator';
import { admitCallers } from '../admission/admission.hook.js';
import { unauthorized } from '../admission/admission.js';
import { ONE_UNIT } from '../admission/cost.js';
import type { Meter } from '../admission/meter.js';
import type { Visits } from '../admission/visits.js';
import type { AppError } from '../errors.js';
import { errorHeaders, logFault, refusalOf } from '../http/error-reply.js';
import { acceptJson, JsonText, withNumbersOrText } from '../http/json-body.js';
import { toAppError } from '../http/to-app-error.js';
import { refuseUnknownPaths } from '../http/unknown-paths.js';
import type { KeptResponse, ResponseCache } from '../response-cache/response-cache.js';
import { admitOperation } from './admit-operation.plugin.js';
import { CompiledOperations } from './compiled-operations.js';
import type { Context } from './context.js';
import { DocumentGate } from './document-gate.js';
import { formatError, refusal, refusalBody } from './errors.js';
import { FastPath } from './fast-path.js';
import { KnownDocuments } from './known-documents.js';
import { learn } from './learn.plugin.js';
import { longReads } from './long-reads.js';
import { outcome } from './outcome.plugin.js';
import { PersistedQueries } from './persisted-queries.js';
import { persistedQueryProblem } from './persisted-query-problem.js';
import { rateLimit } from './rate-limit.plugin.js';
import { schemaTag } from './schema-tag.plugin.js';
import { Turns } from './turns.js';

const MAX_TOKENS = 2_000;
/** Reading a larger body takes a millisecond or more. */
const LARGE_CHARACTERS = 8_192;
const JSON_TYPE = 'application/json';
const GRAPHQL_TYPE = 'application/graphql-response+json';

interface GraphQLDoorOptions {
  meter: Meter;
  visits: Visits;
  schema: GraphQLSchema;
  cache: ResponseCache;
  /** What browsers get. */
  page: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
}

/** DOOR 1: the GraphQL schema. Mounted at `/graphql`. */
export async function graphqlDoor(
  app: FastifyInstance,
  { meter, visits, schema, cache, page }: GraphQLDoorOptions,
): Promise<void> {
  const turns = new Turns();
  const documents = new KnownDocuments();
  const persistedQueries = new PersistedQueries();
  const operations = new CompiledOperations(schema, persistedQueries, turns);
  const fastPath = new FastPath(operations, cache);
  const gate = new DocumentGate(schema, meter, documents, persistedQueries);
  const apollo = new ApolloServer<Context>({
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
      admitOperation(schema, documents, turns),
      rateLimit,
      learn(operations),
      schemaTag(schema),
      outcome,
      ApolloServerPluginLandingPageDisabled(),
      // It would wrap every resolver of every type; what may be kept is decided before execution.
      ApolloServerPluginCacheControlDisabled(),
      longReads(turns),
    ],
    logger: app.log,
  });
  await apollo.start();
  app.addHook('onClose', () => apollo.stop());

  acceptJson(app, (body) => body, withNumbersOrText);
  admitCallers(app, { meter, visits, isChargedByDoor: true, isPublic: isPage });
  app.setErrorHandler((error, request, reply) => refuse(error, request, reply, meter));
  refuseUnknownPaths(app);
  app.options('/', async (_, reply) => reply.code(204).header('allow', 'GET, HEAD, POST, OPTIONS').send());
  const apolloHandler = fastifyApolloHandler(apollo, {
    context: async (request, reply) => {
      const problem = persistedQueryProblem(request);
      if (problem) throw refusal(problem);
      return contextOf(request, reply, meter);
    },
  });
  const byApollo = async (request: FastifyRequest, reply: FastifyReply) => {
    if (request.body instanceof JsonText) request.body = request.body.parse();
    await gate.pass(request, reply);
    const body = await apolloHandler.call(app, request, reply);
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
    // What Apollo refused before the operation was known costs one unit; nothing was executed.
    if (request.caller && request.paidBy === null) await meter.charge(request, reply, ONE_UNIT);
    if (reply.statusCode !== 304) return body;
    return reply.removeHeader('content-type').removeHeader('content-length').send();
  };
  /** What is unknown so far may take milliseconds to read. */
  const byApolloInTurn = async (request: FastifyRequest, reply: FastifyReply) => {
    if (request.caller) await turns.next(request.caller.projectId);
    return byApollo(request, reply);
  };
  app.route({
    url: '/',
    method: app.supportedMethods.filter((method) => method !== 'OPTIONS'),
    handler: (request, reply) => {
      if (isPage(request)) return page(request, reply);
      const { body } = request;
      if (request.method !== 'POST' || !(body instanceof JsonText)) return byApolloInTurn(request, reply);
      const answer = (response: KeptResponse | null, otherwise = byApollo) => {
        if (!response) return otherwise(request, reply);
        reply.headers(response.headers).send(response.body);
        // Not the reply: Fastify would wait for its end.
        return undefined;
      };
      const fromFastPath = () => fastPath.answer(request, body, contextOf(request, reply, meter));
      const isLarge = body.text.length > LARGE_CHARACTERS && request.caller;
      const known = isLarge ? turns.next(isLarge.projectId).then(fromFastPath) : fromFastPath();
      // After a wait it had its turn, or is known. Those who shared a read that failed ask again at once, to share the next.
      return known instanceof Promise
        ? known.then((response) => answer(response))
        : answer(known, byApolloInTurn);
    },
  });
}

function contextOf(request: FastifyRequest, reply: FastifyReply, meter: Meter): Context {
  // The page needs no key; should Apollo execute after all, it is without a caller.
  if (!request.caller) throw refusal(unauthorized());
  return {
    caller: request.caller,
    requestId: request.id,
    log: request.log,
    idempotencyKey: request.headers['idempotency-key']?.toString() ?? null,
    rootFieldCount: 1,
    origin: request.site.origin,
    isIntrospection: false,
    isLong: false,
    isOver: () => reply.sent || reply.raw.destroyed,
    charge: (cost) => (request.paidBy ? undefined : meter.charge(request, reply, cost)),
    noteRefusedField: () => {
      request.hasRefusedField = true;
    },
    standing: () => request.standing,
  };
}

/** Apollo's own list, with the page's type: of what a client accepts equally, the first is what it gets. */
const APOLLO_TYPES = [
  'application/json; charset=utf-8',
  'application/graphql-response+json; charset=utf-8',
  'multipart/mixed; deferSpec=20220824',
  'multipart/mixed; incrementalSpec=v0.2',
  'multipart/mixed',
  'text/html',
];

/** Whether this is a browser that wants the page, by the rule of Apollo's own landing page: nothing is executed. */
function isPage(request: FastifyRequest): boolean {
  const isRead = ['GET', 'HEAD'].includes(request.method) && request.headers.accept !== undefined;
  return isRead && new Negotiator(request.raw).mediaType(APOLLO_TYPES) === 'text/html';
}

/** Errors from before Apollo, in GraphQL's form. GraphQL over HTTP: the newer media type where the client asks for it. */
async function refuse(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  meter: Meter,
): Promise<FastifyReply> {
  const appError = await charged(refusalOf(error, request, reply), request, reply, meter);
  logFault(request, appError);
  const type = new Negotiator(request.raw).mediaType([JSON_TYPE, GRAPHQL_TYPE]) ?? JSON_TYPE;
  return reply
    .code(appError.status)
    .headers(errorHeaders(appError))
    .type(`${type}; charset=utf-8`)
    .send(refusalBody(appError));
}

/** A refused request costs one unit like any other; when that is not there, 429 goes before what was wrong with it. */
async function charged(
  error: AppError,
  request: FastifyRequest,
  reply: FastifyReply,
  meter: Meter,
): Promise<AppError> {
  if (!request.caller || request.paidBy) return error;
  try {
    await meter.charge(request, reply, ONE_UNIT);
    return error;
  } catch (refused) {
    return toAppError(refused);
  }
}
