import { describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/ground/config/config.js';
import { Database } from '../../src/ground/database/database.js';
import { callAs } from '../support/call-as.js';
import { createTestDatabase, databaseKinds } from '../support/databases.js';
import { DATABASE_SCHEMA } from '../support/gateway/tested-gateway.js';
import { rest } from '../support/http/client.js';
import { startFaultProxy } from '../support/http/fault-proxy.js';
import { cursorsOf, listOf, serviceOf } from '../support/nouns/services.js';
import { Toy, type ToyStatus, toys } from '../support/nouns/toys.js';
import { onEachDatabase } from '../support/on-databases.js';
import { inOwnTicks } from '../support/own-time.js';
import { startApp, type Tenant } from '../support/start-app.js';

const TOYS = 150;
const LISTS = 200;
const AT_ONCE = 64;
const STATUSES: readonly ToyStatus[] = ['available', 'pending', 'sold'];
const DEADLINE_MS = 300;
const READ = 'SELECT CAST(? AS CHAR) AS value';

interface Wanted {
  tenant: Tenant;
  limit: number;
  status: ToyStatus | null;
  afterId: bigint | null;
}

onEachDatabase((app, kind) => {
  test(`Database-8: ${LISTS} different lists of two projects, read at once, each get their own page`, async () => {
    const tenants = [await app().tenant(), await app().tenant()];
    const stored = new Map<Tenant, Toy[]>();
    for (const tenant of tenants) stored.set(tenant, await withToys(tenant));
    const wanted = Array.from({ length: LISTS }, (_, index): Wanted => {
      const tenant = tenants[index % 2] as Tenant;
      const its = stored.get(tenant) ?? [];
      return {
        tenant,
        limit: 1 + ((index * 7) % 100),
        status: STATUSES[(index >> 1) % 4] ?? null,
        afterId: index % 5 === 0 ? null : (its[(index * 11) % TOYS]?.id ?? null),
      };
    });
    const answers = await Promise.all(
      wanted.map(({ tenant, limit, status, afterId }) => {
        const filter = status === null ? '' : `&status=${status}`;
        const position =
          afterId === null ? '' : `&cursor=${cursorsOf(toys, { status }).encode({ id: afterId })}`;
        return rest(app().url, `/v1/toys?limit=${limit}${filter}${position}`, { token: tenant.token });
      }),
    );
    for (const [index, { tenant, limit, status, afterId }] of wanted.entries()) {
      const page = (stored.get(tenant) ?? [])
        .filter((toy) => (status === null || toy.status === status) && toy.id > (afterId ?? 0n))
        .slice(0, limit);
      const { status: code, body } = answers[index] as (typeof answers)[number];
      expect([code, body.map((toy: { name: string }) => toy.name)]).toEqual([
        200,
        page.map(({ name }) => name),
      ]);
    }
  });

  /** Creates toys whose statuses are spread irregularly over the creation order. */
  async function withToys(tenant: Tenant): Promise<Toy[]> {
    const toys: Toy[] = [];
    for (let index = 0; index < TOYS; index += 1) {
      const toy = {
        name: `${tenant.slug} ${index}`,
        categoryId: 1n,
        status: STATUSES[(index * 7 + (index >> 2)) % 4] ?? null,
      };
      toys.push((await serviceOf(app()).create(callAs(tenant), toy)) as unknown as Toy);
    }
    return toys.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  test('Database-10: ids of any length are sorted as numbers', async () => {
    const tenant = await app().tenant();
    const ids = [7n, 10n, 99n, 100n, 2n ** 53n, 2n ** 63n - 1n];
    const toy = { projectId: tenant.projectId, name: 'Rex', categoryId: 1n, status: null, createdAtMs: 1 };
    await app()
      .db.repository(Toy)
      .insert(ids.map((id) => ({ ...toy, id })));
    const list = (pageSize: number) =>
      serviceOf(app()).list(callAs(tenant), { ...listOf(toys), pageSize, after: null });
    const pages = await Promise.all([6, 6, 3].map(list));
    expect(pages.map(({ rows }) => rows.map(({ id }) => BigInt(id)))).toEqual([ids, ids, ids.slice(0, 3)]);
  });

  if (kind === 'sqlite') return;

  test(`Database-9: ${AT_ONCE} simultaneous lists are few statements, each of one project`, async () => {
    const statements: { sql: string; parameters: unknown[] }[] = [];
    const running = await startApp({
      kind,
      onQuery: (sql, parameters) => statements.push({ sql, parameters }),
    });
    try {
      const tenants = [await running.tenant(), await running.tenant()];
      const service = serviceOf(running);
      statements.length = 0;
      const wanted = { ...listOf(toys), pageSize: 20, after: { id: 5n, text: '' } };
      await Promise.all(
        Array.from({ length: AT_ONCE }, (_, index) =>
          service.list(callAs(tenants[index % 2] as Tenant), wanted),
        ),
      );
      expect(statements.length).toBeLessThanOrEqual(AT_ONCE / 4);
      for (const { parameters } of statements) {
        const projects = tenants.filter(({ projectId }) => parameters.includes(projectId));
        expect(projects).toHaveLength(1);
      }
    } finally {
      await running.stop();
    }
  });
});

for (const kind of databaseKinds().filter((kind) => kind !== 'sqlite')) {
  describe(`on ${kind}, through a network that fails`, () => {
    test('Reliability-7: reads that wait for each other all fail in time, and the next ones are answered', async () => {
      const database = await createTestDatabase(kind);
      const url = new URL(database.url);
      const proxy = await startFaultProxy(Number(url.port));
      url.port = String(proxy.port);
      const target = loadConfig({ DATABASE_URL: url.href }).database;
      const db = await Database.open(target, DATABASE_SCHEMA, { poolSize: 4, queryTimeoutMs: DEADLINE_MS });
      const read = (value: number) => db.read<{ value: string }>('test', READ, [value]);
      const all = () => Promise.allSettled(Array.from({ length: AT_ONCE }, (_, value) => read(value)));
      try {
        const values = async () =>
          (await all()).map((result) => (result.status === 'fulfilled' ? result.value[0]?.value : 'failed'));
        const expected = Array.from({ length: AT_ONCE }, (_, value) => String(value));
        expect(await values()).toEqual(expected);
        await proxy.set('black hole');
        const { result, tookMs } = await inOwnTicks(all);
        expect(new Set(result.map(({ status }) => status))).toEqual(new Set(['rejected']));
        expect(tookMs).toBeLessThan(5 * DEADLINE_MS);
        await proxy.set('pass');
        expect(await values()).toEqual(expected);
        const many = Array.from({ length: 2_000 }, (_, value) => read(value).then(String, String));
        expect(
          (await Promise.all(many)).filter((end) => /Queue limit reached/.test(end)).length,
        ).toBeGreaterThan(0);
        expect(await values()).toEqual(expected);
        await proxy.set('refuse');
        expect(new Set((await all()).map(({ status }) => status))).toEqual(new Set(['rejected']));
        await proxy.set('pass');
        expect(await values()).toEqual(expected);
      } finally {
        await db.close();
        await proxy.stop();
        await database.remove();
      }
    });
  });
}
