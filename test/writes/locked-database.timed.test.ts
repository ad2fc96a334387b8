import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createConnection } from 'mysql2/promise';
import { openLog } from '../support/changes/changes.js';
import { databaseKinds, lockWrites } from '../support/databases.js';
import { graphql, rest } from '../support/http/client.js';
import { Toy } from '../support/nouns/toys.js';
import { onEachDatabase } from '../support/on-databases.js';
import { startApp, type Tenant } from '../support/start-app.js';

const CLIENTS = 50;
const LOCKED_MS = 8_000;
const TOY = { name: 'Rex', categoryId: 1 };

onEachDatabase((app) => {
  const create = ({ token }: Tenant) => rest(app().url, '/v1/toys', { method: 'POST', token, body: TOY });
  const count = ({ projectId }: Tenant) => app().db.repository(Toy).countBy({ projectId });

  /** One project with a change log, one without. */
  async function twoTenants(): Promise<[Tenant, Tenant]> {
    const [logged, other] = [await app().tenant(), await app().tenant()];
    await openLog(app(), logged);
    return [logged, other];
  }

  test('Outcome-8: 50 clients that obey Retry-After have 50 toys after a lock of 8 s, with and without a change log', async () => {
    const tenants = await twoTenants();
    const untilCreated = async (tenant: Tenant) => {
      for (;;) {
        const { status, headers } = await create(tenant);
        if (status === 201) return;
        expect(status).toBe(503);
        await sleep(Number(headers.get('retry-after')) * 1_000);
      }
    };
    const release = await lockWrites(
      app().config.database,
      tenants.map(({ projectId }) => projectId),
    );
    const clients = tenants.flatMap((tenant) => Array.from({ length: CLIENTS }, () => untilCreated(tenant)));
    await sleep(LOCKED_MS);
    await release();
    await Promise.all(clients);
    expect(await Promise.all(tenants.map(count))).toEqual([CLIENTS, CLIENTS]);
  });

  test('Outcome-9: 300 writes that are answered 503 are never done, also not those of one request', async () => {
    const tenants = await twoTenants();
    const fields = Array.from(
      { length: 10 },
      (_, at) => `p${at}: createToy(input: {name: "Rex", categoryId: 1}) { id }`,
    );
    const query = `mutation { ${fields.join(' ')} }`;
    const release = await lockWrites(
      app().config.database,
      tenants.map(({ projectId }) => projectId),
    );
    const answers = await Promise.all(
      tenants.flatMap((tenant) => [
        ...Array.from({ length: 140 }, () => create(tenant)),
        ...Array.from({ length: 10 }, () => graphql(app().url, query, { token: tenant.token })),
      ]),
    );
    await release();
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    // Behind all that may still wait.
    for (const tenant of tenants) expect((await create(tenant)).status).toBe(201);
    expect(await Promise.all(tenants.map(count))).toEqual([1, 1]);
  });
});

for (const kind of databaseKinds().filter((each) => each !== 'sqlite')) {
  test(`Outcome-10: writes that wait for a locked table longer than their requests are never done (${kind})`, async () => {
    const app = await startApp({ kind });
    const { database } = app.config;
    if (database.kind === 'sqlite') throw new Error('SQLite has no table locks');
    const locker = await createConnection(database.url.replace(/^mariadb:/, 'mysql:'));
    try {
      const { token, projectId } = await app.tenant();
      await locker.query('LOCK TABLES toys READ');
      const create = () => rest(app.url, '/v1/toys', { method: 'POST', token, body: TOY });
      const answers = await Promise.all(Array.from({ length: 20 }, create));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
      await locker.query('UNLOCK TABLES');
      // Behind all that may still wait.
      await locker.query('LOCK TABLES toys WRITE');
      await locker.query('UNLOCK TABLES');
      expect(await app.db.repository(Toy).countBy({ projectId })).toBe(0);
    } finally {
      await locker.end();
      await app.stop();
    }
  });
}
