import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { IdempotencyKey } from '../../src/tenants/idempotency/idempotency-key.entity.js';
import { databaseKinds } from '../support/databases.js';
import { graphql } from '../support/http/client.js';
import { Toy } from '../support/nouns/toys.js';
import { startApp, type Tenant, type TestApp } from '../support/start-app.js';

const CREATE =
  'mutation($inputs: [NewToy!]!) { createToys(inputs: $inputs) { id name categoryId status createdAt } }';
const LOCK_MS = 10_000;

interface Input {
  name: string;
  categoryId: string;
  status?: string | null;
}

const numbered = (count: number): Input[] =>
  Array.from({ length: count }, (_, at) => ({ name: `Toy ${at}`, categoryId: '1' }));

describe.each(databaseKinds())('on %s', (kind) => {
  let app: TestApp;
  let owner: Tenant;
  const statements: string[] = [];
  beforeAll(async () => {
    app = await startApp({ kind, onQuery: (sql) => statements.push(sql) });
  });
  beforeEach(async () => {
    owner = await app.tenant();
  });
  afterAll(() => app.stop());

  const send = (query: string, variables: Record<string, unknown> = {}, headers = {}, { token } = owner) =>
    graphql(app.url, query, { token, variables, headers });
  const create = (inputs: unknown, key?: string, by?: Tenant) =>
    send(CREATE, { inputs }, key === undefined ? {} : { 'idempotency-key': key }, by);
  const stored = ({ projectId } = owner) =>
    app.db.repository(Toy).find({ where: { projectId }, order: { id: 'ASC' } });

  test('CreateMany-1: 100 toys are stored by one statement, and come back in their order with exact ids', async () => {
    const inputs = numbered(100).map((toy, at) => ({
      ...toy,
      categoryId: at === 0 ? '9223372036854775807' : at === 1 ? '-9223372036854775808' : `${at}`,
      status: [null, 'sold', 'pending'][at % 3] ?? null,
    }));
    statements.length = 0;
    const { body } = await create(inputs);
    expect(statements.filter((sql) => /INSERT INTO .toys/.test(sql))).toHaveLength(1);
    expect(statements.filter((sql) => /SELECT.* FROM .toys/.test(sql))).toEqual([]);
    const toys = await stored();
    expect(body.data.createToys).toEqual(
      toys.map(({ id, createdAtMs }, at) => ({
        ...inputs[at],
        id: `${id}`,
        createdAt: new Date(createdAtMs).toISOString(),
      })),
    );
  });

  test('CreateMany-11: after an attempt that died before its commit, the next one creates all of them', async () => {
    const { text } = await create(numbered(20), 'died');
    const { projectId } = owner;
    await app.db.repository(Toy).delete({ projectId });
    const row = { projectId, keyDigest: createHash('sha256').update('died').digest('hex') };
    await app.db.repository(IdempotencyKey).update(row, { result: null, lockedUntilMs: app.clock.now - 1 });
    const again = await create(numbered(20), 'died');
    expect(again.body.data.createToys).toHaveLength(20);
    expect(again.text).not.toBe(text);
    expect(await stored()).toHaveLength(20);
  });

  test('CreateMany-15: the answer is stored in the transaction of the toys, so that a crash leaves both or neither', async () => {
    statements.length = 0;
    await create(numbered(2), 'together');
    const insert = statements.findIndex((sql) => /INSERT INTO .?toys/.test(sql));
    const behind = statements.slice(insert);
    const answer = behind.findIndex((sql) => /UPDATE .?idempotency_keys/.test(sql));
    expect(answer).toBeGreaterThan(0);
    expect(behind.findIndex((sql) => /^COMMIT/.test(sql))).toBeGreaterThan(answer);
  });

  test('CreateMany-12: an attempt whose lock ended stores nothing when another one has taken over', async () => {
    const caller = {
      ...owner,
      quota: { perMinute: 1, perDay: 1 },
      scopes: new Set<never>(),
      rehearses: false,
      changesSinceMs: null,
    };
    const { idempotency } = app.app.services;
    const toys = numbered(3).map(({ name }) => ({ name, categoryId: 1n, status: null }));
    const attempt = {
      caller,
      key: { text: 'slow', onReplay: () => {} },
      operation: 'createToys',
      input: toys.flatMap(({ name, categoryId, status }) => [name, categoryId, status]),
    };
    const slow = idempotency.once<Toy[]>(
      attempt,
      async (complete) => {
        const id = app.app.services.ids.next();
        app.clock.now += LOCK_MS + 1;
        expect((await create(numbered(3), 'slow')).body.data.createToys).toHaveLength(3);
        await app.db.transaction(async (manager) => {
          await manager.insert(Toy, { ...toys[0], projectId: owner.projectId, id, createdAtMs: 0 } as Toy);
          await complete?.(manager, []);
        });
        return [];
      },
      { write: String, read: () => [] },
    );
    await expect(slow).rejects.toMatchObject({ code: 'conflict' });
    expect(await stored()).toHaveLength(3);
    expect((await create(numbered(3), 'slow')).body.data.createToys).toHaveLength(3);
    expect(await stored()).toHaveLength(3);
  });

  test('CreateMany-13: a taken id draws all ids again, and stores each toy once', async () => {
    const { ids } = app.app.services;
    const { projectId } = owner;
    let first = ids.next();
    // From there on the ids of this millisecond follow each other.
    while (first % 4_096n < 2_048n) first = ids.next();
    const taken = Array.from({ length: 3 }, (_, at) => ({
      ...{ projectId, id: first + BigInt(at * 40 + 1), name: 'taken' },
      ...{ categoryId: 1n, status: null, createdAtMs: 0 },
    }));
    await app.db.repository(Toy).insert(taken);
    const [plain, withKey] = [await create(numbered(100)), await create(numbered(100), 'taken')];
    expect(plain.body.errors ?? withKey.body.errors).toBeUndefined();
    const toys = (await stored()).filter(({ name }) => name !== 'taken');
    const answered = [...plain.body.data.createToys, ...withKey.body.data.createToys];
    expect(plain.body.data.createToys[0].id).not.toBe(`${first + 1n}`);
    expect(toys.map(({ id }) => `${id}`)).toEqual(answered.map(({ id }: { id: string }) => id));
  });
});
