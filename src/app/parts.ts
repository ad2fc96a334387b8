import type { FastifyBaseLogger } from 'fastify';
import { configuresDomains, DomainsOnUse } from '../domains/domains-on-use.js';
import { HostIndex } from '../domains/hosts/host-index.js';
import { DOMAIN_EVENTS } from '../domains/store/timeline.js';
import type { Config } from '../ground/config/config.js';
import type { Database } from '../ground/database/database.js';
import type { Capability } from '../ground/kernel/capability.js';
import { ProjectSignals } from '../ground/records/project-signals.js';
import { RedisSignals } from '../ground/records/redis-signals.js';
import { joined } from '../noun-words.js';
import { Admission } from '../request/admission/admission.js';
import { Meter } from '../request/admission/meter.js';
import { ownNames } from '../request/http/headers.js';
import { HostAddresses } from '../request/ingress/ingress.js';
import { SHED_PLANS } from '../request/overload/shedder.js';
import { startLimiter } from '../request/rate-limit/start-limiter.js';
import { ResponseCache } from '../request/response-cache/response-cache.js';
import { OpenStreams } from '../request/streams/open-streams.js';
import { StreamSlots } from '../request/streams/stream-slots.js';
import { findKnownKeys } from '../tenants/api-keys/caller-cache.js';
import { httpsPortOf, ownHostsOf } from './addresses.js';
import { choresOf } from './chores.js';
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

/** Not a chore: it has its own pace. */
const DOMAIN_WORK = 'work on domains';

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
  const place = () => (shared === null || running.sharing.isDegraded ? 'memory' : 'redis');
  const { tracing } = config;
  // The code of tracing is loaded only when there is a collector.
  const traced = await (tracing &&
    (await import('../request/tracing/traced-parts.js')).traceParts(tracing, options, place));
  const nouns = joined(gateway.nouns.map(({ description }) => description));
  const isStaging = config.environment === 'staging';
  const { rehearse } = ownNames(gateway.slug);
  const charged = [limiter, services.apiKeys, { isStaging, nouns, rehearse }, now] as const;
  const meter = traced?.createMeter(...charged) ?? new Meter(...charged);
  const cache = traced?.cache ?? new ResponseCache();
  const hosts = new HostIndex(db);
  const customDomains = new DomainsOnUse({
    config,
    db,
    services,
    ownHosts: ownHostsOf(config),
    ...(traced && { withinTask: traced.withinTask }),
    log: {
      warn(details, message) {
        metrics?.failures.inc({ work: DOMAIN_WORK });
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
  const streams = new OpenStreams(
    shared && new StreamSlots(shared.connection),
    (keyIds) => findKnownKeys(db, gateway.scopes, keyIds),
    signals,
    now,
  );
  const capabilities: Capability[] = [running, ...services.capabilities, cache, streams, customDomains];
  const chores = choresOf(capabilities);
  // The metrics module is loaded only when metrics are switched on.
  const metrics =
    config.metricsPort === 0
      ? null
      : new (await import('../ground/metrics/metrics.js')).Metrics({
          slug: gateway.slug,
          nouns,
          domainEvents: DOMAIN_EVENTS,
          works: [...chores.map(({ name }) => name), DOMAIN_WORK],
          shedPlans: SHED_PLANS,
        });
  if (configuresDomains(config)) await customDomains.load();
  return {
    capabilities,
    chores,
    limiter,
    bans: running.bans,
    tracing: traced?.tracing ?? null,
    closeLimiter: () => running.close(),
    services,
    meter,
    admission: new Admission(services.apiKeys, meter),
    cache,
    signals,
    streams,
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
