import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { EventLoopTurns } from '../../ground/scheduling/event-loop-turns.js';
import { acceptJson, type JsonBody, withBigInts } from '../../request/http/content/json-body.js';
import type { KeptBody } from '../../request/http/content/kept-body.js';
import { refuseUnknownPaths, restrictMethods } from '../../request/http/unrouted.js';
import { varyBy } from './rest.hooks.js';
import { rateLimitSchema } from './schemas.js';

type BaseUrl = (request: FastifyRequest) => string;

/** Adds routes below `/v1`. `baseUrl` returns the address of `/v1` as the client sees it. */
export type AddRoutes = (app: FastifyInstance, baseUrl: BaseUrl) => void;

interface RestDoorOptions {
  routes: readonly AddRoutes[];
  turns: EventLoopTurns;
  baseUrl: BaseUrl;
  /** Files for tools, such as `openapi.json`, and the ids of their operations. */
  files: Readonly<Record<string, { operationId: string; body: () => Promise<KeptBody> }>>;
}

/** DOOR 2: SPEC's interface, to the byte. Mounted at `/v1`. */
export function restDoor(app: FastifyInstance, options: RestDoorOptions): void {
  acceptJson(app, (body, request) => parseInTurn(body, request, options.turns), withBigInts);
  for (const addTo of options.routes) addTo(app, options.baseUrl);
  for (const [name, { operationId, body }] of Object.entries(options.files)) {
    const config = { operationId, admission: 'public' } as const;
    app.get(`/${name}`, { config }, async (request, reply) => {
      varyBy(reply, 'Accept-Encoding');
      reply.header('cache-control', 'private, no-cache');
      return (await body()).sendNegotiated(request, reply);
    });
    restrictMethods(app, `/${name}`, ['GET']);
  }
  // Works also while the key is banned.
  const free = { operationId: 'getRateLimit', admission: 'free' } as const;
  const rateLimit = { config: free, schema: { response: { 200: rateLimitSchema } } };
  app.get('/rate_limit', rateLimit, async ({ standing }) => {
    if (!standing) throw new Error('admission did not ask the limiter');
    return standing;
  });
  restrictMethods(app, '/rate_limit', ['GET']);
  refuseUnknownPaths(app);
}

function parseInTurn(body: JsonBody, { caller, bodyShare }: FastifyRequest, turns: EventLoopTurns): unknown {
  if (!body.isLarge || !caller || !bodyShare) return body.parse();
  return bodyShare.during(async () => {
    await turns.next(caller.projectId);
    return body.parse();
  });
}
