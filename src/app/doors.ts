import type { RequestListener } from 'node:http';
import { printSchemaWithDirectives } from '@graphql-tools/utils';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { refusalBody } from '../doors/graphql/execution/errors.js';
import { openGraphQLDoor } from '../doors/graphql/graphql.door.js';
import type { RestFiles } from '../doors/rest/document/rest-files.js';
import { restDoor } from '../doors/rest/rest.door.js';
import { dashboardDoor } from '../doors/web/dashboard.door.js';
import { notFoundForPeople, pagesDoor } from '../doors/web/pages.door.js';
import { Pages } from '../doors/web/pages.js';
import { EventLoopTurns } from '../ground/scheduling/event-loop-turns.js';
import { relationsOf } from '../noun/definition/relations.js';
import type { NounDoors } from '../noun/noun.js';
import type { GatewayDescription } from '../noun-words.js';
import { defaultMaxConnections, OpenConnections } from '../request/http/connections/open-connections.js';
import { BodiesInFlight } from '../request/http/content/bodies-in-flight.js';
import { isLocalOrigin, originHeaders } from '../request/http/cors.js';
import { Drain } from '../request/http/drain.js';
import { refuseEarly } from '../request/http/early-refusals.js';
import { ownNames } from '../request/http/headers.js';
import { healthRoutes } from '../request/http/health.routes.js';
import { Reception } from '../request/http/reception.js';
import { createHttpServer } from '../request/http/server.js';
import { refuseUnknownPaths } from '../request/http/unrouted.js';
import { HostRouter, Ingress } from '../request/ingress/ingress.js';
import { Shedder } from '../request/overload/shedder.js';
import { ProjectSlugs } from '../tenants/projects/project-slugs.js';
import { type Addresses, isLocalDemo, platformNames, serversOf } from './addresses.js';
import { doorOf, recordEnds } from './answer-record.js';
import { describedGateway, type LoadedGateway } from './gateway.js';
import { openSchema } from './graphql-schema.js';
import {
  addDashboardHooks,
  addGraphQLHooks,
  addKeylessHooks,
  addPageHooks,
  addRestHooks,
  addServerHooks,
} from './hooks.js';
import { readingsOf } from './metric-readings.js';
import type { AppOptions, Parts } from './parts.js';

const APOLLO_STUDIO = 'https://studio.apollographql.com';

export type Doors = Awaited<ReturnType<typeof openDoors>>;

/** The HTTP server with its hooks and doors. `addresses` are where clients find it, known once it listens. */
export async function openDoors(options: AppOptions, parts: Parts, addresses: () => Addresses) {
  const { config, logger, db } = options;
  const connections = new OpenConnections(
    config.maxConnections ?? defaultMaxConnections(config.databasePoolSize),
  );
  const reception = new Reception(connections, logger, (address) => parts.meter.headersOf(address));
  const shedder = config.shedsLoad ? shedderOf(options, parts) : null;
  const guard = (handler: RequestListener) => shedder?.guard(handler) ?? handler;
  const http = createHttpServer(reception, guard, config.trustedProxies, logger);
  const ended = { completed: 0, unanswered: 0 };
  const drain = new Drain(http, connections, () => parts.streams.drain(), ended);
  http.decorate('names', ownNames(options.gateway.slug));
  http.decorateRequest('site');
  addServerHooks(http, {
    isAllowedOrigin: originRule(options),
    recordEnd: recordEnds(parts, ended, options.now),
    refuseEarly: earlyRefusals(options, parts),
    tracing: parts.tracing,
  });

  healthRoutes(http, { isDraining: () => drain.isDraining, databaseProblem: () => db.problem() });
  const nouns = await Promise.all(parts.services.nouns.map((noun) => noun.openDoors()));
  const shared: Shared = {
    gateway: describedGateway(options.gateway),
    addresses,
    nouns,
    schema: await openSchema(options, parts, { nouns, addresses }),
    turns: new EventLoopTurns(),
    bodies: new BodiesInFlight(),
    files: restFiles(options.gateway, addresses),
  };
  const pages = await openPages(parts, shared);
  const closeGraphQL = await openGraphQL(http, parts, { ...shared, pages, log: logger });
  await openKeylessDoors(http, parts, { ...shared, pages });
  await openRest(http, parts, shared);
  const { metrics } = parts;
  metrics?.addReadings(readingsOf(metrics.prefix, options, parts, { drain, connections }));
  return { http, connections, reception, shedder, drain, pages, closeGraphQL };
}

function earlyRefusals({ config, db }: AppOptions, parts: Parts): onRequestHookHandler {
  const { meter, admission, hosts, hostAddresses, customDomains } = parts;
  const onEarlyRefusal = async (request: FastifyRequest, reply: FastifyReply) => {
    await meter.chargeVisit(request, reply);
    if (doorOf(request.url) !== 'other') await admission.lookAhead(request, reply);
  };
  const ingress = new Ingress(
    new HostRouter(platformNames(config), hosts, new ProjectSlugs(db)),
    hostAddresses,
    async (token, hostname) => (await customDomains.load()).challengeAnswer(token, hostname),
  );
  return refuseEarly({ hasProxies: config.trustedProxies.length > 0, ingress, onEarlyRefusal });
}

