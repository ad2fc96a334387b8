import assert from 'node:assert/strict';
import { rest } from '../http-client.js';
import { literal, type Values } from '../inputs.js';
import { TEST_ACTOR, type Tenant } from '../tested-app.js';
import { bulkRequests } from './bulk-requests.js';
import type { Suite } from './suite.js';

/** Fewer than a body may have. */
const BODY_CHARACTERS = 90_000;
const BODY_VALUES = 4_500;
/** Of literals in a document. */
const MOST_TOKENS = 1_800;

export const bulkCosts: Suite = ({ noun, app, fresh, test, beforeEach }) => {
  const { create: createOne, createAll, newInput } = noun.names;
  const freshly = (count: number) => Array.from({ length: count }, fresh);
  const literals = (inputs: readonly Values[]) => `[${inputs.map((input) => literal(noun, input))}]`;

  let owner: Tenant;
  beforeEach(async () => {
    owner = await app().tenant();
  });
  const { CREATE, numbered, send, create, stored } = bulkRequests({ noun, app }, () => owner);
  const standing = async () => (await rest(app().url, '/v1/rate_limit', owner)).body;
  const spentBy = async (act: () => Promise<unknown>) => {
    const before = (await standing()).day.remaining;
    await act();
    return before - (await standing()).day.remaining;
  };

  const costs = [
    [1, 1],
    [10, 1],
    [11, 2],
    [99, 10],
    [100, 10],
  ] as const;
  const costsAsIs = async (count: number, units: number) => {
    const list = () => literals(freshly(count));
    const names = Array.from({ length: count }, (_, at) => `i${at}`);
    const written = (): [query: string][] => [
      [`mutation { ${createAll}(inputs: ${list()}) { id } }`],
      [`mutation($inputs: [${newInput}!]! = ${list()}) { ${createAll}(inputs: $inputs) { id } }`],
      // Each object inherits a property of this name.
      [`mutation($constructor: [${newInput}!]! = ${list()}) { ${createAll}(inputs: $constructor) { id } }`],
    ];
    // Otherwise the document has more tokens than the gateway reads.
    const areShort = count * (3 * Object.keys(noun.input(0)).length + 2) < MOST_TOKENS;
    const ways: [query: string, variables?: Values][] = [
      [CREATE, { inputs: freshly(count) }],
      ...(areShort ? written() : []),
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
        assert.deepEqual(
          Object.values(body.data).map((made) => (made as unknown[]).length),
          [count],
        );
      });
      assert.deepEqual([query.slice(0, 60), spent], [query.slice(0, 60), units]);
    }
  };
  for (const [count, units] of costs) {
    test(`CreateMany-4: ${count} records cost ${units}, however they are written`, () =>
      costsAsIs(count, units));
  }

  test('CreateMany-5: aliases add up, a record that is no list is one, and a field that is left out costs nothing', async () => {
    const one = () => literal(noun, fresh());
    assert.equal(await spentBy(() => send(`mutation { ${createAll}(inputs: ${one()}) { id } }`)), 1);
    assert.equal(await spentBy(() => create(fresh())), 1);
    const aliases = `mutation($v: [${newInput}!]!, $w: [${newInput}!]!) { a: ${createAll}(inputs: $v) { id } b: ${createAll}(inputs: $w) { id } }`;
    assert.equal(await spentBy(() => send(aliases, { v: freshly(11), w: freshly(11) })), 4);
    const skipped = `mutation($v: [${newInput}!]!, $no: Boolean!) { a: ${createAll}(inputs: $v) @include(if: $no) { id } ${createOne}(input: ${one()}) { id } }`;
    assert.equal(await spentBy(() => send(skipped, { v: numbered(100), no: false })), 1);
    assert.equal(await stored(), 1 + 1 + 22 + 1);
  });

  const characters = JSON.stringify(noun.input(0)).length;
  // A list is a value beside its entries.
  const sizes = Object.values(noun.input(0)).map((value) => (Array.isArray(value) ? 1 + value.length : 1));
  const values = sizes.reduce((sum, size) => sum + size, 1);
  const longList = Math.floor(Math.min(BODY_CHARACTERS / characters, BODY_VALUES / values, 1_200));
  for (const count of [0, 101, longList]) {
    test(`CreateMany-6: a list of ${count} is refused before anything is executed, and costs one unit`, async () => {
      const inputs = Array(count).fill(noun.input(0));
      const one = literal(noun, noun.input(1));
      const beside = `mutation($inputs: [${newInput}!]!) { ${createOne}(input: ${one}) { id } ${createAll}(inputs: $inputs) { id } }`;
      for (const query of [CREATE, beside]) {
        const spent = await spentBy(async () => {
          const { status, body } = await send(query, { inputs });
          assert.deepEqual([status, body.data], [400, undefined]);
          assert.deepEqual(body.errors[0].extensions, {
            code: 'INVALID_REQUEST',
            status: 400,
            errors: [{ field: 'inputs', message: `must have 1 to 100 entries, not ${count}` }],
          });
        });
        assert.equal(spent, 1);
      }
      assert.equal(await stored(), 0);
    });
  }

  test('CreateMany-7: with too little quota left the request is refused whole, and spends nothing', async () => {
    const quota = { plan: 'ENTERPRISE', perMinute: 15, perDay: 1_000 } as const;
    await app().app.services.projects.change(TEST_ACTOR, owner.slug, quota);
    assert.equal((await create(numbered(100))).status, 200);
    const { status, body } = await create(numbered(60));
    assert.deepEqual([status, body.errors[0].extensions.code], [429, 'RATE_LIMITED_MINUTE']);
    assert.equal(await stored(), 100);
    assert.equal((await standing()).minute.remaining, 5);
  });

  test('CreateMany-8: a request that the quota can never pay is refused in words, not asked to wait', async () => {
    const quota = { plan: 'ENTERPRISE', perMinute: 9, perDay: 1_000 } as const;
    await app().app.services.projects.change(TEST_ACTOR, owner.slug, quota);
    const { status, headers, body } = await create(numbered(100));
    assert.deepEqual([status, body.errors[0].extensions.code], [400, 'INVALID_REQUEST']);
    assert.match(body.errors[0].message, /costs 10 units; the quota has 9/);
    assert.equal(headers.get('retry-after'), null);
    assert.equal((await create(numbered(90))).status, 429);
    assert.equal((await standing()).minute.remaining, 8);
  });
};
