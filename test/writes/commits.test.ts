import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import libsql from 'libsql';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { openLog } from '../support/changes/changes.js';
import { createTestDatabase, databaseKinds, lockWrites, type TestDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { graphql, rest } from '../support/http/client.js';
import { type FaultProxy, startFaultProxy } from '../support/http/fault-proxy.js';
import { refusedCommits, unansweredCommits } from '../support/servers/mysql-distortions.js';
import { startApp, type Tenant, type TestApp } from '../support/start-app.js';

const WRITES = 20;

let app: TestApp;
let owner: Tenant;
const create = (name: string) =>
  rest(app.url, '/v1/toys', { method: 'POST', token: owner.token, body: { name, categoryId: 1 } });
/** Creates toys at the same time; returns the names by the status of the answer. */
async function createAll(): Promise<Map<number, string[]>> {
  const names = Array.from({ length: WRITES }, (_, at) => `Toy ${at}`);
  const answers = await Promise.all(names.map(create));
  const byStatus = new Map<number, string[]>();
  for (const [at, { status }] of answers.entries())
    byStatus.set(status, [...(byStatus.get(status) ?? []), names[at] as string]);
  return byStatus;
}

if (databaseKinds().includes('sqlite')) {
  test('Outcome-1: after an error of COMMIT on SQLite each write of its transaction is 503, and none runs again', async () => {
    app = await startApp();
    try {
      owner = await app.tenant();
      await openLog(app, owner);
      if (app.config.database.kind !== 'sqlite') throw new Error('the app runs on another database');
      const other = new libsql(app.config.database.path);
      // The constraint is checked at COMMIT.
      other.exec(`CREATE TABLE owners (id INTEGER PRIMARY KEY);
        CREATE TABLE owned (id INTEGER REFERENCES owners (id) DEFERRABLE INITIALLY DEFERRED);
        CREATE TRIGGER doomed AFTER INSERT ON toys WHEN NEW.name = 'Toy 10'
          BEGIN INSERT INTO owned VALUES (NEW.id); END;`);
      // While it is locked, the writes gather.
      const release = await lockWrites(app.config.database, []);
      const created = createAll();
      for (let arrived = 0; arrived < WRITES; arrived += 1) await once(app.app.http.server, 'request');
      await release();
      const byStatus = await created;
      expect([...byStatus.keys()].sort()).toEqual([201, 503]);
      expect(byStatus.get(503)).toContain('Toy 10');
      expect(byStatus.get(503)?.length).toBeGreaterThan(1);
      const stored = other.prepare('SELECT name FROM toys ORDER BY name').all() as { name: string }[];
      expect(stored.map(({ name }) => name)).toEqual(byStatus.get(201)?.sort());
      other.close();
    } finally {
      await app.stop();
    }
  });
}

describe.each(databaseKinds().filter((kind) => kind !== 'sqlite'))('on %s', (kind) => {
  let database: TestDatabase;
  let proxy: FaultProxy;
  beforeAll(async () => {
    database = await createTestDatabase(kind);
    const url = new URL(database.url);
    proxy = await startFaultProxy(Number(url.port));
    url.port = String(proxy.port);
    app = await startApp({ env: { DATABASE_URL: url.href } });
  });
  beforeEach(async () => {
    await proxy.set('pass');
    // Each connection that the last test has cut fails once more.
    owner = await eventually('a tenant', () => app.tenant());
  });
  afterAll(async () => {
    await app.stop();
    await proxy.stop();
    await database.remove();
  });

  async function storedNames(): Promise<string[]> {
    const direct = await createConnection(database.url.replace(/^mariadb:/, 'mysql:'));
    const sql = 'SELECT name FROM toys WHERE project_id = ? ORDER BY name';
    const [rows] = await direct.query<RowDataPacket[]>(sql, [String(owner.projectId)]);
    await direct.end();
    return rows.map(({ name }) => name);
  }

  test.each([
    ['lost', null],
    ['late', 2_500],
  ])(
    'Outcome-2: a write whose COMMIT was done, and its answer %s, is 503 and stored once; it never runs again',
    async (_, lateMs) => {
      await openLog(app, owner);
      await createAll();
      await proxy.set(unansweredCommits(2, lateMs));
      const byStatus = await createAll();
      const stored = await storedNames();
      const times = (name: string) => stored.filter((each) => each === name).length - 1;
      expect(new Set([201, 503, ...byStatus.keys()]).size).toBe(2);
      expect(byStatus.get(503)).not.toBeUndefined();
      for (const name of byStatus.get(201) ?? []) expect([name, times(name)]).toEqual([name, 1]);
      for (const name of byStatus.get(503) ?? []) expect(times(name)).toBeLessThanOrEqual(1);
      expect(stored.length).toBeGreaterThan(WRITES + (byStatus.get(201)?.length ?? 0));
    },
  );

  test('Outcome-3: a deletion whose COMMIT got no answer is UNAVAILABLE, never NOT_FOUND', async () => {
    await openLog(app, owner);
    const ids = await Promise.all(
      Array.from({ length: WRITES }, async (_, at) => (await create(`Toy ${at}`)).body.id),
    );
    await proxy.set(unansweredCommits(2, null));
    const remove = 'mutation($id: ID!) { deleteToy(id: $id) { id } }';
    const answers = await Promise.all(
      ids.map((id) => graphql(app.url, remove, { token: owner.token, variables: { id: String(id) } })),
    );
    const codes = answers.map(({ body }) => body.errors?.[0].extensions.code ?? 'deleted');
    expect(codes).toContain('UNAVAILABLE');
    expect(new Set(['deleted', 'UNAVAILABLE', ...codes]).size).toBe(2);
    expect((await storedNames()).length).toBeLessThan(codes.filter((code) => code !== 'deleted').length);
  });

  test.each([
    [1205, 'innermost secret'],
    [1213, 'innermost secret'],
    [1180, "Got error 149 - 'Lock deadlock; Retry transaction' during COMMIT"],
    // From a member that stays in its group.
    [3101, 'innermost secret'],
  ])(
    'Outcome-4: a COMMIT that is rolled back with error %i is repeated, and each write is stored once',
    async (code, message) => {
      await openLog(app, owner);
      await proxy.set(refusedCommits({ count: 2, code, message, isInGroup: true }));
      const before = app.db.repeatedWrites;
      const byStatus = await createAll();
      expect([...byStatus.keys()]).toEqual([201]);
      expect(app.db.repeatedWrites - before).toBeGreaterThanOrEqual(2);
      expect(await storedNames()).toEqual(byStatus.get(201)?.sort());
    },
  );

  test.each([
    [1064, 'innermost secret'],
    // The transaction is too large, or the node has lost its primary.
    [1105, 'Maximum writeset size exceeded'],
    [1180, 'Got error 90 - innermost secret during COMMIT'],
    [3100, 'innermost secret'],
    // A member that leaves its group says so of transactions that the others may commit.
    [3101, 'innermost secret'],
  ])(
    'Outcome-5: any other error of COMMIT, such as %i, is 503, and says that the change may be stored',
    async (code, message) => {
      await proxy.set(refusedCommits({ count: 1, code, message }));
      const key = { 'idempotency-key': 'once' };
      const body = { name: 'Rex', categoryId: 1 };
      const init = { method: 'POST', token: owner.token, headers: key, body };
      const { status, body: refusal } = await rest(app.url, '/v1/toys', init);
      expect([status, refusal.message]).toEqual([
        503,
        'The database gave no answer. A change may be stored: send it again only with the same Idempotency-Key, or look first.',
      ]);
      expect((await rest(app.url, '/v1/toys', init)).status).toBe(201);
      expect(await storedNames()).toEqual(['Rex']);
    },
  );
});
