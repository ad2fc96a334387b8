import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { type Addresses, addressesOf } from './addresses.js';
import { Admission } from './admission/admission.js';
import { Meter } from './admission/meter.js';
import { ApiKeyService } from './api-keys/api-key.service.js';
import { AuditLog } from './audit/audit-log.js';
import type { Config } from './config.js';
import type { Database } from './database/database.js';
import { graphqlDoor } from './graphql/graphql.door.js';
import { PetResolver } from './graphql/pet.resolver.js';
import { ProjectResolver } from './graphql/project.resolver.js';
import { RateLimitResolver } from './graphql/rate-limit.resolver.js';
import { createSchema } from './graphql/schema.js';
import { Drain } from './http/drain.js';
import { healthRoutes } from './http/health.routes.js';
import { doorOf, metricOf } from './http/request-metric.js';
import { createHttpServer } from './http/server.js';
import { IdempotencyService } from './idempotency/idempotency.service.js';
import { IdGenerator } from './ids.js';
import { Metrics } from './metrics/metrics.js';
import { PetService } from './pets/pet.service.js';
import { PetImportService } from './pets/pet-import.service.js';
import { ProjectService } from './projects/project.service.js';
import { startLimiter } from './rate-limit/start-limiter.js';
import { openApiDocument } from './rest/openapi.js';
import { restDoor } from './rest/rest.door.js';

const SWEEP_MS = 60_000;

export interface Services {
  projects: ProjectService;
  apiKeys: ApiKeyService;
  pets: PetService;
  petImports: PetImportService;
  idempotency: IdempotencyService;
}

/** Every service, made once. The command line uses the same ones. */
export function createServices(db: Database, now: () => number): Services {
  const ids = new IdGenerator(now);
  const audit = new AuditLog(ids, now);
  const idempotency = new IdempotencyService(db, ids, now);
  return {
    projects: new ProjectService(db, ids, audit, now),
    apiKeys: new ApiKeyService(db, ids, audit, now),
    pets: new PetService(db, ids, idempotency, now),
    petImports: new PetImportService(db, ids, audit, now),
    idempotency,
  };
}

export interface App {
  http: FastifyInstance;
  services: Services;
  drain: Drain;
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
  const services = createServices(db, now);
  const running = await startLimiter({ redisUrl: config.redisUrl, db, log: logger, now });
  const admission = new Admission(services.apiKeys, running.limiter);
  const meter = new Meter(admission, config.environment === 'staging');
  let addresses = addressesOf(config, config.port);

  const http = await createHttpServer({
    ...config,
    logger,
    onEarlyRefusal: async (request, reply) => {
      if (doorOf(request.url) !== 'other') await meter.look(request, reply);
    },
  });
  const drain = new Drain(http);
  healthRoutes(http, { isDraining: () => drain.isDraining, isDatabaseReady: () => db.isReady() });

  const schema = await createSchema(
    [
      new PetResolver(services.pets),
      new RateLimitResolver(),
      new ProjectResolver(services.projects, services.idempotency, (slug) => addresses.ofProject(slug)),
    ],
    running.limiter,
  );
  const metrics = new Metrics(running.sharing);
  http.addHook('onResponse', async (request, reply) => metrics.observe(metricOf(request, reply)));
  await http.register(graphqlDoor, { prefix: '/graphql', meter, schema });
  await http.register(restDoor, {
    prefix: '/v1',
    meter,
    pets: services.pets,
    baseUrl: () => `${addresses.base}/v1`,
    openApiDocument: () => openApiDocument(addresses),
  });

  const sweeper = setInterval(() => {
    services.idempotency.sweep().catch((error) => logger.warn({ reason: String(error) }, 'sweep failed'));
  }, SWEEP_MS).unref();
  let endMetrics: () => void = () => {};
  http.addHook('onClose', async () => {
    clearInterval(sweeper);
    endMetrics();
    await running.close();
  });

  const listen = async () => {
    if (config.metricsPort !== 0) {
      const server = await metrics.listen(config.host, config.metricsPort);
      endMetrics = () => server.close();
    }
    await http.listen({ host: config.host, port: config.port });
    const address = http.server.address();
    addresses = addressesOf(config, typeof address === 'object' && address ? address.port : config.port);
    return addresses;
  };
  return { http, services, drain, listen };
}
