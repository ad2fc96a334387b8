import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { Meter } from '../admission/meter.js';
import type { BodiesInFlight } from '../http/content/bodies-in-flight.js';
import { acceptJson, JsonBody, withNumbersOrText } from '../http/content/json-body.js';
import { refuseUnknownPaths } from '../http/unknown-paths.js';
import type { KeptResponse, ResponseCache } from '../response-cache/response-cache.js';
import type { EventLoopTurns } from '../scheduling/event-loop-turns.js';
import { Apollo } from './apollo.js';
import { DocumentGate } from './documents/document-gate.js';
import { KnownDocuments } from './documents/known-documents.js';
import { PersistedQueries } from './documents/persisted-queries.js';
import { countParameterValues, parametersOf } from './documents/request-parameters.js';
import { contextOf } from './execution/context.js';
import { isPage } from './is-page.js';
import { KnownOperations } from './operations/known-operations.js';
import { OperationCharges } from './operations/operation-charges.js';
import { givenName } from './operations/operation-name.js';
import { refuseRequest } from './refuse-request.js';

interface GraphQLDoorOptions {
  schema: GraphQLSchema;
  meter: Meter;
  cache: ResponseCache;
  turns: EventLoopTurns;
  bodies: BodiesInFlight;
  /** The page for browsers. */
  page: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
  log: FastifyBaseLogger;
}

interface GraphQLDoor {
  /** Adds the routes to a part of the server that admits callers and leaves the charge to the door. */
  routes(app: FastifyInstance): void;
  close(): Promise<void>;
}

/** DOOR 1: the GraphQL schema. Mounted at `/graphql`. */
export async function openGraphQLDoor(options: GraphQLDoorOptions): Promise<GraphQLDoor> {
  const { schema, meter, cache, turns, bodies, page, log } = options;
  const persistedQueries = new PersistedQueries();
  const charges = new OperationCharges(schema);
  const known = new KnownOperations({ schema, charges, persistedQueries, cache, turns });
  const documents = new KnownDocuments();
  const gate = new DocumentGate(schema, meter, documents, persistedQueries);
  const apollo = await Apollo.start({
    schema,
    meter,
    charges,
    documents,
    persistedQueries,
    known,
    turns,
    log,
  });

  /** A request of a refused key is charged, or refused, before its variables are parsed. */
  const chargeUnread = async (request: FastifyRequest, reply: FastifyReply) => {
    const parameters = parametersOf(request);
    request.operation = givenName(parameters.operationName);
    const document = await gate.pass(request, reply, parameters);
    const context = contextOf(request, reply, meter);
    const isCharged =
      document === null || (await charges.chargeDocument(document, parameters.operationName, context));
    // The plan pays at least one unit.
    if (!isCharged) await meter.admitUnread(request, reply, false);
  };
  const answerRead = (request: FastifyRequest, reply: FastifyReply) => {
    const send = (response: KeptResponse | null) => {
      if (!response) return apollo.handleRequest(request, reply);
      reply.headers(response.headers);
      return response.body;
    };
    const posted = postedIn(request);
    const response = posted && known.answer(request, posted, contextOf(request, reply, meter));
    return response instanceof Promise ? response.then(send) : send(response);
  };
  const answerLater = async (request: FastifyRequest, reply: FastifyReply) => {
    if (postedIn(request)?.isLarge && request.caller) await turns.next(request.caller.projectId);
    // The request was refused, and charged, while it waited.
    if (reply.sent) return reply;
    if (meter.isRefused(request)) await chargeUnread(request, reply);
    return answerRead(request, reply);
  };
  // Returns no promise if nothing has to wait: each one costs a cached response more than a look-up.
  const answer = (request: FastifyRequest, reply: FastifyReply) => {
    if (request.method === 'GET') request.bodyShare?.set(0, countParameterValues(request));
    const waits = postedIn(request)?.isLarge || meter.isRefused(request);
    return waits ? answerLater(request, reply) : answerRead(request, reply);
  };
  const routes = (app: FastifyInstance) => {
    acceptJson(app, (body) => body, withNumbersOrText);
    app.setErrorHandler((error, request, reply) => refuseRequest(error, request, reply, meter));
    refuseUnknownPaths(app);
    app.options('/', async (_, reply) => reply.code(204).header('allow', 'GET, HEAD, POST, OPTIONS').send());
    app.route({
      url: '/',
      method: app.supportedMethods.filter((method) => method !== 'OPTIONS'),
      handler: (request, reply) => {
        if (isPage(request)) return page(request, reply);
        const share = bodies.shareOf(request, reply);
        return share ? share.during(() => answer(request, reply)) : answer(request, reply);
      },
    });
  };
  return { routes, close: () => apollo.stop() };
}

function postedIn({ method, body }: FastifyRequest): JsonBody | null {
  return method === 'POST' && body instanceof JsonBody ? body : null;
}
