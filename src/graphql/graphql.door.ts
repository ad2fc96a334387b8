import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { Meter } from '../admission/meter.js';
import { acceptJson, JsonText, withNumbersOrText } from '../http/content/json-body.js';
import { refuseUnknownPaths } from '../http/unknown-paths.js';
import type { ResponseCache } from '../response-cache/response-cache.js';
import type { EventLoopTurns } from '../scheduling/event-loop-turns.js';
import { Apollo } from './apollo.js';
import { PersistedQueries } from './documents/persisted-queries.js';
import { contextOf } from './execution/context.js';
import { isPage } from './is-page.js';
import { KnownOperations } from './operations/known-operations.js';
import { OperationCharges } from './operations/operation-charges.js';
import { refuseRequest } from './refuse-request.js';

interface GraphQLDoorOptions {
  schema: GraphQLSchema;
  meter: Meter;
  cache: ResponseCache;
  turns: EventLoopTurns;
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
  const { schema, meter, cache, turns, page, log } = options;
  const persistedQueries = new PersistedQueries();
  const charges = new OperationCharges(schema);
  const known = new KnownOperations({ schema, charges, persistedQueries, cache, turns });
  const apollo = await Apollo.start({ schema, meter, charges, persistedQueries, known, turns, log });

  const answerKnown = async (request: FastifyRequest, reply: FastifyReply) => {
    const { body, caller } = request;
    if (request.method !== 'POST' || !(body instanceof JsonText)) return null;
    if (body.isLarge && caller) await turns.next(caller.projectId);
    return known.answer(request, body, contextOf(request, reply, meter));
  };
  const routes = (app: FastifyInstance) => {
    acceptJson(app, (body) => body, withNumbersOrText);
    app.setErrorHandler((error, request, reply) => refuseRequest(error, request, reply, meter));
    refuseUnknownPaths(app);
    app.options('/', async (_, reply) => reply.code(204).header('allow', 'GET, HEAD, POST, OPTIONS').send());
    app.route({
      url: '/',
      method: app.supportedMethods.filter((method) => method !== 'OPTIONS'),
      handler: async (request, reply) => {
        if (isPage(request)) return page(request, reply);
        const response = await answerKnown(request, reply);
        if (!response) return apollo.handleRequest(request, reply);
        reply.headers(response.headers);
        return response.body;
      },
    });
  };
  return { routes, close: () => apollo.stop() };
}
