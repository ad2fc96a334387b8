import { loadConfig } from '../../../src/ground/config/config.js';
import { Database } from '../../../src/ground/database/database.js';
import { ChangeLogRow } from '../../../src/ground/records/change-log.entity.js';
import { createServices, DATABASE_SCHEMA } from '../gateway/tested-gateway.js';

/** Switches on the change log of the project of a token, for gateway processes that have not served it before. */
export async function openLogOf(databaseUrl: string, token: string): Promise<bigint> {
  const db = await Database.open(loadConfig({ DATABASE_URL: databaseUrl }).database, DATABASE_SCHEMA);
  const { projects, apiKeys } = createServices(db, Date.now);
  const caller = await apiKeys.identify(token);
  const projectId = caller?.projectId ?? 0n;
  const { slug } = await projects.get(projectId);
  await projects.change({ name: 'test', requestId: null }, slug, { isLogged: true });
  // No process has a key of the project in memory, so none has to be waited for.
  await db.repository(ChangeLogRow).update({ projectId }, { opensAtMs: Date.now() });
  await db.close();
  return projectId;
}
