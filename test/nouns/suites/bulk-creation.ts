import { beforeEach, expect, test } from '@jest/globals';
import { IdempotencyKey } from '../../../src/tenants/idempotency/idempotency-key.entity.js';
import { graphql, rest } from '../../support/http/client.js';
import { int64Values, literal, requiredText, type Values } from '../../support/nouns/test-noun.js';
import { TEST_ACTOR, type Tenant } from '../../support/start-app.js';
import type { Suite } from '../suites.js';

export const bulkCreation: Suite = (noun, names, app, fresh) => {
  const { create: createOne, createAll, newInput, fields } = names;
  const CREATE = `mutation($inputs: [${newInput}!]!) { it: ${createAll}(inputs: $inputs) { ${fields} } }`;
  const text = requiredText(noun);
  const numbered = (count: number) => Array.from({ length: count }, (_, at) => noun.input(at));
  const freshly = (count: number) => Array.from({ length: count }, fresh);
  const literals = (inputs: readonly Values[]) => `[${inputs.map((input) => literal(noun, input))}]`;

  let owner: Tenant;
  beforeEach(async () => {
    owner = await app().tenant();
  });
  const send = (query: string, variables: Values = {}, headers = {}, { token } = owner) =>
    graphql(app().url, query, { token, variables, headers });
  const create = (inputs: unknown, key?: string, by?: Tenant) =>
    send(CREATE, { inputs }, key === undefined ? {} : { 'idempotency-key': key }, by);
  const stored = async ({ projectId } = owner) => {
    const sql = `SELECT COUNT(*) AS rows_found FROM ${names.table} WHERE project_id = ${projectId}`;
    const [row] = await app().db.repository(IdempotencyKey).query(sql);
    return Number(row.rows_found);
  };
  const standing = async () => (await rest(app().url, '/v1/rate_limit', owner)).body;
  const spentBy = async (act: () => Promise<unknown>) => {
    const before = (await standing()).day.remaining;
    await act();
    return before - (await standing()).day.remaining;
  };

  test('Creation-10: 100 records are created, and come back in the order of the inputs with exact values', async () => {
    const { filter } = noun;
    const integers = int64Values(noun);
    const inputs = numbered(100).map((input, at) => ({
      ...input,
      ...integers[at % integers.length],
      [filter.field]: filter.values[at % 2],
    }));
    const { body } = await create(inputs);
    expect(body.data.it).toHaveLength(100);
    expect(body.data.it).toMatchObject(inputs);
    const list = await send(`{ it: ${names.list}(first: 100) { nodes { ${fields} } } }`);
    expect(list.body.data.it.nodes).toEqual(body.data.it);
  });

  test('CreateMany-2: one invalid record of 100 stores none, and is named', async () => {
    const inputs: Values[] = numbered(100);
    const [int64] = noun.description.fields.filter(({ kind }) => kind === 'int64');
    inputs[17] = { ...inputs[17], [text.name]: '  ', ...(int64 && { [int64.name]: 'three' }) };
    inputs[99] = { ...inputs[99], [text.name]: 'x'.repeat(text.maxLength + 1) };
    const { status, body } = await create(inputs, 'invalid');
    expect([status, body.data, body.errors[0].extensions.code]).toEqual([200, null, 'INVALID_REQUEST']);
    const named = body.errors[0].extensions.errors.map(({ field }: { field: string }) => field);
    const wrong = [`17.${text.name}`, ...(int64 ? [`17.${int64.name}`] : []), `99.${text.name}`];
    expect(named.sort()).toEqual(wrong.map((field) => `inputs.${field}`).sort());
    expect(await stored()).toBe(0);
    // The key stays free for the corrected inputs.
    expect((await create(numbered(100), 'invalid')).body.data.it).toHaveLength(100);
  });

  const differences: Values[] = [
    ...noun.invalid.map(([difference]) => difference),
    { [noun.filter.field]: null },
    { [noun.filter.field]: 'no-such-choice' },
    { [text.name]: null },
    { unknown: 1 },
    {},
  ];
  test.each(differences.map((difference) => [difference]))(
    'CreateMany-3: %j is judged as by the creation of one',
    async (difference) => {
      const input = { ...noun.input(0), ...difference };
      const selected = noun.description.fields.map(({ name }) => name).join(' ');
      const query = `mutation($input: ${newInput}!) { it: ${createOne}(input: $input) { ${selected} } }`;
      const one = (await send(query, { input })).body;
      const all = `mutation($inputs: [${newInput}!]!) { it: ${createAll}(inputs: $inputs) { ${selected} } }`;
      // Another project, because a value of the first one may be unique.
      const many = (await send(all, { inputs: [input] }, {}, await app().tenant())).body;
      const codes = (body: typeof one) => body.errors?.map((error: typeof one) => error.extensions.code);
      const problems = (body: typeof one) => body.errors?.[0].extensions.errors;
      expect(codes(many)).toEqual(codes(one));
      expect(problems(many)).toEqual(
        problems(one)?.map(({ field, message }: { field: string; message: string }) => ({
          field: `inputs.0.${field}`,
          message,
        })),
      );
      expect(many.data?.it?.[0]).toEqual(one.data?.it ?? undefined);
    },
  );

  test.each([
    [1, 1],
    [10, 1],
    [11, 2],
    [99, 10],
    [100, 10],
  ])('CreateMany-4: %d records cost %d, however they are written', async (count, units) => {
    const list = () => literals(freshly(count));
    const names = Array.from({ length: count }, (_, at) => `i${at}`);
    const ways: [query: string, variables?: Values][] = [
      [CREATE, { inputs: freshly(count) }],
      [`mutation { ${createAll}(inputs: ${list()}) { id } }`],
      [`mutation($inputs: [${newInput}!]! = ${list()}) { ${createAll}(inputs: $inputs) { id } }`],
      // Each object inherits a property of this name.
      [`mutation($constructor: [${newInput}!]! = ${list()}) { ${createAll}(inputs: $constructor) { id } }`],
      [
        `mutation($v: [${newInput}!]!) { ...F } fragment F on Mutation { ${createAll}(inputs: $v) { id } }`,
        { v: freshly(count) },
      ],
      [
        `mutation($v: [${newInput}!]!) { ... { it: ${createAll}(inputs: $v) { id } } }`,
        { v: freshly(count) },
      ],
      [
        `mutation(${names.map((name) => `$${name}: ${newInput}!`)}) { ${createAll}(inputs: [${names.map((name) => `$${name}`)}]) { id } }`,
        Object.fromEntries(names.map((name) => [name, fresh()])),
      ],
    ];
    for (const [query, variables] of ways) {
      const spent = await spentBy(async () => {
        const { body } = await send(query, variables);
        expect(Object.values(body.data).map((made) => (made as unknown[]).length)).toEqual([count]);
      });
      expect([query.slice(0, 60), spent]).toEqual([query.slice(0, 60), units]);
    }
  });

  test('CreateMany-5: aliases add up, a record that is no list is one, and a field that is left out costs nothing', async () => {
    const one = () => literal(noun, fresh());
    expect(await spentBy(() => send(`mutation { ${createAll}(inputs: ${one()}) { id } }`))).toBe(1);
    expect(await spentBy(() => create(fresh()))).toBe(1);
    const aliases = `mutation($v: [${newInput}!]!, $w: [${newInput}!]!) { a: ${createAll}(inputs: $v) { id } b: ${createAll}(inputs: $w) { id } }`;
    expect(await spentBy(() => send(aliases, { v: freshly(11), w: freshly(11) }))).toBe(4);
    const skipped = `mutation($v: [${newInput}!]!, $no: Boolean!) { a: ${createAll}(inputs: $v) @include(if: $no) { id } ${createOne}(input: ${one()}) { id } }`;
    expect(await spentBy(() => send(skipped, { v: numbered(100), no: false }))).toBe(1);
    expect(await stored()).toBe(1 + 1 + 22 + 1);
  });

  test.each([0, 101, 1_200])(
    'CreateMany-6: a list of %d is refused before anything is executed, and costs one unit',
    async (count) => {
      const inputs = Array(count).fill(noun.input(0));
      const one = literal(noun, noun.input(1));
      const beside = `mutation($inputs: [${newInput}!]!) { ${createOne}(input: ${one}) { id } ${createAll}(inputs: $inputs) { id } }`;
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
      expect(await stored()).toBe(0);
    },
  );

  test('CreateMany-7: with too little quota left the request is refused whole, and spends nothing', async () => {
    const quota = { plan: 'ENTERPRISE', perMinute: 15, perDay: 1_000 } as const;
    await app().app.services.projects.change(TEST_ACTOR, owner.slug, quota);
    expect((await create(numbered(100))).status).toBe(200);
    const { status, body } = await create(numbered(60));
    expect([status, body.errors[0].extensions.code]).toEqual([429, 'RATE_LIMITED_MINUTE']);
    expect(await stored()).toBe(100);
    expect((await standing()).minute.remaining).toBe(5);
  });

  test('CreateMany-8: a request that the quota can never pay is refused in words, not asked to wait', async () => {
    const quota = { plan: 'ENTERPRISE', perMinute: 9, perDay: 1_000 } as const;
    await app().app.services.projects.change(TEST_ACTOR, owner.slug, quota);
    const { status, headers, body } = await create(numbered(100));
    expect([status, body.errors[0].extensions.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(body.errors[0].message).toMatch(/costs 10 units; the quota has 9/);
    expect(headers.get('retry-after')).toBeNull();
    expect((await create(numbered(90))).status).toBe(429);
    expect((await standing()).minute.remaining).toBe(8);
  });

  test('CreateMany-9: a repeated Idempotency-Key returns the first answer and creates nothing; another list is 422', async () => {
    // The texts alone are more than a column of text holds.
    const long = (at: number) => `${'😀'.repeat(text.maxLength - 2)}${at}`;
    const inputs = numbered(90).map((input, at) => ({ ...input, [text.name]: long(at) }));
    const first = await create(inputs, 'k');
    expect(first.body.data.it).toHaveLength(90);
    expect((await create(inputs, 'k')).text).toBe(first.text);
    for (const other of [
      inputs.slice(1),
      [...inputs].reverse().with(0, { ...noun.input(95), [text.name]: long(95) }),
    ]) {
      expect((await create(other, 'k')).body.errors[0].extensions.code).toBe('IDEMPOTENCY_MISMATCH');
    }
    const one = `mutation { ${createOne}(input: ${literal(noun, noun.input(0))}) { id } }`;
    const { body } = await send(one, {}, { 'idempotency-key': 'k' });
    expect(body.errors[0].extensions.code).toBe('IDEMPOTENCY_MISMATCH');
    expect(await stored()).toBe(90);
    const other = await app().tenant();
    expect((await create(inputs, 'k', other)).text).not.toBe(first.text);
    expect(await stored(other)).toBe(90);
    const [row] = await app().db.repository(IdempotencyKey).findBy({ projectId: owner.projectId });
    expect(row?.result?.length).toBeLessThan(2_100);
  });

  test('CreateMany-10: of equal requests at the same time, one creates', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(numbered(50), 'same')));
    expect(await stored()).toBe(50);
    const codes = answers.flatMap(
      ({ body }) => body.errors?.map((error: typeof body) => error.extensions.code) ?? [],
    );
    expect(codes.filter((code) => code !== 'CONFLICT')).toEqual([]);
    const texts = new Set(answers.filter(({ body }) => body.data).map((answer) => answer.text));
    expect(texts.size).toBe(1);
  });

  test('CreateMany-14: it needs the scope to write, not that to read, and changes the lists that are cached', async () => {
    const reader = await app().tenant({ scopes: [names.readScope] });
    expect((await create(numbered(2), undefined, reader)).body.errors[0].extensions.code).toBe('FORBIDDEN');
    expect(await stored(reader)).toBe(0);
    const writer = await app().tenant({ scopes: [names.writeScope] });
    expect((await create(numbered(2), undefined, writer)).body.data.it).toHaveLength(2);
    const list = async () => (await rest(app().url, names.path, owner)).body.length;
    for (let times = 0; times < 3; times += 1) expect(await list()).toBe(0);
    await create(numbered(7));
    expect(await list()).toBe(7);
  });
};
