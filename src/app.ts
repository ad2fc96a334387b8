import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { type Addresses, addressesOf, isLocalDemo, platformNames } from './addresses.js';
import { Admission } from './admission/admission.js';
import { Meter } from './admission/meter.js';
import { limitVisits, Visits } from './admission/visits.js';
import { startChores } from './chores.js';
import type { Config } from './config.js';
import { type CustomDomains, createCustomDomains } from './custom-domains.js';
import { dashboardDoor } from './dashboard/dashboard.door.js';
import type { Database } from './database/database.js';
import { HostIndex } from './domains/host-index.js';
import { ProjectSlugs } from './domains/project-slugs.js';
import { ApiKeyResolver } from './graphql/api-key.resolver.js';
import { DEMO_QUERY } from './graphql/demo-query.js';
import { DomainResolver } from './graphql/domain.resolver.js';
import { FieldLimits } from './graphql/field-limits.js';
import { graphqlDoor } from './graphql/graphql.door.js';
import { PetResolver } from './graphql/pet.resolver.js';
import { ProjectResolver } from './graphql/project.resolver.js';
import { RateLimitResolver } from './graphql/rate-limit.resolver.js';
import { createSchema } from './graphql/schema.js';
import { defaultMaxConnections } from './http/connections/descriptor-limit.js';
import { OpenConnections } from './http/connections/open-connections.js';
import { Drain } from './http/drain.js';
import { healthRoutes } from './http/health.routes.js';
import { KeptBodies } from './http/kept-bodies.js';
import { HTTP_LIMITS, Reception } from './http/reception.js';
import { doorOf, metricOf } from './http/request-metric.js';
import { createHttpServer, type HttpSettings } from './http/server.js';
import { refuseUnknownPaths } from './http/unknown-paths.js';
import { UnparsableRefusals } from './http/unparsable.js';
import { HostRouter } from './ingress/host-router.js';
import { Ingress } from './ingress/ingress.js';
import { SecureContexts } from './ingress/secure-contexts.js';
import { TlsServer } from './ingress/tls-server.js';
import { pagesDoor } from './pages/pages.door.js';
import { Pages } from './pages/pages.js';
import { startLimiter } from './rate-limit/start-limiter.js';
import { ResponseCache } from './response-cache/response-cache.js';
import { openApiDocument } from './rest/openapi.js';
import { restDoor } from './rest/rest.door.js';
import { createServices, type Services } from './services.js';

const SWEEP_MS = 60_000;
const HAND_OVER_MS = 1_000;
const STORE_USAGE_MS = 5_000;
const JSON_TYPE = 'application/json; charset=utf-8';

export interface App {
  http: FastifyInstance;
  services: Services;
  customDomains: CustomDomains;
  hosts: HostIndex;
  drain: Drain;
  pages: Pages;
  /** Starts listening and returns where clients find the gateway. */
  listen(): Promise<Addresses>;
}

export interface AppParts {
  config: Config;
  db: Database;
  logger: FastifyBaseLogger;
  now: () => number;
}

