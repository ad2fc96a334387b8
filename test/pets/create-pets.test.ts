import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Pet } from '../../src/pets/pet.entity.js';
import { IdempotencyKey } from '../../src/tenants/idempotency/idempotency-key.entity.js';
import { databaseKinds } from '../support/databases.js';
import { graphql, rest } from '../support/http/client.js';
import { startApp, TEST_ACTOR, type Tenant, type TestApp } from '../support/start-app.js';

const CREATE =
  'mutation($inputs: [NewPet!]!) { createPets(inputs: $inputs) { id name categoryId status createdAt } }';
const LOCK_MS = 10_000;

interface Input {
  name: string;
  categoryId: string;
  status?: string | null;
}

const numbered = (count: number): Input[] =>
  Array.from({ length: count }, (_, at) => ({ name: `Pet ${at}`, categoryId: '1' }));
const written = (count: number) =>
  `[${numbered(count).map(({ name }) => `{name: "${name}", categoryId: 1}`)}]`;

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
    app.db.repository(Pet).find({ where: { projectId }, order: { id: 'ASC' } });
  const spentBy = async (act: () => Promise<unknown>) => {
    const left = async () => (await rest(app.url, '/v1/rate_limit', owner)).body.day.remaining as number;
    const before = await left();
    await act();
    return before - (await left());
  };

  test('CreatePets-1: 100 pets are stored by one statement, and come back in their order with exact ids', async () => {
    const inputs = numbered(100).map((pet, at) => ({
      ...pet,
      categoryId: at === 0 ? '9223372036854775807' : at === 1 ? '-9223372036854775808' : `${at}`,
      status: [null, 'sold', 'pending'][at % 3] ?? null,
    }));
    statements.length = 0;
    const { body } = await create(inputs);
    expect(statements.filter((sql) => /INSERT INTO .pets/.test(sql))).toHaveLength(1);
    expect(statements.filter((sql) => /SELECT.* FROM .pets/.test(sql))).toEqual([]);
    const pets = await stored();
    expect(body.data.createPets).toEqual(
      pets.map(({ id, createdAtMs }, at) => ({
        ...inputs[at],
        id: `${id}`,
        createdAt: new Date(createdAtMs).toISOString(),
      })),
    );
  });

  test('CreatePets-2: one invalid pet of 100 stores none, and is named', async () => {
    const inputs = numbered(100);
    inputs[17] = { name: '  ', categoryId: 'three' };
    inputs[99] = { name: 'x'.repeat(256), categoryId: '1' };
    const { status, body } = await create(inputs, 'invalid');
    expect([status, body.data, body.errors[0].extensions.code]).toEqual([200, null, 'INVALID_REQUEST']);
    expect(body.errors[0].extensions.errors.map(({ field }: { field: string }) => field)).toEqual([
      'inputs.17.name',
      'inputs.17.categoryId',
      'inputs.99.name',
    ]);
    expect(await stored()).toEqual([]);
    // The key stays free for the corrected pets.
    expect((await create(numbered(100), 'invalid')).body.data.createPets).toHaveLength(100);
  });

  test.each([
    { name: '' },
    { name: '\0' },
    { name: '\ud800' },
    { categoryId: '9223372036854775808' },
    { categoryId: '1.5' },
    { status: null },
    { status: 'asleep' },
    { name: null },
    { unknown: 1 },
  ])('CreatePets-3: %j is judged as by createPet', async (difference) => {
    const input = { name: 'Rex', categoryId: '1', ...difference };
    const one = (
      await send('mutation($input: NewPet!) { createPet(input: $input) { name status } }', { input })
    ).body;
    const many = (
      await send('mutation($inputs: [NewPet!]!) { createPets(inputs: $inputs) { name status } }', {
        inputs: [input],
      })
    ).body;
    const codes = (body: typeof one) => body.errors?.map((error: typeof one) => error.extensions.code);
    const problems = (body: typeof one) => body.errors?.[0].extensions.errors;
    expect(codes(many)).toEqual(codes(one));
    expect(problems(many)).toEqual(
      problems(one)?.map(({ field, message }: { field: string; message: string }) => ({
        field: `inputs.0.${field}`,
        message,
      })),
    );
    expect(many.data?.createPets?.[0]).toEqual(one.data?.createPet ?? undefined);
  });

  test.each([
    [1, 1],
    [10, 1],
    [11, 2],
    [99, 10],
    [100, 10],
  ])('CreatePets-4: %d pets cost %d, however they are written', async (count, units) => {
    const inputs = numbered(count);
    const list = written(count);
    const ways: [query: string, variables?: object][] = [
      [CREATE, { inputs }],
      [`mutation { createPets(inputs: ${list}) { id } }`],
      [`mutation($inputs: [NewPet!]! = ${list}) { createPets(inputs: $inputs) { id } }`],
      // Each object inherits a property of this name.
      [`mutation($constructor: [NewPet!]! = ${list}) { createPets(inputs: $constructor) { id } }`],
      [
        'mutation($v: [NewPet!]!) { ...F } fragment F on Mutation { createPets(inputs: $v) { id } }',
        { v: inputs },
      ],
      ['mutation($v: [NewPet!]!) { ... { it: createPets(inputs: $v) { id } } }', { v: inputs }],
      [
        `mutation($i0: NewPet!) { createPets(inputs: [${Array(count).fill('$i0')}]) { id } }`,
        { i0: inputs[0] },
      ],
    ];
    for (const [query, variables = {}] of ways) {
      const spent = await spentBy(async () => {
        const { body } = await send(query, variables as Record<string, unknown>);
        expect(Object.values(body.data).map((pets) => (pets as unknown[]).length)).toEqual([count]);
      });
      expect([query.slice(0, 60), spent]).toEqual([query.slice(0, 60), units]);
    }
  });

  test('CreatePets-5: aliases add up, a pet that is no list is one, and a field that is left out costs nothing', async () => {
    const one = '{name: "Rex", categoryId: 1}';
    expect(await spentBy(() => send(`mutation { createPets(inputs: ${one}) { id } }`))).toBe(1);
    expect(await spentBy(() => create(numbered(1)[0]))).toBe(1);
    const aliases =
      'mutation($v: [NewPet!]!) { a: createPets(inputs: $v) { id } b: createPets(inputs: $v) { id } }';
    expect(await spentBy(() => send(aliases, { v: numbered(11) }))).toBe(4);
    const skipped = `mutation($v: [NewPet!]!, $no: Boolean!) { a: createPets(inputs: $v) @include(if: $no) { id } createPet(input: ${one}) { id } }`;
    expect(await spentBy(() => send(skipped, { v: numbered(100), no: false }))).toBe(1);
    expect(await stored()).toHaveLength(1 + 1 + 22 + 1);
  });

  test.each([0, 101, 1_200])(
    'CreatePets-6: a list of %d is refused before anything is executed, and costs one unit',
    async (count) => {
      const inputs = Array(count).fill({ name: 'R', categoryId: '1' });
      const beside =
        'mutation($inputs: [NewPet!]!) { createPet(input: {name: "x", categoryId: 1}) { id } createPets(inputs: $inputs) { id } }';
      for (const query of [CREATE, beside]) {
        const spent = await spentBy(async () => {
          const { status, body } = await send(query, { inputs });
          expect([status, body.data]).toEqual([400, undefined]);
          expect(body.errors[0].extensions).toEqual({
            code: 'INVALID_REQUEST',
            status: 400,
            errors: [{ field: 'inputs', message: `must have 1 to 100 entries, not ${count}` }],
          });
        });
        expect(spent).toBe(1);
      }
      expect(await stored()).toEqual([]);
    },
  );

  test('CreatePets-7: with too little quota left the request is refused whole, and spends nothing', async () => {
    const quota = { plan: 'ENTERPRISE', perMinute: 15, perDay: 1_000 } as const;
    await app.app.services.projects.change(TEST_ACTOR, owner.slug, quota);
    expect((await create(numbered(100))).status).toBe(200);
    const { status, body } = await create(numbered(60));
    expect([status, body.errors[0].extensions.code]).toEqual([429, 'RATE_LIMITED_MINUTE']);
    expect(await stored()).toHaveLength(100);
    expect((await rest(app.url, '/v1/rate_limit', owner)).body.minute.remaining).toBe(5);
  });

  test('CreatePets-8: a request that the quota can never pay is refused in words, not asked to wait', async () => {
    const quota = { plan: 'ENTERPRISE', perMinute: 9, perDay: 1_000 } as const;
    await app.app.services.projects.change(TEST_ACTOR, owner.slug, quota);
    const { status, headers, body } = await create(numbered(100));
    expect([status, body.errors[0].extensions.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(body.errors[0].message).toMatch(/costs 10 units; the quota has 9/);
    expect(headers.get('retry-after')).toBeNull();
    expect((await create(numbered(90))).status).toBe(429);
    expect((await rest(app.url, '/v1/rate_limit', owner)).body.minute.remaining).toBe(8);
  });

  test('CreatePets-9: a repeated Idempotency-Key returns the first answer and creates nothing; another list is 422', async () => {
    // The names alone are more than a column of text holds.
    const inputs = numbered(90).map(({ categoryId }) => ({ name: '😀'.repeat(255), categoryId }));
    const first = await create(inputs, 'k');
    expect(first.body.data.createPets).toHaveLength(90);
    expect((await create(inputs, 'k')).text).toBe(first.text);
    for (const other of [inputs.slice(1), [...inputs].reverse().with(0, numbered(1)[0] as Input)]) {
      expect((await create(other, 'k')).body.errors[0].extensions.code).toBe('IDEMPOTENCY_MISMATCH');
    }
    const one = 'mutation { createPet(input: {name: "x", categoryId: 1}) { id } }';
    const { body } = await send(one, {}, { 'idempotency-key': 'k' });
    expect(body.errors[0].extensions.code).toBe('IDEMPOTENCY_MISMATCH');
    expect(await stored()).toHaveLength(90);
    const other = await app.tenant();
    expect((await create(inputs, 'k', other)).text).not.toBe(first.text);
    expect(await stored(other)).toHaveLength(90);
    const [row] = await app.db.repository(IdempotencyKey).findBy({ projectId: owner.projectId });
    expect(row?.result?.length).toBeLessThan(2_100);
  });

  test('CreatePets-10: of equal requests at the same time, one creates', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(numbered(50), 'same')));
    expect(await stored()).toHaveLength(50);
    const codes = answers.flatMap(
      ({ body }) => body.errors?.map((e: typeof body) => e.extensions.code) ?? [],
    );
    expect(codes.filter((code) => code !== 'CONFLICT')).toEqual([]);
    const texts = new Set(answers.filter(({ body }) => body.data).map(({ text }) => text));
    expect(texts.size).toBe(1);
  });

  test('CreatePets-11: after an attempt that died before its commit, the next one creates all of them', async () => {
    const { text } = await create(numbered(20), 'died');
    const { projectId } = owner;
    await app.db.repository(Pet).delete({ projectId });
    const row = { projectId, keyDigest: createHash('sha256').update('died').digest('hex') };
    await app.db.repository(IdempotencyKey).update(row, { result: null, lockedUntilMs: app.clock.now - 1 });
    const again = await create(numbered(20), 'died');
    expect(again.body.data.createPets).toHaveLength(20);
    expect(again.text).not.toBe(text);
    expect(await stored()).toHaveLength(20);
  });

  test('CreatePets-15: the answer is stored in the transaction of the pets, so that a crash leaves both or neither', async () => {
    statements.length = 0;
    await create(numbered(2), 'together');
    const insert = statements.findIndex((sql) => /INSERT INTO .?pets/.test(sql));
    const behind = statements.slice(insert);
    const answer = behind.findIndex((sql) => /UPDATE .?idempotency_keys/.test(sql));
    expect(answer).toBeGreaterThan(0);
    expect(behind.findIndex((sql) => /^COMMIT/.test(sql))).toBeGreaterThan(answer);
  });

  test('CreatePets-12: an attempt whose lock ended stores nothing when another one has taken over', async () => {
    const caller = {
      ...owner,
      quota: { perMinute: 1, perDay: 1 },
      scopes: new Set<never>(),
      rehearses: false,
    };
    const { idempotency } = app.app.services;
    const pets = numbered(3).map(({ name }) => ({ name, categoryId: 1n, status: null }));
    const attempt = {
      caller,
      key: { text: 'slow', onReplay: () => {} },
      operation: 'createPets',
      input: pets.flatMap(({ name, categoryId, status }) => [name, categoryId, status]),
    };
    const slow = idempotency.once<Pet[]>(
      attempt,
      async (complete) => {
        const id = app.app.services.ids.next();
        app.clock.now += LOCK_MS + 1;
        expect((await create(numbered(3), 'slow')).body.data.createPets).toHaveLength(3);
        await app.db.transaction(async (manager) => {
          await manager.insert(Pet, { ...pets[0], projectId: owner.projectId, id, createdAtMs: 0 } as Pet);
          await complete?.(manager, []);
        });
        return [];
      },
      { write: String, read: () => [] },
    );
    await expect(slow).rejects.toMatchObject({ code: 'conflict' });
    expect(await stored()).toHaveLength(3);
    expect((await create(numbered(3), 'slow')).body.data.createPets).toHaveLength(3);
    expect(await stored()).toHaveLength(3);
  });

  test('CreatePets-13: a taken id draws all ids again, and stores each pet once', async () => {
    const { ids } = app.app.services;
    const { projectId } = owner;
    let first = ids.next();
    // From there on the ids of this millisecond follow each other.
    while (first % 4_096n < 2_048n) first = ids.next();
    const taken = Array.from({ length: 3 }, (_, at) => ({
      ...{ projectId, id: first + BigInt(at * 40 + 1), name: 'taken' },
      ...{ categoryId: 1n, status: null, createdAtMs: 0 },
    }));
    await app.db.repository(Pet).insert(taken);
    const [plain, withKey] = [await create(numbered(100)), await create(numbered(100), 'taken')];
    expect(plain.body.errors ?? withKey.body.errors).toBeUndefined();
    const pets = (await stored()).filter(({ name }) => name !== 'taken');
    const answered = [...plain.body.data.createPets, ...withKey.body.data.createPets];
    expect(plain.body.data.createPets[0].id).not.toBe(`${first + 1n}`);
    expect(pets.map(({ id }) => `${id}`)).toEqual(answered.map(({ id }: { id: string }) => id));
  });

  test('CreatePets-14: it needs pets:write, not pets:read, and changes the lists that are cached', async () => {
    const reader = await app.tenant({ scopes: ['pets:read'] });
    expect((await create(numbered(2), undefined, reader)).body.errors[0].extensions.code).toBe('FORBIDDEN');
    expect(await stored(reader)).toEqual([]);
    const writer = await app.tenant({ scopes: ['pets:write'] });
    expect((await create(numbered(2), undefined, writer)).body.data.createPets).toHaveLength(2);
    const list = async () => (await rest(app.url, '/v1/pets', owner)).body.length;
    for (let times = 0; times < 3; times += 1) expect(await list()).toBe(0);
    await create(numbered(7));
    expect(await list()).toBe(7);
  });
});
