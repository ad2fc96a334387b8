import { beforeEach, expect, test } from '@jest/globals';
import { graphql, rest } from '../../support/http/client.js';
import { accepted, doorsOf } from '../../support/nouns/noun-doors.js';
import { literal, restBody } from '../../support/nouns/test-noun.js';
import type { Tenant } from '../../support/start-app.js';
import type { Suite } from '../suites.js';

/** Of the plan FREE, in units. */
const PER_MINUTE = 60;
const MINUTE_MS = 60_000;

export const quotas: Suite = (noun, names, app, fresh) => {
  const doors = doorsOf(noun, names, () => app().url);
  const input = () => literal(noun, fresh());
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
      'GET one': () => send(`${names.path}/${id}`),
      'HEAD list': () => send(names.path, { method: 'HEAD' }),
      'GET list, unknown cursor': () => send(`${names.path}?cursor=x`),
      POST: () => send(names.path, { method: 'POST', body: restBody(noun, noun.input(2)) }),
      'POST, invalid': () => send(names.path, { method: 'POST', body: '{}' }),
      list: () => ask(LIST),
      one: () => ask(`{ ${names.one}(id: "${id}") { id } }`),
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
      expect([name, ...shown]).toEqual([name, String(PER_MINUTE), String(remaining)]);
      expect(headers.get('ratelimit')).toMatch(`"minute";r=${remaining};t=50,`);
      expect([name, await left()]).toEqual([name, remaining]);
    }
  });

  test('Quota-2: GraphQL costs one unit for each root field of the noun, aliases and fragments included', async () => {
    const costs: [query: string, units: number][] = [
      [`{ a: ${names.list} { nodes { id } } b: ${names.one}(id: 1) { id } }`, 2],
      [
        `query { ...f } fragment f on Query { a: ${names.one}(id: 1) { id } b: ${names.one}(id: 1) { id } }`,
        2,
      ],
      [`{ ${names.list} { nodes { id } } ${names.list} { pageInfo { endCursor } } }`, 1],
      [`{ a: ${names.one}(id: 1) { id } b: ${names.list} @skip(if: true) { nodes { id } } }`, 1],
      [
        `mutation { a: ${names.create}(input: ${input()}) { id } b: ${names.create}(input: ${input()}) { id } }`,
        2,
      ],
    ];
    for (const [query, units] of costs) {
      const before = await left();
      await ask(query);
      expect([query, before - (await left())]).toEqual([query, units]);
    }
  });

  test('Quota-3: once the minute is spent both doors answer 429 with Retry-After, do nothing, and admit after it', async () => {
    await spendAll();
    const create = { method: 'POST', body: restBody(noun, noun.input(0)) };
    for (const refused of [await send(names.path), await send(names.path, create)]) {
      expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited_minute']);
      expect(refused.headers.get('retry-after')).toBe('50');
      expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
    }
    for (const query of [LIST, `mutation { ${names.create}(input: ${input()}) { id } }`]) {
      const refused = await ask(query);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '50']);
      const extensions = { code: 'RATE_LIMITED_MINUTE', status: 429, retryAfterSeconds: 50 };
      expect([refused.body.data, refused.body.errors[0].extensions]).toEqual([undefined, extensions]);
    }
    app().clock.now += 50_000;
    expect(accepted(await doors.rest.list(tenant.token, {})).records).toEqual([]);
    expect((await ask(LIST)).status).toBe(200);
  });

  test('Quota-4: management and the state of the quota spend nothing, also beside the noun and after the quota is spent', async () => {
    const before = await left();
    expect((await ask('{ project { slug } apiKey { id } }')).body.errors).toBeUndefined();
    expect(await left()).toBe(before);
    await ask(`{ ${names.list}(first: 1) { nodes { id } } project { slug } apiKey { id } }`);
    expect(await left()).toBe(before - 1);
    await spendAll();
    expect((await ask('{ project { slug } }')).body.data.project.slug).toBe(tenant.slug);
    expect((await send('/v1/rate_limit')).status).toBe(200);
    expect((await ask(LIST)).status).toBe(429);
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
      expect(body.data.rateLimit.fields).toContainEqual(field);
    }
  });
};