function shedderOf(options: AppOptions, { admission, metrics }: Parts): Shedder {
  const { config, db, logger } = options;
  const isAllowedOrigin = originRule(options);
  const { exposed } = ownNames(options.gateway.slug);
  return new Shedder({
    tenantOf: (request) => {
      const known = admission.rememberedKeyOf(request);
      return known && { projectId: known.caller.projectId, plan: known.plan };
    },
    queuedStatements: () => db.waitingStatements,
    graphqlBody: refusalBody,
    originHeaders: (origin) => originHeaders(isAllowedOrigin, exposed, origin),
    onShed: (shed, limit) => {
      for (const [plan, requests] of Object.entries(shed)) metrics?.shedRequests.inc({ plan }, requests);
      if (limit === null) logger.info({ shed }, 'no longer overloaded');
      else logger.warn({ shed, limit }, 'overloaded: requests are refused');
    },
    hasProxies: config.trustedProxies.length > 0,
  });
}

/** The origins whose pages may call from browsers: Apollo Studio's, those of the settings, and in a demo local ones. */
function originRule({ config }: AppOptions): (origin: string) => boolean {
  const origins = new Set([APOLLO_STUDIO, ...config.corsOrigins]);
  const allowsLocalOrigins = isLocalDemo(config) && config.corsOrigins.length === 0;
  return (origin) => origins.has(origin) || (allowsLocalOrigins && isLocalOrigin(origin));
}

interface Shared {
  gateway: GatewayDescription;
  addresses: () => Addresses;
  nouns: readonly NounDoors[];
  schema: GraphQLSchema;
  /** Of all doors, so that a turn of the event loop has only one piece of long work. */
  turns: EventLoopTurns;
  bodies: BodiesInFlight;
  files: () => Promise<RestFiles>;
}

/** The files are made from code that few processes need: it is loaded with the first request. */
function restFiles(gateway: LoadedGateway, addresses: () => Addresses): () => Promise<RestFiles> {
  let files: RestFiles | null = null;
  const names = ownNames(gateway.slug);
  const relations = relationsOf(gateway.nouns.map(({ description }) => description));
  const documents = () =>
    Promise.all(gateway.nouns.map(async (noun) => (await noun.contract()).rest(names, relations)));
  return async () => {
    const { RestFiles } = await import('../doors/rest/document/rest-files.js');
    files ??= new RestFiles(describedGateway(gateway), () => serversOf(addresses()), documents);
    return files;
  };
}

function openPages({ services }: Parts, { schema, addresses, files, gateway }: Shared): Promise<Pages> {
  return Pages.open({
    projects: services.projects,
    servers: () => serversOf(addresses()),
    gateway,
    openApiText: async () => (await files()).openApiText(),
    // Not graphql's own printer: it drops the directives.
    schemaText: () => printSchemaWithDirectives(schema),
  });
}

async function openGraphQL(
  http: FastifyInstance,
  parts: Parts,
  { schema, turns, bodies, pages, log }: Shared & { pages: Pages; log: AppOptions['logger'] },
): Promise<() => Promise<void>> {
  const page = async (request: FastifyRequest, reply: FastifyReply) => pages.sandbox(request, reply);
  const { meter, cache, streams } = parts;
  const graphql = await openGraphQLDoor({ schema, meter, cache, streams, turns, bodies, page, log });
  const open = async (door: FastifyInstance) => {
    addGraphQLHooks(door, parts, { bodies, chargeUnpaid: graphql.chargeUnpaid });
    graphql.routes(door);
  };
  await http.register(open, { prefix: '/graphql' });
  return () => graphql.close();
}

async function openKeylessDoors(
  http: FastifyInstance,
  { admission }: Parts,
  { pages, gateway }: Shared & { pages: Pages },
): Promise<void> {
  await http.register(async (keyless) => {
    addKeylessHooks(keyless, admission);
    refuseUnknownPaths(keyless);
    notFoundForPeople(keyless, pages);
    await keyless.register(async (door) => {
      addPageHooks(door);
      pagesDoor(door, pages);
    });
    const openDashboard = async (door: FastifyInstance) => {
      addDashboardHooks(door);
      dashboardDoor(door, gateway);
    };
    await keyless.register(openDashboard, { prefix: '/dashboard' });
  });
}

async function openRest(
  http: FastifyInstance,
  parts: Parts,
  { turns, bodies, addresses, nouns, files }: Shared,
): Promise<void> {
  const open = async (door: FastifyInstance) => {
    addRestHooks(door, parts, bodies);
    restDoor(door, {
      turns,
      routes: nouns.map(({ routes }) => routes),
      baseUrl: ({ site }) => `${site.origin ?? addresses().base}/v1`,
      files: {
        'openapi.json': { operationId: 'getOpenApi', body: async () => (await files()).openApi() },
        'postman.json': { operationId: 'getPostman', body: async () => (await files()).postman() },
      },
    });
  };
  await http.register(open, { prefix: '/v1' });
}
