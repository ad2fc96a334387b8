import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { admitCallers } from '../admission/admission.hook.js';
import type { Meter } from '../admission/meter.js';
import type { Visits } from '../admission/visits.js';
import { AppError } from '../errors.js';
import { conditionalGet } from '../http/conditional-get.js';
import { acceptJson, withBigInts } from '../http/json-body.js';
import type { KeptBody } from '../http/kept-body.js';
import { restrictMethods } from '../http/methods.js';
import { refuseUnknownPaths } from '../http/unknown-paths.js';
import type { PetService } from '../pets/pet.service.js';
import type { ResponseCache } from '../response-cache/response-cache.js';
import { keepResponses } from './keep-responses.js';
import { petsRoutes } from './pets.routes.js';
import { rateLimitRoute } from './rate-limit.route.js';

interface RestDoorOptions {
  meter: Meter;
  visits: Visits;
  pets: PetService;
  cache: ResponseCache;
  /** The address of `/v1` as the client of a request sees it. */
  baseUrl: (request: FastifyRequest) => string;
  openApiDocument: () => KeptBody | Promise<KeptBody>;
}

/** DOOR 2: SPEC's interface, to the byte. Mounted at `/v1`. */
export async function restDoor(app: FastifyInstance, options: RestDoorOptions): Promise<void> {
  acceptJson(app, (body) => body.parse(), withBigInts);
  app.addHook('onRequest', (request, reply, done) => {
    varyBy(reply, 'Authorization');
    request.routeOptions.config.announce?.(reply);
    done();
  });
  admitCallers(app, options);
  app.addHook('onRequest', (request, _, done) => {
    if (request.method === 'OPTIONS' || acceptsJson(request)) return done();
    done(new AppError('not_acceptable', 'Answers here are application/json; change the Accept header.'));
  });
  keepResponses(app, options.cache);
  conditionalGet(app);

  petsRoutes(app, options.pets, options.baseUrl);
  app.get('/openapi.json', { config: { admission: 'public' } }, async (request, reply) => {
    varyBy(reply, 'Accept-Encoding');
    reply.header('cache-control', 'private, no-cache');
    return (await options.openApiDocument()).send(request, reply);
  });
  restrictMethods(app, '/openapi.json', ['GET']);
  rateLimitRoute(app);
  refuseUnknownPaths(app);
}

function acceptsJson({ headers: { accept }, raw }: FastifyRequest): boolean {
  // What most clients send needs no parser.
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return true;
  return new Negotiator(raw).mediaType(['application/json']) !== undefined;
}

/** Beside what CORS varies by. */
function varyBy(reply: FastifyReply, name: string): void {
  const others = reply.getHeader('vary');
  reply.header('vary', others ? `${others}, ${name}` : name);
}
