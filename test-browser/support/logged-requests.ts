import { firstIdAt } from '../../src/ground/kernel/ids.js';
import { LoggedRequest } from '../../src/tenants/request-log/logged-request.entity.js';
import type { Tenant, TestApp } from '../../test/support/start-app.js';

type Facts = Partial<Omit<LoggedRequest, 'projectId'>>;

/** Inserts rows as the log stores them, one second apart, the first one newest. Real requests would take too long. */
export async function logRequests(
  { db }: Pick<TestApp, 'db'>,
  { projectId, keyId }: Pick<Tenant, 'projectId' | 'keyId'>,
  requests: readonly Facts[],
  newestAtMs = Date.now() - 60_000,
): Promise<void> {
  const rows = requests.map((facts, at) => {
    const atMs = newestAtMs - at * 1_000;
    return {
      projectId,
      id: firstIdAt(atMs),
      atMs,
      keyId,
      door: 'rest' as const,
      operation: 'listToys',
      status: 200,
      code: null,
      outcome: 'ok' as const,
      durationUs: 1_840,
      units: 1,
      requestId: `req-${atMs}`,
      ...facts,
    };
  });
  for (let from = 0; from < rows.length; from += 500) {
    await db.repository(LoggedRequest).insert(rows.slice(from, from + 500));
  }
}
