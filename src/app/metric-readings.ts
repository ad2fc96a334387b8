import { version } from '../ground/kernel/package.js';
import type { Reading } from '../ground/metrics/metrics.js';
import type { OpenConnections } from '../request/http/connections/open-connections.js';
import type { Drain } from '../request/http/drain.js';
import type { AppOptions, Parts } from './parts.js';

/** The metrics that are read from the state of the process when Prometheus asks. */
export function readingsOf(
  { db, logLines }: AppOptions,
  { sharing, cache, tracing }: Parts,
  { drain, connections }: { drain: Drain; connections: OpenConnections },
): Reading[] {
  return [
    {
      name: 'petstore_build_info',
      help: '1, by version of the gateway.',
      label: 'version',
      read: () => ({ [version()]: 1 }),
    },
    {
      name: 'petstore_ready',
      help: '1 while /readyz answers 200.',
      read: async () => Number(!drain.isDraining && (await db.isReady().catch(() => false))),
    },
    {
      name: 'petstore_open_connections',
      help: 'Open client connections on all ports.',
      read: () => connections.size,
    },
    {
      name: 'petstore_open_connections_max',
      help: 'MAX_CONNECTIONS, or its default.',
      read: () => connections.maxOpen,
    },
    {
      name: 'db_client_connection_count',
      help: 'Connections to MySQL, by state: idle or used.',
      label: 'state',
      read: () => db.poolLoad && { idle: db.poolLoad.idle, used: db.poolLoad.used },
    },
    {
      name: 'db_client_connection_pending_requests',
      help: 'Requests that wait for a connection to MySQL.',
      read: () => db.poolLoad?.waiting ?? null,
    },
    {
      name: 'db_client_connection_max',
      help: 'DATABASE_POOL_SIZE.',
      read: () => db.poolLoad?.max ?? null,
    },
    {
      name: 'petstore_rate_limit_degraded',
      help: '1 while Redis is unavailable and this process limits alone.',
      read: () => Number(sharing().isDegraded),
    },
    {
      name: 'petstore_rate_limit_outages_total',
      help: 'Outages of Redis.',
      read: () => sharing().outages,
    },
    {
      name: 'petstore_rate_limit_local_decisions_total',
      help: 'Requests decided without Redis.',
      read: () => sharing().localDecisions,
    },
    {
      name: 'petstore_response_cache_lookups_total',
      help: 'Cacheable lists: hit = from memory, shared = from the read of another request, miss = from the database.',
      label: 'result',
      read: () => {
        const { hits, shared, misses } = cache.counts;
        return { hit: hits, shared, miss: misses };
      },
    },
    {
      name: 'petstore_spans_exported_total',
      help: 'Spans that the collector of traces has taken.',
      read: () => tracing?.counts.exported ?? 0,
    },
    {
      name: 'petstore_spans_dropped_total',
      help: 'Spans that were dropped because the collector of traces is away, refuses them or is too slow.',
      read: () => tracing?.counts.dropped ?? 0,
    },
    {
      name: 'petstore_log_lines_lost_total',
      help: 'Lines of the log that were lost because their reader was too slow.',
      read: () => logLines?.lostLines ?? 0,
    },
  ];
}
