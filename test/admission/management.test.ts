import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { costOf } from '../../src/doors/graphql/operations/measured-operation.js';
import { AuditEvent } from '../../src/tenants/audit/audit-event.entity.js';
import { graphql, rest, servedSchema } from '../support/http/client.js';
import { HOUR_MS, MINUTE_MS, NOON_MS } from '../support/limiter/charges.js';
import { hammered } from '../support/limiter/hammered.js';
import { onAnyDatabase } from '../support/on-databases.js';
import { startApp, TEST_ACTOR, type Tenant, type TestApp } from '../support/start-app.js';

const TOYS = '{ toys(first: 1) { nodes { id } } }';
const PROJECT = '{ project { slug } }';
const MIXED = '{ toys(first: 1) { nodes { id } } project { slug } apiKey { id } }';
const PER_MINUTE = 120;

/** Spends the minute of a FREE plan, and hammers. */
async function ban(app: TestApp, token: string): Promise<void> {
  for (let sent = 0; sent < 60; sent += 1) await rest(app.url, '/v1/toys', { token });
  await hammer(app, token);
}

async function hammer(app: TestApp, token: string): Promise<void> {
  const send = () => rest(app.url, '/v1/toys', { token });
  await hammered(app.clock, send, ({ body }) => body.code === 'key_banned');
}

async function spendDay(app: TestApp, { slug, token }: Tenant): Promise<void> {
  const quota = { plan: 'ENTERPRISE', perMinute: 60, perDay: 5 } as const;
  await app.app.services.projects.change(TEST_ACTOR, slug, quota);
  app.clock.now += 1_000;
  for (let sent = 0; sent < 5; sent += 1) await rest(app.url, '/v1/toys', { token });
  expect((await rest(app.url, '/v1/toys', { token })).body.code).toBe('rate_limited_day');
}

