import type { Consistency, DatabaseTarget } from '../../config/config.js';
import { ASK_CLUSTER, softwareOf } from './strict-session.js';

/** The server, or the cluster, at an address. */
export interface ServerFacts {
  engine: DatabaseTarget['kind'];
  version: string;
  cluster: 'Galera' | 'Group Replication' | null;
  /** Addresses of the nodes of the cluster that are in step; null = no cluster, or its user may not see them. */
  members: readonly string[] | null;
  /** Of reads on a cluster. */
  mode: Consistency;
}

type Query = (sql: string) => Promise<unknown[]>;

/**
 * The engine that answers, with its version. The scheme of an address says only what an operator expects: MariaDB answers at
 * `mysql://` too, and calls itself `10.11.14-MariaDB`.
 */
export async function askEngine(
  { kind }: DatabaseTarget,
  query: Query,
): Promise<Pick<ServerFacts, 'engine' | 'version'>> {
  const rows = await query(`SELECT ${kind === 'sqlite' ? 'sqlite_version()' : 'VERSION()'} AS version`);
  const { version = '' } = (rows[0] ?? {}) as { version?: string };
  if (kind === 'sqlite') return { engine: kind, version };
  return { engine: /mariadb/i.test(version) ? 'mariadb' : 'mysql', version };
}

export async function askServer(target: DatabaseTarget, query: Query): Promise<ServerFacts> {
  const engine = await askEngine(target, query);
  const mode = target.consistency ?? 'strict';
  if (target.kind === 'sqlite') return { ...engine, cluster: null, members: null, mode };
  return { ...engine, ...(await askCluster(query)), mode };
}

/** In one line. */
export function textOf({ engine, version, cluster, members, mode }: ServerFacts): string {
  if (cluster === null) return `${engine} ${version}`;
  const nodes = members
    ? `${members.length} nodes (${members.join(', ')})`
    : 'nodes that its user may not see';
  return `${engine} ${version}, ${cluster} of ${nodes}, ${mode}`;
}

async function askCluster(query: Query): Promise<Pick<ServerFacts, 'cluster' | 'members'>> {
  const software = softwareOf(await query(ASK_CLUSTER));
  if (software === null) return { cluster: null, members: null };
  if (software === 'wsrep') {
    const [row] = await query("SHOW STATUS LIKE 'wsrep_incoming_addresses'");
    return { cluster: 'Galera', members: (row as { Value: string } | undefined)?.Value.split(',') ?? null };
  }
  const members = await query(ASK_GROUP).catch(() => null);
  // The plugin is there, and no group has begun.
  if (members?.length === 0) return { cluster: null, members: null };
  return {
    cluster: 'Group Replication',
    members: members?.map((row) => (row as { node: string }).node) ?? null,
  };
}

/** It needs the right to read this table. */
const ASK_GROUP = `SELECT CONCAT(member_host, ':', member_port) AS node
  FROM performance_schema.replication_group_members WHERE member_state = 'ONLINE' ORDER BY node`;
