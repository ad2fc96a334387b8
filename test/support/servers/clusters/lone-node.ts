import { createTestDatabase, type DatabaseKind, type TestDatabase } from '../../databases.js';
import { startFaultProxy } from '../../http/fault-proxy.js';
import { asNode } from '../mysql-distortions.js';

/** The settings of a gateway whose database, of one server, says that it is a node of a cluster. */
export async function createLoneNode(
  kind: DatabaseKind,
): Promise<{ env: Record<string, string>; remove: TestDatabase['remove'] }> {
  const database = await createTestDatabase(kind);
  const url = new URL(database.url);
  const proxy = await startFaultProxy(Number(url.port));
  await proxy.set(asNode);
  url.port = String(proxy.port);
  return {
    env: { DATABASE_URL: url.href, DATABASE_CONSISTENCY: 'local' },
    async remove() {
      await proxy.stop();
      await database.remove();
    },
  };
}
