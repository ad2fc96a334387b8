import type { FastifyBaseLogger } from 'fastify';
import type { CustomDomainParts } from '../domains/custom-domains.js';
import { configuresDomains, DomainsOnUse } from '../domains/domains-on-use.js';
import { HostIndex } from '../domains/hosts/host-index.js';
import { DOMAIN_EVENTS } from '../domains/store/timeline.js';
import type { Config } from '../ground/config/config.js';
import type { TracingSettings } from '../ground/config/tracing-settings.js';
import { askEngine } from '../ground/database/data-source.js';
import type { Database } from '../ground/database/database.js';
import { version } from '../ground/kernel/package.js';
import { ProjectSignals } from '../ground/records/project-signals.js';
import { RedisSignals } from '../ground/records/redis-signals.js';
import { joined } from '../noun-words.js';
import { Admission } from '../request/admission/admission.js';
import { Meter } from '../request/admission/meter.js';
import { ownNames } from '../request/http/headers.js';
import { HostAddresses } from '../request/ingress/ingress.js';
import { SHED_PLANS } from '../request/overload/shedder.js';
import { type RunningLimiter, startLimiter } from '../request/rate-limit/start-limiter.js';
import { ResponseCache } from '../request/response-cache/response-cache.js';
import { OpenStreams } from '../request/streams/open-streams.js';
import { StreamSlots } from '../request/streams/stream-slots.js';
import type { Tracer } from '../request/tracing/tracer.js';
import { findKnownKeys } from '../tenants/api-keys/caller-cache.js';
import { httpsPortOf, ownHostsOf } from './addresses.js';
import { WORKS, type Work } from './chores.js';
import type { LoadedGateway } from './gateway.js';
import { createServices } from './services.js';

export interface AppOptions {
  gateway: LoadedGateway;
  config: Config;
  db: Database;
  logger: FastifyBaseLogger;
  /** The destination of the log, if it counts the lines that it loses. */
  logLines?: { readonly lostLines: number };
  now: () => number;
}

export type Parts = Awaited<ReturnType<typeof createParts>>;

/** Everything below the doors: limiter, services, admission, custom domains. Nothing listens yet. */
export async function createParts(options: AppOptions) {
  const { gateway, config, db, logger, now } = options;
  const running = await startLimiter({ redisUrl: config.redisUrl, db, log: logger, now });
  const { limiter } = running;
  const shared = config.redisUrl === null ? null : new RedisSignals(config.redisUrl);
  const signals = shared ?? new ProjectSignals();
  const services = createServices(gateway, db, now, {
    versions: running.versions,
    signals,
    isRequestLogOn: config.isRequestLogOn,
  });
  await services.startIds();
  const traced = config.tracing && (await traceParts(config.tracing, options, running));
  const createMeter = traced?.createMeter ?? ((...parts: MeterParts) => new Meter(...parts));
  const nouns = joined(gateway.nouns.map(({ description }) => description));
  const isStaging = config.environment === 'staging';
  const { rehearse } = ownNames(gateway.slug);
  const meter = createMeter(limiter, services.apiKeys, { isStaging, nouns, rehearse }, now);
  const cache = traced?.cache ?? new ResponseCache();
  // The metrics module is loaded only when metrics are switched on.
  const metrics =
    config.metricsPort === 0
      ? null
      : new (await import('../ground/metrics/metrics.js')).Metrics({
          slug: gateway.slug,
          nouns,
          domainEvents: DOMAIN_EVENTS,
          works: WORKS,
          shedPlans: SHED_PLANS,
        });
  const hosts = new HostIndex(db);
  const customDomains = new DomainsOnUse({
    config,
    db,
    services,
    ownHosts: ownHostsOf(config),
    withinTask: traced ? tracedTask(traced.tracing.tracer) : (_name, _facts, run) => run(),
    log: {
      warn(details, message) {
        metrics?.failures.inc({ work: 'work on domains' satisfies Work });
        logger.warn(details, message);
      },
    },
    onEvent: (event) => {
      metrics?.domainEvents.inc({ event: event.name });
      // In log lines `hostname` is the machine's name, so the domain goes under `domain`.
      const { name, hostname, message } = event;
      logger.info({ event: name, domain: hostname, detail: message }, 'domain event');
    },
    // After a failure `HostIndex.current` reports that the host table is stale.
    syncHosts: () => hosts.sync().catch(() => {}),
    now,
  });
  if (configuresDomains(config)) await customDomains.load();
  return {
    limiter,
    bans: running.bans,
    tracing: traced?.tracing ?? null,
    sharing: running.sharing,
    storeCounters: () => running.storeCounters(),
    closeLimiter: () => running.close(),
    services,
    meter,
    admission: new Admission(services.apiKeys, meter),
    cache,
    signals,
    streams: new OpenStreams(
      shared && new StreamSlots(shared.connection),
      (keyIds) => findKnownKeys(db, gateway.scopes, keyIds),
      signals,
      now,
    ),
    metrics,
    hosts,
    hostAddresses: new HostAddresses(
      hosts,
      { endsTls: config.httpsPort !== 0, publicHttpsPort: httpsPortOf(config) },
      now,
    ),
    customDomains,
  };
}

/** Work on a domain becomes a span. */
function tracedTask(tracer: Tracer): NonNullable<CustomDomainParts['withinTask']> {
  const { domain, order } = tracer.attributes;
  return (name, facts, run) =>
    tracer.withinTask(name, { [domain]: facts.domain, ...(facts.order && { [order]: facts.order }) }, run);
}

type MeterParts = ConstructorParameters<typeof Meter>;

/** Parts whose work becomes spans. The modules of tracing are loaded only here, when there is a collector. */
async function traceParts(
  settings: TracingSettings,
  { gateway, config, db, now }: AppOptions,
  { sharing }: RunningLimiter,
) {
  const [{ startTracing }, { TracedCache, TracedMeter, traceStatements }] = await Promise.all([
    import('../request/tracing/start-tracing.js'),
    import('../request/tracing/traced-work.js'),
  ]);
  const { environment, trustedProxies, redisUrl } = config;
  const tracing = startTracing({
    settings,
    slug: gateway.slug,
    version: version(),
    environment,
    trustedProxies,
    now,
  });
  const { tracer } = tracing;
  const { engine } = await askEngine(config.database, (sql) => db.execute(sql, []));
  db.traceStatements(traceStatements(tracer, engine));
  const place = () => (redisUrl === null || sharing.isDegraded ? 'memory' : 'redis');
  return {
    tracing,
    createMeter: (...parts: MeterParts) => new TracedMeter(tracer, place, ...parts),
    cache: new TracedCache(tracer),
  };
}