onAnyDatabase(
  (app) => {
    const left = async (token: string) => (await rest(app().url, '/v1/rate_limit', { token })).body;
    const list = (token: string) => rest(app().url, '/v1/toys', { token });
    const secondKey = async ({ projectId }: Tenant) =>
      app().app.services.apiKeys.create(TEST_ACTOR, {
        projectId,
        name: 'leaked',
        scopes: ['toys:read'],
        expiresAtMs: null,
      });
    /** Moves the shared clock to the next full hour, so that tests do not share windows. */
    const nextHour = () => {
      app().clock.now = NOON_MS + Math.ceil((app().clock.now - NOON_MS + 1) / HOUR_MS) * HOUR_MS;
    };

    test('Management-1: spends nothing of the plan, and its answers show the state of the plan', async () => {
      const { token } = await app().tenant({ plan: 'FREE' });
      await graphql(app().url, TOYS, { token });
      const { status, headers } = await graphql(app().url, PROJECT, { token });
      expect([status, headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')]).toEqual([
        200,
        '60',
        '59',
      ]);
      expect(await left(token)).toMatchObject({ minute: { remaining: 59 }, day: { remaining: 999 } });
    });

    test('Management-2: the owner can revoke a leaked key that has spent the day and is banned', async () => {
      nextHour();
      const owner = await app().tenant();
      const leaked = await secondKey(owner);
      await spendDay(app(), { ...owner, token: leaked.token });
      await hammer(app(), leaked.token);
      for (const token of [owner.token, leaked.token]) {
        const { status, body } = await graphql(app().url, '{ apiKey { id } project { slug } }', { token });
        expect([status, body.errors]).toEqual([200, undefined]);
      }
      const revoke = `mutation { revokeApiKey(id: "${leaked.key.id}") { revokedAt } }`;
      const revoked = await graphql(app().url, revoke, { token: owner.token });
      expect(revoked.body.data.revokeApiKey.revokedAt).not.toBeNull();
      expect((await graphql(app().url, PROJECT, { token: leaked.token })).status).toBe(401);
    });

    test('Management-3: a banned key manages, reads no toys at either door, and a mixed operation is refused as a whole', async () => {
      nextHour();
      const { token } = await app().tenant({ plan: 'FREE' });
      await ban(app(), token);
      for (const query of [PROJECT, '{ apiKeys { id } }', '{ rateLimit { ban { until } } }']) {
        const { status, body } = await graphql(app().url, query, { token });
        expect([query, status, body.errors]).toEqual([query, 200, undefined]);
      }
      for (const query of [TOYS, MIXED]) {
        const { status, body } = await graphql(app().url, query, { token });
        expect([status, body.data, body.errors[0].extensions.code]).toEqual([429, undefined, 'KEY_BANNED']);
      }
    });

    test('Management-14: a ban is lifted at once with the scope keys, also by the banned key itself, and the act is recorded once', async () => {
      nextHour();
      const owner = await app().tenant({ plan: 'FREE' });
      await ban(app(), owner.token);
      const lift = (token: string, headers = {}) =>
        graphql(app().url, `mutation { unbanApiKey(id: "${owner.keyId}") { id bannedUntil } }`, {
          token,
          headers,
        });
      const stranger = await app().tenant();
      expect((await lift(stranger.token)).body.errors[0].extensions.code).toBe('NOT_FOUND');
      expect((await list(owner.token)).body.code).toBe('key_banned');
      const once = { 'idempotency-key': 'lift' };
      for (const headers of [once, once, {}]) {
        const { status, body } = await lift(owner.token, headers);
        expect([status, body]).toEqual([
          200,
          expect.objectContaining({ data: { unbanApiKey: { id: String(owner.keyId), bannedUntil: null } } }),
        ]);
      }
      const { ban: left } = (await rest(app().url, '/v1/rate_limit', { token: owner.token })).body;
      expect(left).toMatchObject({ strikes: 0, untilSeconds: null });
      app().clock.now += MINUTE_MS;
      expect((await list(owner.token)).status).toBe(200);
      const acts = await app().db.repository(AuditEvent).findBy({ projectId: owner.projectId });
      const lifted = acts.filter(({ action }) => action === 'key.unban');
      expect(lifted.map(({ actor, subject }) => [actor, subject])).toEqual([
        [`key:${owner.keyId}`, String(owner.keyId)],
      ]);
    });

    test('Management-4: a key has 120 operations a minute; the next answer names the allowance and when to retry', async () => {
      nextHour();
      const tenant = await app().tenant({ plan: 'FREE' });
      const { token } = tenant;
      const all = await Promise.all(
        Array.from({ length: PER_MINUTE + 20 }, () => graphql(app().url, PROJECT, { token })),
      );
      const refused = all.filter(({ status }) => status === 429);
      expect(refused).toHaveLength(20);
      for (const { headers, body } of refused) {
        expect(body.errors).toEqual([
          {
            message: expect.stringMatching(
              /^An API key may do 120 operations a minute \(UTC\) on everything except toys\./,
            ),
            extensions: { code: 'RATE_LIMITED_MINUTE', status: 429, retryAfterSeconds: 60, limit: 120 },
          },
        ]);
        expect([headers.get('retry-after'), headers.get('x-ratelimit-remaining')]).toEqual(['60', '60']);
      }
      // There is no strike, the plan is unspent, and the other keys of the project are served.
      expect(await left(token)).toMatchObject({ minute: { remaining: 60 }, ban: { strikes: 0 } });
      expect((await graphql(app().url, TOYS, { token })).status).toBe(200);
      const { token: other } = await secondKey(tenant);
      expect((await graphql(app().url, PROJECT, { token: other })).status).toBe(200);
      app().clock.now += MINUTE_MS;
      expect((await graphql(app().url, PROJECT, { token })).status).toBe(200);
    });

    test('Management-5: an operation that mixes toys and management pays both, and a refusal by one spends nothing of either', async () => {
      nextHour();
      const { token } = await app().tenant({ plan: 'FREE' });
      const managed = (count: number) =>
        graphql(
          app().url,
          `{ ${Array.from({ length: count }, (_, at) => `p${at}: project { slug }`).join(' ')} }`,
          {
            token,
          },
        );
      expect((await graphql(app().url, MIXED, { token })).status).toBe(200);
      expect((await left(token)).minute.remaining).toBe(59);
      for (let sent = 0; sent < 5; sent += 1) await managed(20);
      // 102 of 120 are spent: the remaining 18 do not cover the 19 of this mixed operation.
      const twenty = `{ ${Array.from({ length: 19 }, (_, at) => `p${at}: project { slug }`).join(' ')} toys { nodes { id } } }`;
      const refused = await graphql(app().url, twenty, { token });
      expect([refused.status, refused.body.errors[0].extensions.limit]).toEqual([429, 120]);
      expect((await left(token)).minute.remaining).toBe(59);
      expect((await managed(18)).status).toBe(200);
      expect((await managed(1)).status).toBe(429);

      app().clock.now += MINUTE_MS;
      for (let sent = 0; sent < 60; sent += 1) await graphql(app().url, TOYS, { token });
      expect((await graphql(app().url, MIXED, { token })).body.errors[0].extensions.code).toBe(
        'RATE_LIMITED_MINUTE',
      );
      for (let sent = 0; sent < 6; sent += 1) expect((await managed(20)).status).toBe(200);
      expect((await managed(1)).status).toBe(429);
    });

    test('Management-6: usage counts management requests separately from the plan', async () => {
      nextHour();
      const { token } = await app().tenant();
      const points = 'points { graphql { admitted refused } management { admitted refused } }';
      await graphql(app().url, TOYS, { token });
      await graphql(app().url, PROJECT, { token });
      await graphql(app().url, '{ __schema { queryType { name } } }', { token });
      const { body } = await graphql(app().url, `{ project { usage(window: HOUR) { ${points} } } }`, {
        token,
      });
      expect(body.data.project.usage.points.at(-1)).toEqual({
        graphql: { admitted: 3, refused: 0 },
        management: { admitted: 2, refused: 0 },
      });
    });

    test('Management-9: while a key is refused, a document that can only be about toys is refused unread, and is a strike', async () => {
      nextHour();
      const { token } = await app().tenant({ plan: 'FREE' });
      for (let sent = 0; sent < 61; sent += 1) await rest(app().url, '/v1/toys', { token });
      // Not even GraphQL, but no parser sees it.
      const unread = () => graphql(app().url, `}}} ${app().clock.now}`, { token });
      const shown = ({ body }: Awaited<ReturnType<typeof graphql>>) => body.errors[0].extensions;
      const answers = await hammered(app().clock, unread, (answer) => shown(answer).code === 'KEY_BANNED');
      const strikes = answers.map((answer) => shown(answer).strikes).filter(Boolean);
      expect(strikes).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      expect(new Set(answers.slice(0, -1).map((answer) => shown(answer).code))).toEqual(
        new Set(['RATE_LIMITED_MINUTE']),
      );
      expect((await graphql(app().url, PROJECT, { token })).status).toBe(200);
    });

    test('Management-16: a key that is refused for toys still opens the stream of updates', async () => {
      nextHour();
      const { token } = await app().tenant({ plan: 'FREE' });
      const open = async () => {
        const ending = new AbortController();
        const headers = {
          authorization: `Bearer ${token}`,
          accept: 'text/event-stream',
          'content-type': 'application/json',
        };
        const body = JSON.stringify({ query: 'subscription { updates(of: [REQUESTS]) }' });
        const sent = { method: 'POST', headers, body, signal: ending.signal };
        const { status } = await fetch(`${app().url}/graphql`, sent);
        ending.abort();
        return status;
      };
      expect(await open()).toBe(200);
      await ban(app(), token);
      expect(await open()).toBe(200);
    });

    test('Management-10: a refused key may send 120 new documents a minute that name management, and known documents without limit', async () => {
      nextHour();
      const { token } = await app().tenant({ plan: 'FREE' });
      await graphql(app().url, PROJECT, { token });
      await ban(app(), token);
      const ask = async (query: string) => {
        const { status, headers, body } = await graphql(app().url, query, { token });
        return [status, headers.get('retry-after'), body.errors?.[0].extensions.code];
      };
      app().clock.now = Math.ceil(app().clock.now / MINUTE_MS) * MINUTE_MS;
      await list(token);
      for (let at = 0; at < 120; at += 1) {
        expect((await ask(`{ toys { nodes { id } } } # project ${at}`))[2]).toBe('KEY_BANNED');
      }
      const refused = [429, '60', 'RATE_LIMITED_MINUTE'];
      expect(await ask('{ toys { nodes { id } } } # project again')).toEqual(refused);
      expect(await ask('{ project { slug } } # new')).toEqual(refused);
      expect(await ask(PROJECT)).toEqual([200, null, undefined]);
      app().clock.now += MINUTE_MS;
      expect((await ask('{ project { slug } } # newer'))[0]).toBe(200);
    });

    test('Management-12: a refused key learns so before its variables are parsed, for each kind of known document', async () => {
      nextHour();
      const { token } = await app().tenant({ plan: 'FREE' });
      const create = 'mutation ($name: String!) { createToy(input: { name: $name, categoryId: 1 }) { id } }';
      const known = [TOYS, PROJECT, '{ __schema { queryType { name } } }', create];
      for (const query of known) await graphql(app().url, query, { token, variables: { name: 'Rex' } });
      const askUnparsable = async (query: string) => {
        const answer = await fetch(`${app().url}/graphql`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: `{"variables":{"name":,"a":[{"query":1}]},"query":${JSON.stringify(query)}}`,
        });
        const { errors } = (await answer.json()) as { errors: { extensions: { code: string } }[] };
        return errors[0]?.extensions.code;
      };
      for (const query of known) expect(await askUnparsable(query)).toBe('INVALID_REQUEST');
      // The last four cost a unit each.
      for (let sent = 0; sent < 60; sent += 1) await list(token);
      const parse = jest.spyOn(JSON, 'parse');
      for (const query of [TOYS, create]) expect(await askUnparsable(query)).toBe('RATE_LIMITED_MINUTE');
      expect((await graphql(app().url, PROJECT, { token })).status).toBe(200);
      const managed = `{ ${Array.from({ length: 20 }, (_, at) => `a${at}: project { id }`).join(' ')} }`;
      for (let sent = 0; sent < 7; sent += 1) await graphql(app().url, managed, { token });
      const spend = () => graphql(app().url, PROJECT, { token });
      for (let sent = 0; sent < 20; sent += 1) await spend();
      expect((await spend()).body.errors[0].extensions).toMatchObject({ limit: PER_MINUTE });
      expect(await askUnparsable(PROJECT)).toBe('RATE_LIMITED_MINUTE');
      // A body that is not JSON would also be refused after parsing, because the quota is spent.
      expect(parse.mock.calls.filter(([text]) => String(text).startsWith('{"variables"'))).toEqual([]);
      parse.mockRestore();
    });

    test.each([
      {
        sign: 'a "%" that encodes nothing',
        known: { query: '{a:__type(name:"%zz%22){name}toys{nodes{name}}b:__type(name:%22"){name}}' },
        target: '{a:__type(name:"%zz%22){name}toys{nodes{name}}b:__type(name:%22"){name}}',
      },
      {
        sign: 'a "#"',
        known: { query: 'query A{toys{nodes{name}}}#\nquery B{project{slug}}', operationName: 'B' },
        target: 'query+A{toys{nodes{name}}}#%0Aquery+B{project{slug}}&operationName=B',
      },
    ])(
      'Management-13: a refused key pays for the document that is executed, also in a GET with $sign',
      async ({ known, target }) => {
        nextHour();
        const { token } = await app().tenant({ plan: 'FREE' });
        const first = await rest(app().url, '/graphql', { method: 'POST', token, body: known });
        expect(first.body.errors).toBeUndefined();
        for (let sent = 0; sent < 61; sent += 1) await list(token);
        // Not `fetch`, which encodes the target.
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
        const asked = get(app().url, { path: `/graphql?query=${target}`, headers });
        const [answer] = (await once(asked, 'response')) as [IncomingMessage];
        expect([answer.statusCode, await text(answer)]).toEqual([429, expect.not.stringContaining('nodes')]);
      },
    );

    test('Management-11: a raised plan counts at once, also for documents that were never read', async () => {
      nextHour();
      const { token, slug } = await app().tenant({ plan: 'FREE' });
      for (let sent = 0; sent < 61; sent += 1) await list(token);
      expect((await graphql(app().url, '{ toys { nodes { name } } }', { token })).status).toBe(429);
      await app().app.services.projects.change(TEST_ACTOR, slug, { plan: 'PRO' });
      app().clock.now += 1_000;
      expect((await graphql(app().url, '{ toys { nodes { status } } }', { token })).status).toBe(200);
    });
  },
  { now: NOON_MS },
);

