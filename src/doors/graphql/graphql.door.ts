import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { EventLoopTurns } from '../../ground/scheduling/event-loop-turns.js';
import type { Meter } from '../../request/admission/meter.js';
import type { BodiesInFlight } from '../../request/http/content/bodies-in-flight.js';
import { acceptJson, JsonBody, withNumbersOrText } from '../../request/http/content/json-body.js';
import { refuseUnknownPaths } from '../../request/http/unrouted.js';
import type { KeptResponse, ResponseCache } from '../../request/response-cache/response-cache.js';
import type { OpenStreams } from '../../request/streams/open-streams.js';
import { startApollo } from './apollo.js';
import { nestedSourcesOf } from './execution/nested-fields.js';
import { KnownDocuments, PersistedQueries } from './known-documents.js';
import { KnownOperations } from './known-operations.js';
import { isPage, refuse, streamFormatOf } from './negotiation.js';
import { DocumentGate, OperationCharges } from './operation-charges.js';
import { NullVariables } from './operations/selections.js';
import { countParameterValues } from './request-parameters.js';
import { Subscriptions } from './streams/subscriptions.js';

interface GraphQLDoorOptions {
  schema: GraphQLSchema;
  meter: Meter;
  cache: ResponseCache;
  streams: OpenStreams;
  turns: EventLoopTurns;
  bodies: BodiesInFlight;
  page: (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;
  log: FastifyBaseLogger;
}

/** DOOR 1: the GraphQL schema. Mounted at `/graphql`. */
export async function openGraphQLDoor(options: GraphQLDoorOptions) {
  const { schema, meter, cache, streams, turns, bodies, page, log } = options;
  const persistedQueries = new PersistedQueries();
  const charges = new OperationCharges(schema, meter);
  const nullVariables = new NullVariables();
  const nestedSources = nestedSourcesOf(schema);
  const checks = { nullVariables, nestedSources };
  const known = new KnownOperations({ schema, charges, ...checks, persistedQueries, cache, turns });
  const documents = new KnownDocuments();
  const gate = new DocumentGate(charges, meter, documents, persistedQueries);
  const subscriptions = new Subscriptions(schema, streams);
  const admitting = { schema, charges, documents, ...checks, known, turns, subscriptions };
  const apollo = await startApollo({ ...admitting, persistedQueries, log });

  const answerRead = (request: FastifyRequest, reply: FastifyReply, body: JsonBody | null) => {
    const send = (response: KeptResponse | null) => {
      if (!response) {
        const format = streamFormatOf(request);
        if (format) return apollo.handleStream(request, reply, { body, format });
        return apollo.handleRequest(request, reply, body);
      }
      reply.headers(response.headers);
      return response.body;
    };
    const response = body && known.answer(request, reply, body);
    return response instanceof Promise ? response.then(send) : send(response);
  };
  const answerLater = async (request: FastifyRequest, reply: FastifyReply, body: JsonBody | null) => {
    if (body?.isLarge && request.caller) await turns.next(request.caller.projectId);
    // The request was refused, and charged, while it waited.
    if (reply.sent) return reply;
    if (meter.isRefused(request)) await gate.chargeUnread(request, reply);
    return answerRead(request, reply, body);
  };
  // Returns no promise if nothing has to wait: each one costs a cached response more than a look-up.
  const answer = (request: FastifyRequest, reply: FastifyReply) => {
    reply.header('cache-control', 'no-store');
    if (request.method === 'GET') request.bodyShare?.set(0, countParameterValues(request));
    const body = request.method === 'POST' && request.body instanceof JsonBody ? request.body : null;
    const waits = body?.isLarge || meter.isRefused(request);
    return waits ? answerLater(request, reply, body) : answerRead(request, reply, body);
  };
  /** Adds the routes to a part of the server that admits callers and leaves the charge to the door. */
  const routes = (app: FastifyInstance) => {
    acceptJson(app, (body) => body, withNumbersOrText);
    app.setErrorHandler((error, request, reply) => reply.send(refuse(error, request, reply)));
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
  return { routes, chargeUnpaid: charges.chargeUnpaid, close: () => apollo.stop() };
}
