import assert from 'node:assert/strict';
import { assertContains } from '../assertions.js';
import { graphql, rest } from '../http-client.js';
import { literal, restBody } from '../inputs.js';
import { accepted } from '../noun-doors.js';
import type { Tenant } from '../tested-app.js';
import type { Suite } from './suite.js';

/** Of the plan FREE, in units. */
const PER_MINUTE = 60;
const MINUTE_MS = 60_000;

export const quotas: Suite = ({ noun, doors, app, fresh, test, beforeEach }) => {
  const { names, hasGet } = noun;
  const input = () => literal(noun, fresh());
  /** A read of one record, by its list if it has no other. */
  const one = (id: string) =>
    hasGet ? `${names.one}(id: "${id}") { id }` : `${names.list}(ids: ["${id}"]) { nodes { id } }`;
  const LIST = `{ ${names.list}(first: 1) { nodes { id } } }`;
  let tenant: Tenant;
  beforeEach(async () => {
    tenant = await app().tenant({ plan: 'FREE' });
    app().clock.now = Math.ceil(app().clock.now / MINUTE_MS) * MINUTE_MS + 10_000;
  });
  const ask = (query: string) => graphql(app().url, query, { token: tenant.token });
  const send = (path: string, init = {}) => rest(app().url, path, { token: tenant.token, ...init });
  const left = async () => (await send('/v1/rate_limit')).body.minute.remaining as number;
  const spendAll = async () => {
    for (let units = await left(); units > 0; units -= 1) await send(names.path);
  };

  test('Quota-1: each operation of the noun costs one unit, and its headers say what is left', async () => {
    const { id } = accepted(await doors.rest.create(tenant.token, noun.input(1)));
    const operations: Record<string, () => Promise<{ headers: Headers; text: string }>> = {
      'GET list': () => send(names.path),
      ...(hasGet && { 'GET one': () => send(`${names.path}/${id}`) }),
      'HEAD list': () => send(names.path, { method: 'HEAD' }),
      'GET list, unknown cursor': () => send(`${names.path}?cursor=x`),
      POST: () => send(names.path, { method: 'POST', body: restBody(noun, noun.input(2)) }),
      'POST, invalid': () => send(names.path, { method: 'POST', body: '{}' }),
      list: () => ask(LIST),
      one: () => ask(`{ ${one(id)} }`),
      create: () => ask(`mutation { ${names.create}(input: ${input()}) { id } }`),
      'create several': () => ask(`mutation { ${names.createAll}(inputs: [${input()}]) { id } }`),
      update: () =>
        ask(`mutation { ${names.update}(id: "${id}", input: ${literal(noun, noun.change(0))}) { id } }`),
      delete: () => ask(`mutation { ${names.remove}(id: "${id}") { id } }`),
    };
    let remaining = await left();
    for (const [name, operation] of Object.entries(operations)) {
      const { headers } = await operation();
      remaining -= 1;
      const shown = ['limit', 'remaining'].map((part) => headers.get(`x-ratelimit-${part}`));
      assert.deepEqual([name, ...shown], [name, String(PER_MINUTE), String(remaining)]);
      assertContains(headers.get('ratelimit'), `"minute";r=${remaining};t=50,`);
      assert.deepEqual([name, await left()], [name, remaining]);
    }
  });

  test('Quota-2: GraphQL costs one unit for each root field of the noun, aliases and fragments included', async () => {
    const costs: [query: string, units: number][] = [
      [`{ a: ${names.list} { nodes { id } } b: ${one('1')} }`, 2],
      [`query { ...f } fragment f on Query { a: ${one('1')} b: ${one('1')} }`, 2],
      [`{ ${names.list} { nodes { id } } ${names.list} { pageInfo { endCursor } } }`, 1],
      [`{ a: ${one('1')} b: ${names.list} @skip(if: true) { nodes { id } } }`, 1],
      [
        `mutation { a: ${names.create}(input: ${input()}) { id } b: ${names.create}(input: ${input()}) { id } }`,
        2,
      ],
    ];
    for (const [query, units] of costs) {
      const before = await left();
      await ask(query);
      assert.deepEqual([query, before - (await left())], [query, units]);
    }
  });

  test('Quota-3: once the minute is spent both doors answer 429 with Retry-After, do nothing, and admit after it', async () => {
    await spendAll();
    const create = { method: 'POST', body: restBody(noun, noun.input(0)) };
    for (const refused of [await send(names.path), await send(names.path, create)]) {
      assert.deepEqual([refused.status, refused.body.code], [429, 'rate_limited_minute']);
      assert.equal(refused.headers.get('retry-after'), '50');
      assert.equal(refused.headers.get('x-ratelimit-remaining'), '0');
    }
    for (const query of [LIST, `mutation { ${names.create}(input: ${input()}) { id } }`]) {
      const refused = await ask(query);
      assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '50']);
      const extensions = { code: 'RATE_LIMITED_MINUTE', status: 429, retryAfterSeconds: 50 };
      assert.deepEqual([refused.body.data, refused.body.errors[0].extensions], [undefined, extensions]);
    }
    app().clock.now += 50_000;
    assert.deepEqual(accepted(await doors.rest.list(tenant.token, {})).records, []);
    assert.equal((await ask(LIST)).status, 200);
  });

  test('Quota-4: management and the state of the quota spend nothing, also beside the noun and after the quota is spent', async () => {
    const before = await left();
    assert.equal((await ask('{ project { slug } apiKey { id } }')).body.errors, undefined);
    assert.equal(await left(), before);
    await ask(`{ ${names.list}(first: 1) { nodes { id } } project { slug } apiKey { id } }`);
    assert.equal(await left(), before - 1);
    await spendAll();
    assert.equal((await ask('{ project { slug } }')).body.data.project.slug, tenant.slug);
    assert.equal((await send('/v1/rate_limit')).status, 200);
    assert.equal((await ask(LIST)).status, 429);
  });

  test('Quota-5: each write has its own limit a minute, which the state of the quota shows', async () => {
    await ask(`mutation { ${names.create}(input: ${input()}) { id } }`);
    await ask(`mutation { ${names.createAll}(inputs: [${input()}]) { id } }`);
    const { body } = await ask('{ rateLimit { fields { field limit remaining } } }');
    for (const [name, limit] of [
      [names.create, 300],
      [names.createAll, 100],
    ] as const) {
      const field = { field: `Mutation.${name}`, limit, remaining: limit - 1 };
      assertContains(body.data.rateLimit.fields, field);
    }
  });
};