/** The composition root: services, then admission, then the doors. Several apps can live in one process. */
export async function createApp({ config, db, logger, now }: AppParts): Promise<App> {
  const running = await startLimiter({ redisUrl: config.redisUrl, db, log: logger, now });
  const services = createServices(db, now, running.versions);
  const admission = new Admission(services.apiKeys, running.limiter);
  const visits = new Visits(running.limiter);
  const cache = new ResponseCache();
  const meter = new Meter(admission, config.environment === 'staging', now);
  // Who does not ask for metrics need not load what counts them.
  const metrics =
    config.metricsPort === 0
      ? null
      : new (await import('./metrics/metrics.js')).Metrics(running.sharing, () => cache.counts);
  const hosts = new HostIndex(db);
  const customDomains = createCustomDomains({
    config,
    db,
    services,
    log: logger,
    onEvent: (event) => {
      metrics?.observeDomain(event.name);
      // `hostname` is the machine's in every line of the log.
      const { name, hostname, message } = event;
      logger.info({ event: name, domain: hostname, detail: message }, 'domain event');
    },
    onChange: () => hosts.sync(),
    now,
  });
  let addresses = addressesOf(config, config.port);

  const onEarlyRefusal: HttpSettings['onEarlyRefusal'] = async (request, reply) => {
    await visits.admit(request, reply);
    if (doorOf(request.url) !== 'other') await meter.lookAhead(request, reply);
  };
  const ingress = new Ingress(
    new HostRouter(platformNames(config), hosts, new ProjectSlugs(db)),
    customDomains.challengeAnswer,
    {
      endsTls: config.httpsPort !== 0,
      publicHttpsPort: config.publicHttpsPort ?? (config.httpsPort || null),
      onEarlyRefusal,
    },
    now,
  );
  const enter: HttpSettings['enter'] = (request, reply) => ingress.enter(request, reply);
  const allowsLocalOrigins = isLocalDemo(config) && config.corsOrigins.length === 0;
  const connections = new OpenConnections(
    config.maxConnections ?? defaultMaxConnections(config.databasePoolSize),
  );
  const refusals = new UnparsableRefusals(logger, (address) => meter.headersOf(address));
  const reception = new Reception(connections, refusals);
  const http = createHttpServer({ ...config, allowsLocalOrigins, logger, enter, onEarlyRefusal, reception });
  http.decorateRequest('site');
  const drain = new Drain(http, connections);
  const contexts = new SecureContexts(db, customDomains.sealer);
  const tls = config.httpsPort === 0 ? null : new TlsServer(hosts, contexts, logger, now);
  if (tls) reception.receive(tls.server, http.routing);
  healthRoutes(http, { isDraining: () => drain.isDraining, isDatabaseReady: () => db.isReady() });

  const fieldLimits = new FieldLimits(running.limiter);
  const schema = await createSchema(
    [
      new DomainResolver(customDomains, services.idempotency, now),
      new PetResolver(services.pets),
      new RateLimitResolver(fieldLimits),
      new ApiKeyResolver(services.projectKeys, services.keyUses),
      new ProjectResolver(services.projects, services.idempotency, services.usage, {
        base: () => addresses.base,
        ofProject: (slug) => addresses.ofProject(slug),
      }),
    ],
    fieldLimits,
  );
  http.addHook('onResponse', (request, reply, done) => {
    const metric = metricOf(request, reply);
    metrics?.observe(metric);
    if (request.caller) {
      const { keyId, projectId } = request.caller;
      services.keyUses.note(keyId);
      const { door, decision, isOfPlan } = metric;
      if (decision && door !== 'other') services.usage.count(projectId, door, decision);
      if (decision && !isOfPlan) services.usage.count(projectId, 'manage', decision);
    }
    done();
  });
  const kept = new KeptBodies();
  const document = () => openApiDocument(addresses);
  const pages = await Pages.open(kept, {
    projects: services.projects,
    base: () => addresses.base,
    openApiDocument: document,
    sandboxDocument: DEMO_QUERY,
  });
  const page: Pages['sandbox'] = (request, reply) => pages.sandbox(request, reply);
  await http.register(graphqlDoor, { prefix: '/graphql', meter, visits, schema, cache, page });
  await http.register(async (keyless) => {
    limitVisits(keyless, visits);
    refuseUnknownPaths(keyless);
    await keyless.register(pagesDoor, { pages });
    await keyless.register(dashboardDoor, { prefix: '/dashboard' });
  });
  await http.register(restDoor, {
    prefix: '/v1',
    meter,
    visits,
    pets: services.pets,
    cache,
    baseUrl: ({ site }) => `${site.origin ?? addresses.base}/v1`,
    openApiDocument: () => kept.of(`openapi ${addresses.base}`, JSON_TYPE, () => JSON.stringify(document())),
  });

  const { usage, keyUses, idempotency } = services;
  const sweep = () => Promise.all([idempotency.sweep(), usage.sweep(), customDomains.sweep()]);
  const chores = startChores(
    [
      { name: 'sweeping', everyMs: SWEEP_MS, work: sweep },
      { name: 'storing usage', everyMs: STORE_USAGE_MS, work: () => usage.flush(), isLast: true },
      { name: 'storing uses of keys', everyMs: SWEEP_MS, work: () => keyUses.flush(), isLast: true },
    ],
    logger,
  );
  let endMetrics: () => void = () => {};
  let tlsEnded: Promise<void> | undefined;
  http.addHook('preClose', async () => {
    connections.closeUnused();
    tlsEnded = tls?.close();
    // What is not handed over by then, others take up when its lease has run out.
    await Promise.race([customDomains.stop(), sleep(HAND_OVER_MS, undefined, { ref: false })]);
  });
  http.addHook('onClose', async () => {
    endMetrics();
    connections.stop();
    hosts.stop();
    // Only then: what the last requests counted is stored at the end.
    await tlsEnded;
    await Promise.all([running.close(), chores.end()]);
  });

  const listen = async () => {
    if (metrics) {
      const server = reception.receive(createServer(HTTP_LIMITS), metrics.answer);
      server.listen(config.metricsPort, config.metricsHost);
      await once(server, 'listening');
      endMetrics = () => server.close();
    }
    await hosts.start({ isPolling: tls !== null });
    await tls?.listen(config.host, config.httpsPort);
    await http.listen({ host: config.host, port: config.port });
    customDomains.start();
    const address = http.server.address();
    addresses = addressesOf(config, typeof address === 'object' && address ? address.port : config.port);
    return addresses;
  };
  return { http, services, customDomains, hosts, drain, pages, listen };
}