describe('the kind of a root field', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp({ now: NOON_MS });
  });
  afterAll(() => app.stop());

  test('Management-7: each root field of the schema is about toys or is management, and only fields about toys are cached', async () => {
    const schema = await servedSchema(app.url);
    const fields = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
      Object.values(type?.getFields() ?? {}),
    );
    const { token } = await app.tenant({ plan: 'FREE' });
    const kinds: Record<string, string[]> = { toys: [], management: [] };
    for (const field of fields) {
      const kind = /toy/i.test(field.name) ? 'toys' : 'management';
      kinds[kind]?.push(field.name);
      const isKept = field.astNode?.directives?.some(({ name }) => name.value === 'cacheControl');
      if (isKept) expect([field.name, kind]).toEqual([field.name, 'toys']);
      const operation = schema.getMutationType()?.getFields()[field.name] ? 'mutation' : 'query';
      // The charge comes before validation, so missing arguments do not matter.
      const before = (await rest(app.url, '/v1/rate_limit', { token })).body.minute.remaining;
      await graphql(app.url, `${operation} { ${field.name} }`, { token });
      const after = (await rest(app.url, '/v1/rate_limit', { token })).body.minute.remaining;
      expect([field.name, before - after]).toEqual([field.name, kind === 'toys' ? 1 : 0]);
    }
    expect(kinds.toys).toEqual([
      'toy',
      'toyChanges',
      'toyCount',
      'toys',
      'createToy',
      'createToys',
      'deleteToy',
      'updateToy',
    ]);
  });

  test.each([
    [['__typename'], { plan: 1, management: 0, schema: 0 }],
    [[], { plan: 1, management: 0, schema: 0 }],
    [['nonsense'], { plan: 1, management: 0, schema: 0 }],
    [['project', '__typename'], { plan: 0, management: 2, schema: 0 }],
    [['project', 'nonsense'], { plan: 1, management: 1, schema: 0 }],
    [['toys', 'project', '__typename', '__schema'], { plan: 3, management: 1, schema: 0 }],
    [['__schema', '__typename'], { plan: 0, management: 0, schema: 1 }],
    [['__schema', 'project'], { plan: 0, management: 2, schema: 0 }],
  ])('Management-8: %j costs %j', (fields, cost) => {
    const roots = fields.map((name) => ({ name, inputs: null }));
    expect(costOf(roots, new Set(['project']))).toEqual(cost);
  });
});
