import { clockAheadMs } from '../ground/database/clock-difference.js';
import { askServer } from '../ground/database/cluster/server-facts.js';
import type { Reading } from '../ground/kernel/capability.js';
import { version } from '../ground/kernel/package.js';
import type { Metrics } from '../ground/metrics/metrics.js';
import type { OpenConnections } from '../request/http/connections/open-connections.js';
import type { Drain } from '../request/http/drain.js';
import type { AppOptions, Parts } from './parts.js';

/** The metrics that are read when Prometheus asks: of the process, and of its capabilities. */
export function readingsOf(
  own: Metrics['prefix'],
  { db, config, logLines, now }: AppOptions,
  { capabilities, tracing }: Parts,
  { drain, connections }: { drain: Drain; connections: OpenConnections },
): Reading[] {
  const isReady = async () => !drain.isDraining && (await db.problem().catch(() => 'away')) === null;
  const clockAhead = () => clockAheadMs((sql) => db.execute(sql, []), now).then((ms) => ms / 1_000);
  const members = async (): Promise<[Record<string, string>, number] | null> => {
    const facts = await askServer(config.database, (sql) => db.execute(sql, [])).catch(() => null);
    if (facts === null) return null;
    const { members, cluster, engine, version, mode } = facts;
    const count = members?.length ?? (cluster ? Number.NaN : 1);
    return [{ engine, version, cluster: cluster ?? 'none', mode }, count];
  };
  return [
    [`${own}build_info`, '1, by version of the gateway.', () => ({ [version()]: 1 }), 'version'],
    [`${own}ready`, '1 while /readyz answers 200.', async () => Number(await isReady())],
    [`${own}open_connections`, 'Open client connections on all ports.', () => connections.size],
    [`${own}open_connections_max`, 'MAX_CONNECTIONS, or its default.', () => connections.maxOpen],
    [
      'db_client_connection_count',
      'Connections to MySQL, by state: idle or used.',
      () => db.poolLoad && { idle: db.poolLoad.idle, used: db.poolLoad.used },
      'state',
    ],
    [
      'db_client_connection_pending_requests',
      'Requests that wait for a connection to MySQL.',
      () => db.poolLoad?.waiting ?? null,
    ],
    ['db_client_connection_max', 'DATABASE_POOL_SIZE.', () => db.poolLoad?.max ?? null],
    [
      `${own}repeated_writes_total`,
      'Writes that ran again because another writer had the lock or committed first.',
      () => db.repeatedWrites,
    ],
    [
      `${own}lists_read_total`,
      'Lists by the server that answered them: replica or primary.',
      () => db.listsRead,
      'server',
    ],
    [
      `${own}database_members`,
      'Servers of the database: the nodes of its cluster that are in step, or 1. NaN = its user may not see them.',
      members,
      ['engine', 'version', 'cluster', 'mode'],
    ],
    [
      `${own}clock_difference_seconds`,
      'How far the clock of this process is ahead of MySQL; negative = behind.',
      () => (config.database.kind === 'sqlite' ? null : clockAhead().catch(() => null)),
    ],
    [
      `${own}spans_exported_total`,
      'Spans that the collector of traces has taken.',
      () => tracing?.counts.exported ?? 0,
    ],
    [
      `${own}spans_dropped_total`,
      'Spans that were dropped because the collector of traces is away, refuses them or is too slow.',
      () => tracing?.counts.dropped ?? 0,
    ],
    [
      `${own}log_lines_lost_total`,
      'Lines of the log that were lost because their reader was too slow.',
      () => logLines?.lostLines ?? 0,
    ],
    ...capabilities
      .flatMap(({ readings = [] }) => readings)
      .map(([name, ...rest]): Reading => [`${own}${name}`, ...rest]),
  ];
}
