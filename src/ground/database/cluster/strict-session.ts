import type { PoolConnection } from 'mysql2';

/**
 * Which software of clusters is active. Every engine answers without an error. Only MariaDB reads `/*M! … *\/`: there `wsrep` is built
 * in, and off without a cluster.
 */
export const ASK_CLUSTER = `SELECT plugin_name AS plugin /*M! , @@wsrep_on AS is_on */ FROM information_schema.plugins
  WHERE plugin_name IN ('wsrep', 'group_replication') AND plugin_status = 'ACTIVE'`;

export type ClusterSoftware = 'wsrep' | 'group_replication';

export function softwareOf(rows: readonly unknown[]): ClusterSoftware | null {
  const plugins = rows as readonly { plugin: ClusterSoftware; is_on?: number }[];
  return plugins.find(({ is_on }) => Number(is_on ?? 1) === 1)?.plugin ?? null;
}

/** Stronger settings of the server stay. */
const STRICT: Record<ClusterSoftware, string> = {
  // With 1, only reads wait: an UPDATE or DELETE of another node's new row finds none.
  wsrep: 'wsrep_sync_wait = @@wsrep_sync_wait | 7',
  group_replication:
    "group_replication_consistency = IF(@@group_replication_consistency LIKE '%AFTER', 'BEFORE_AND_AFTER', 'BEFORE')",
};

/**
 * On a node of a cluster each statement of the session waits, from now on, until the node has applied what any node has
 * acknowledged. Rejects when the server refuses that. D-288.
 */
export async function makeStrict(connection: PoolConnection): Promise<void> {
  const software = softwareOf(await ask(connection, ASK_CLUSTER));
  if (software === null) return;
  await ask(connection, `SET SESSION ${STRICT[software]}`).catch((error: Error) => {
    const message = `it refuses "${STRICT[software]}": ${error.message}. Allow it, or set DATABASE_CONSISTENCY=local`;
    throw Object.assign(error, { message });
  });
}

/** The rows. Rejects with the driver's error. */
export const ask = (connection: PoolConnection, sql: string) =>
  new Promise<unknown[]>((resolve, reject) => {
    connection.query(sql, (error, rows) => (error ? reject(error) : resolve(rows as unknown[])));
  });
