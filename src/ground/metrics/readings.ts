import { Counter, Gauge, type Registry } from 'prom-client';

/** The state of the process that is read when Prometheus asks. */
export interface Readings {
  version: string;
  /** As `/readyz` answers. */
  isReady(): Promise<boolean>;
  sharing(): { isDegraded: boolean; outages: number; localDecisions: number };
  cached(): { hits: number; shared: number; misses: number };
  /** Null = the database has no pool. */
  pool(): { used: number; idle: number; waiting: number; max: number } | null;
  connections: { readonly size: number; readonly maxOpen: number };
  /** Spans that were sent to the collector, and those that it did not take. */
  spans(): { exported: number; dropped: number };
  lostLogLines(): number;
}

/** Values by the value of the only label, or one value without a label. */
type Values = number | Record<string, number> | null;

interface Reading {
  name: string;
  help: string;
  label?: string;
  read(): Values | Promise<Values>;
}

export function addReadings(registry: Registry, readings: Readings): void {
  const registers = [registry];
  for (const { name, help, label, read } of gauges(readings)) {
    new Gauge({
      name,
      help,
      labelNames: label ? [label] : [],
      registers,
      async collect() {
        for (const { labels, value } of series(label, await read())) this.set(labels, value);
      },
    });
  }
  for (const { name, help, label, read } of counters(readings)) {
    new Counter({
      name,
      help,
      labelNames: label ? [label] : [],
      registers,
      async collect() {
        const found = series(label, await read());
        this.reset();
        for (const { labels, value } of found) this.inc(labels, value);
      },
    });
  }
}

function series(label: string | undefined, values: Values) {
  if (values === null) return [];
  if (label === undefined || typeof values === 'number') return [{ labels: {}, value: Number(values) }];
  return Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value }));
}

function gauges({ version, isReady, sharing, pool, connections }: Readings): Reading[] {
  return [
    {
      name: 'petstore_build_info',
      help: '1, by version of the gateway.',
      label: 'version',
      read: () => ({ [version]: 1 }),
    },
    {
      name: 'petstore_ready',
      help: '1 while /readyz answers 200.',
      read: async () => Number(await isReady()),
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
      read: () => select(pool(), ({ idle, used }) => ({ idle, used })),
    },
    {
      name: 'db_client_connection_pending_requests',
      help: 'Requests that wait for a connection to MySQL.',
      read: () => select(pool(), ({ waiting }) => waiting),
    },
    {
      name: 'db_client_connection_max',
      help: 'DATABASE_POOL_SIZE.',
      read: () => select(pool(), ({ max }) => max),
    },
    {
      name: 'petstore_rate_limit_degraded',
      help: '1 while Redis is unavailable and this process limits alone.',
      read: () => Number(sharing().isDegraded),
    },
  ];
}

function counters({ sharing, cached, spans, lostLogLines }: Readings): Reading[] {
  return [
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
        const { hits, shared, misses } = cached();
        return { hit: hits, shared, miss: misses };
      },
    },
    {
      name: 'petstore_spans_exported_total',
      help: 'Spans that the collector of traces has taken.',
      read: () => spans().exported,
    },
    {
      name: 'petstore_spans_dropped_total',
      help: 'Spans that were dropped because the collector of traces is away, refuses them or is too slow.',
      read: () => spans().dropped,
    },
    {
      name: 'petstore_log_lines_lost_total',
      help: 'Lines of the log that were lost because their reader was too slow.',
      read: lostLogLines,
    },
  ];
}

function select<T>(value: T | null, of: (value: T) => Values): Values {
  return value === null ? null : of(value);
}
