import { describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/ground/config/config.js';
import { Database } from '../../src/ground/database/database.js';
import { LoggedRequest, REQUEST_RETENTION } from '../../src/tenants/request-log/logged-request.entity.js';
import type { UsageDimension } from '../../src/tenants/usage/project-usage.js';
import { callAs } from '../support/call-as.js';
import { createTestDatabase, databaseKinds } from '../support/databases.js';
import { createServices, DATABASE_SCHEMA, SCOPES } from '../support/gateway/tested-gateway.js';
import { startGateway } from '../support/gateway-process.js';
import { TEST_ACTOR } from '../support/start-app.js';
import { type SeenRequest, sendUsageLoad } from '../support/usage/usage-load.js';
import { reportOf } from '../support/usage/usage-reports.js';

/** `USAGE_REQUESTS=100000` is the full size. */
const REQUESTS = Number(process.env.USAGE_REQUESTS ?? 2_000);
const OPERATIONS = 300;
const KEYS = 50;
const LONGEST_MS = 1_800_000;
/** The part of the requests that the day's quota of all processes admits; the rest is refused, and bans keys. */
const QUOTA_SHARE = 0.6;

const WINDOWS = ['HOUR', 'DAY', 'MONTH'] as const;
const FIELDS = {
  KEY: 'key',
  OPERATION: 'operation',
  DOOR: 'door',
  STATUS: 'status',
} as const satisfies Record<UsageDimension, keyof SeenRequest>;

describe.each(databaseKinds())('on %s', (kind) => {
  test(
    'Usage-17: usage by key, operation, door and status each sum to what the clients saw and to what the log says',
    async () => {
      const database = await createTestDatabase(kind);
      const env = { DATABASE_URL: database.url, SHUTDOWN_SECONDS: '4' };
      const gateways = [await startGateway({ env })];
      if (kind !== 'sqlite') gateways.push(await startGateway({ env }));
      const db = await Database.open(loadConfig(env).database, DATABASE_SCHEMA);
      try {
        const services = createServices(db, Date.now);
        const { projectId, keys } = await createKeys(
          services,
          Math.floor((REQUESTS * QUOTA_SHARE) / gateways.length),
        );
        const load = { keys, operations: OPERATIONS, requests: REQUESTS };
        const seen = await sendUsageLoad(
          gateways.map(({ url }) => url),
          load,
        );
        for (const gateway of gateways) await gateway.kill('SIGTERM');
        expect(await Promise.all(gateways.map(({ ended }) => ended))).toEqual(
          gateways.map(() => ({ code: 0, signal: null })),
        );
        expect(seen.size).toBe(REQUESTS);
        expect(new Set([...seen.values()].map(({ operation }) => operation)).size).toBe(OPERATIONS);

        for (const by of Object.keys(FIELDS) as UsageDimension[]) {
          for (const window of WINDOWS) {
            const { series, total } = await reportOf(services, projectId, window, by);
            const names = new Set(series.map(({ name }) => name));
            // Operations beyond the first 200 of the day.
            const nameOf = (request: SeenRequest) =>
              names.has(request[FIELDS[by]]) ? request[FIELDS[by]] : 'other';
            const counted = new Map(
              series.map(({ name, total: { admitted, refused, failed } }) => [
                name,
                { admitted, refused, failed },
              ]),
            );
            expect([by, window, counted]).toEqual([by, window, countsOf(seen.values(), nameOf)]);
            expect(total.admitted + total.refused).toBe(REQUESTS);
            expect(names.size).toBeLessThanOrEqual(201);
          }
        }

        // Older rows are left out, also before they are deleted.
        const rows = await db
          .repository(LoggedRequest)
          .find({ where: { projectId }, order: { id: 'DESC' }, take: REQUEST_RETENTION.maxOfOwner });
        for (const { requestId, keyId, door, operation, status, outcome } of rows) {
          const logged = { key: String(keyId), door, operation, status: String(status), outcome };
          expect(logged).toEqual(seen.get(requestId));
        }
        const newest = { pageSize: 1, beforeId: null, filter: {} };
        const [page] = await services.projectRequests.read(callAs({ keyId: 0n, projectId }), [newest]);
        expect(rows.length + Number(page?.leftOut)).toBe(REQUESTS);
      } finally {
        await Promise.all(gateways.map((gateway) => gateway.kill('SIGKILL')));
        await db.close();
        await database.remove();
      }
    },
    LONGEST_MS,
  );
});

/** Without Redis each process counts the quota alone. Every fifth key may not write. */
async function createKeys({ projects, apiKeys }: ReturnType<typeof createServices>, perDay: number) {
  const quota = { plan: 'ENTERPRISE', perMinute: REQUESTS, perDay } as const;
  const { id: projectId } = await projects.create(TEST_ACTOR, { slug: 'busy', name: null, ...quota });
  const keys = [];
  for (let at = 0; at < KEYS; at += 1) {
    const scopes = at % 5 === 0 ? (['toys:read'] as const) : SCOPES;
    const wanted = { projectId, name: `key ${at}`, scopes: [...scopes], expiresAtMs: null };
    const { key, token } = await apiKeys.create(TEST_ACTOR, wanted);
    keys.push({ id: key.id, token });
  }
  return { projectId, keys };
}

function countsOf(seen: Iterable<SeenRequest>, nameOf: (request: SeenRequest) => string) {
  const counts = new Map<string, { admitted: number; refused: number; failed: number }>();
  for (const request of seen) {
    const count = counts.get(nameOf(request)) ?? { admitted: 0, refused: 0, failed: 0 };
    counts.set(nameOf(request), count);
    count[request.outcome === 'refused' ? 'refused' : 'admitted'] += 1;
    if (request.outcome === 'failed') count.failed += 1;
  }
  return counts;
}
