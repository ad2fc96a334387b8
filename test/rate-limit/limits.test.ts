import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AuditEvent } from '../../src/tenants/audit/audit-event.entity.js';
import { eventually } from '../support/eventually.js';
import { graphql, rest } from '../support/http/client.js';
import { hammered } from '../support/limiter/hammered.js';
import { onAnyDatabase } from '../support/on-databases.js';
import { startApp, TEST_ACTOR, type TestApp } from '../support/start-app.js';

/** Ten seconds and a fraction into a UTC minute, in the middle of a day: seconds that remain are rounded up. */
const NOON_MS = Date.UTC(2026, 5, 15, 12, 0, 10, 700);
const MINUTE_ENDS_MS = Date.UTC(2026, 5, 15, 12, 1);
const MINUTE_MS = 60_000;
const TOYS = '{ toys(first: 1) { nodes { id } } }';
const CREATE = 'mutation { createToy(input: {name: "Rex", categoryId: 1}) { id } }';

/** Sends a GET with a Host that `fetch` would not send. */
function rawGet(
  url: string,
  path: string,
  host: string,
): Promise<{ status: number; headers: Headers; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${url}${path}`, { headers: { host } }, (response) => {
      const headers = new Headers(response.headers as Record<string, string>);
      response.resume().on('end', () => resolve({ status: response.statusCode ?? 0, headers, text: '' }));
    });
    sent.on('error', reject).end();
  });
}

onAnyDatabase(
  (app) => {
    const statuses = (answers: { status: number }[]) => {
      const counts: Record<number, number> = {};
      for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
      return counts;
    };
    const list = (token: string) => rest(app().url, '/v1/toys', { token });

    test('Limits-1: 300 simultaneous requests, at both doors, admit exactly the 60 of the FREE plan', async () => {
      for (let round = 0; round < 3; round += 1) {
        const { token } = await app().tenant({ plan: 'FREE' });
        const answers = await Promise.all(
          Array.from({ length: 300 }, (_, at) =>
            at % 2 ? list(token) : graphql(app().url, TOYS, { token }),
          ),
        );
        expect(statuses(answers)).toEqual({ 200: 60, 429: 240 });
        const { body } = await rest(app().url, '/v1/rate_limit', { token });
        expect(body.minute).toMatchObject({ limit: 60, remaining: 0 });
        // A refusal spends nothing, and a burst is one offence.
        expect(body.day.remaining).toBe(940);
        expect(body.ban).toEqual({ strikes: 0, untilSeconds: null, nextStepMinutes: 1 });
      }
    });

    test('Limits-2: answers 429 with Retry-After when the minute quota is spent, and admits after it', async () => {
      const { token } = await app().tenant({ plan: 'FREE' });
      const { now } = app().clock;
      app().clock.now = NOON_MS;
      try {
        for (let used = 1; used <= 60; used += 1) {
          const { status, headers } = await list(token);
          expect([status, headers.get('x-ratelimit-remaining')]).toEqual([200, String(60 - used)]);
        }
        const refused = await list(token);
        expect(refused.status).toBe(429);
        expect(refused.body).toEqual({
          code: 'rate_limited_minute',
          message: expect.any(String),
          status: 429,
        });
        expect(Object.fromEntries(refused.headers)).toMatchObject({
          'retry-after': '50',
          'cache-control': 'no-store',
          'x-ratelimit-limit': '60',
          'x-ratelimit-remaining': '0',
          'x-ratelimit-reset': String(MINUTE_ENDS_MS / 1000),
          'ratelimit-policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
          ratelimit: '"minute";r=0;t=50, "day";r=940;t=43190',
        });
        const whole = await graphql(app().url, TOYS, { token });
        expect([whole.status, whole.headers.get('retry-after')]).toEqual([429, '50']);
        expect(whole.body).toEqual({
          errors: [
            {
              message: refused.body.message,
              extensions: { code: 'RATE_LIMITED_MINUTE', status: 429, retryAfterSeconds: 50 },
            },
          ],
        });
        app().clock.now = NOON_MS + 50_000;
        expect((await list(token)).status).toBe(200);
      } finally {
        app().clock.now = now;
      }
    });

    test('Limits-3: the headers show the day when it has less remaining, and it resets at midnight UTC', async () => {
      const { token, slug } = await app().tenant({ plan: 'FREE' });
      const { now } = app().clock;
      const { projects } = app().app.services;
      const actor = { name: 'test', requestId: null };
      await projects.change(actor, slug, { plan: 'ENTERPRISE', perMinute: 1_000, perDay: 3 });
      app().clock.now = Date.UTC(2026, 5, 15, 23, 59, 58);
      try {
        for (const left of [2, 1, 0]) {
          const { headers } = await list(token);
          expect([headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')]).toEqual([
            '3',
            String(left),
          ]);
        }
        const refused = await list(token);
        expect([refused.body.code, refused.headers.get('retry-after')]).toEqual(['rate_limited_day', '2']);
        expect(refused.headers.get('x-ratelimit-reset')).toBe(String(Date.UTC(2026, 5, 16) / 1000));
        app().clock.now = Date.UTC(2026, 5, 16);
        expect((await list(token)).status).toBe(200);
      } finally {
        app().clock.now = now;
      }
    });

    test('Limits-4: a changed plan counts from the next request on; a lowered plan never shows a negative remainder', async () => {
      const { token, slug } = await app().tenant({ plan: 'PRO' });
      const { projects } = app().app.services;
      const { now } = app().clock;
      const actor = { name: 'test', requestId: null };
      app().clock.now = NOON_MS;
      const changeTo = async (plan: 'FREE' | 'PRO' | 'BUSINESS') => {
        await projects.change(actor, slug, { plan });
        app().clock.now += 1_000;
      };
      try {
        for (let used = 0; used < 100; used += 1) expect((await list(token)).status).toBe(200);
        await changeTo('FREE');
        const lowered = await list(token);
        expect([lowered.status, lowered.headers.get('x-ratelimit-remaining')]).toEqual([429, '0']);
        await changeTo('BUSINESS');
        const raised = await list(token);
        expect([raised.status, raised.headers.get('x-ratelimit-remaining')]).toEqual([200, '899']);
      } finally {
        app().clock.now = now;
      }
    });

    test('Limits-5: more keys of a project do not multiply its plan', async () => {
      const { token, projectId } = await app().tenant({ plan: 'FREE' });
      const { token: second } = await app().app.services.apiKeys.create(
        { name: 'test', requestId: null },
        { projectId, name: 'second', scopes: ['toys:read'], expiresAtMs: null },
      );
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, at) => list(at % 2 ? token : second)),
      );
      expect(statuses(answers)).toEqual({ 200: 60, 429: 40 });
    });

    test('Limits-6: GraphQL costs one unit per root field, aliases and fragments included, charged before anything executes', async () => {
      const { token } = await app().tenant({ plan: 'FREE' });
      const left = async () => (await rest(app().url, '/v1/rate_limit', { token })).body.minute.remaining;
      const costs: [query: string, cost: number][] = [
        [TOYS, 1],
        ['{ a: toys { nodes { id } } b: toy(id: 1) { id } c: __typename }', 3],
        [
          'query { ...f } fragment f on Query { a: toy(id: 1) { id } ...g } fragment g on Query { b: toy(id: 1) { id } }',
          2,
        ],
        [
          '{ toys { nodes { id } } toys { nodes { name } } ...f } fragment f on Query { toys { totalCount: __typename } }',
          1,
        ],
        ['{ a: __typename b: toys @skip(if: true) { nodes { id } } c: __typename @include(if: false) }', 1],
        ['{ toys { nodes { id } } project { slug } apiKey { id } }', 1],
        ['{ project { slug } __typename }', 0],
        ['{ nonsense }', 1],
        ['{', 1],
        [`{ ${Array.from({ length: 25 }, (_, at) => `a${at}: __typename`).join(' ')} }`, 1],
      ];
      for (const [query, cost] of costs) {
        const before = await left();
        await graphql(app().url, query, { token });
        expect([query, before - (await left())]).toEqual([query, cost]);
      }
      const wrongBodies = [
        { body: '{"query":' },
        { body: 'a', headers: { 'content-type': 'text/plain' } },
        {
          body: JSON.stringify({
            extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } },
          }),
        },
      ];
      for (const init of wrongBodies) {
        const before = await left();
        await rest(app().url, '/graphql', { method: 'POST', token, ...init });
        expect([init.body, before - (await left())]).toEqual([init.body, 1]);
      }

      const twelve = `mutation { ${Array.from({ length: 12 }, (_, at) => `p${at}: createToy(input: {name: "Rex", categoryId: 1}) { id }`).join(' ')} }`;
      while ((await left()) >= 12) await graphql(app().url, TOYS, { token });
      const refused = await graphql(app().url, twelve, { token });
      expect([refused.status, refused.body.data]).toEqual([429, undefined]);
      expect(await left()).toBe(11);
      expect((await list(token)).body).toEqual([]);
    });

    test('Limits-7: a request that is refused for another reason answers 429 once the quota is spent', async () => {
      const { token } = await app().tenant({ plan: 'FREE' });
      await Promise.all(Array.from({ length: 60 }, () => list(token)));
      const refused = [
        await rest(app().url, '/v1/toys', { method: 'POST', token, body: '{' }),
        await rest(app().url, '/v1/nope', { token }),
        await rest(app().url, '/graphql', { method: 'POST', token, body: '{' }),
        await graphql(app().url, '{', { token }),
        await graphql(app().url, '{ nonsense }', { token }),
      ];
      expect(refused.map(({ status }) => status)).toEqual([429, 429, 429, 429, 429]);
      for (const { headers } of refused) expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    });

    test('Limits-8: ten strikes ban the key, longer each time; every answer says so, and the ban is recorded', async () => {
      const { token, projectId, keyId } = await app().tenant({ plan: 'FREE' });
      const { clock } = app();
      const { now } = clock;
      clock.now = NOON_MS;
      const isBanned = ({ body }: { body: { code?: string } }) => body.code === 'key_banned';
      try {
        for (const [minutes, next] of [
          [1, 5],
          [5, 30],
          [30, 60],
          [60, 60],
        ]) {
          for (let used = 0; used < 60; used += 1) expect((await list(token)).status).toBe(200);
          const answers = await hammered(clock, () => list(token), isBanned);
          const strikes = answers.filter(({ headers }) => headers.has('petstore-strikes'));
          expect(strikes.map(({ headers }) => Number(headers.get('petstore-strikes')))).toEqual(
            Array.from({ length: 10 }, (_, at) => at + 1),
          );
          expect(answers.slice(-10)).toEqual(strikes);
          const third = strikes[2];
          const early = third?.headers.get('retry-after');
          expect(third?.body.message).toBe(
            `The quota of this minute (UTC) is spent. This request came ${early} s early: strike 3 of 10. Wait for Retry-After.`,
          );
          const banned = answers.at(-1);
          expect(banned?.body.message).toMatch(
            /banned.* This request was strike 10 of 10\. Wait for Retry-After\.$/,
          );
          expect(banned?.headers.get('retry-after')).toBe(String(Number(minutes) * 60));
          const { status, body } = await rest(app().url, '/v1/rate_limit', { token });
          const untilMs = clock.now + Number(minutes) * MINUTE_MS;
          const untilSeconds = Math.ceil(untilMs / 1000);
          expect([status, body.ban]).toEqual([200, { strikes: 0, untilSeconds, nextStepMinutes: next }]);
          clock.now = untilMs - 1;
          const during = await list(token);
          expect([during.body.code, during.headers.has('petstore-strikes')]).toEqual(['key_banned', false]);
          clock.now += MINUTE_MS;
        }
        const bans = await eventually('the bans are recorded', async () => {
          const events = await app().db.repository(AuditEvent).findBy({ projectId, action: 'key.ban' });
          return events.length === 4 && events;
        });
        expect(new Set(bans.map(({ subject }) => subject))).toEqual(new Set([String(keyId)]));
      } finally {
        clock.now = now;
      }
    });

    test('Limits-41: a project tells which clients made strikes with which key, most first, each as it names itself', async () => {
      const { token, keyId, projectId, slug } = await app().tenant();
      const { apiKeys, projects, requestWriter } = app().app.services;
      await projects.change(TEST_ACTOR, slug, { plan: 'ENTERPRISE', perMinute: 60, perDay: 1 });
      const { clock } = app();
      const { now } = clock;
      clock.now += 1_000;
      await list(token);
      const as = (agent: string) => () =>
        rest(app().url, '/v1/toys', { token, headers: { 'user-agent': agent } });
      const strikes = ({ headers }: { headers: Headers }) => Number(headers.get('petstore-strikes'));
      await hammered(clock, as('impatient/1.0'), (answer) => strikes(answer) === 3);
      await hammered(clock, as(`long/${'x'.repeat(300)}`), (answer) => strikes(answer) === 10);
      clock.now = now;
      await requestWriter.flush(true);
      const query = '{ project { strikingClients { keyId client strikes lastAt } } }';
      const { body } = await graphql(app().url, query, { token });
      const shared = { keyId: String(keyId), lastAt: expect.stringMatching(/Z$/) };
      expect(body.data.project.strikingClients).toEqual([
        { ...shared, client: `long/${'x'.repeat(195)}`, strikes: 7 },
        { ...shared, client: 'impatient/1.0', strikes: 3 },
      ]);
      const wanted = { projectId, name: 'reader', scopes: ['toys:read'] as const, expiresAtMs: null };
      const { token: reader } = await apiKeys.create(TEST_ACTOR, wanted);
      expect((await graphql(app().url, query, { token: reader })).body.errors[0].extensions.code).toBe(
        'FORBIDDEN',
      );
    });

    test('Limits-22: a burst that is pipelined over one connection is one offence', async () => {
      const { token } = await app().tenant({ plan: 'FREE' });
      const { port } = new URL(app().url);
      const socket = connect(Number(port), '127.0.0.1');
      let text = '';
      socket.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      const one = `GET /v1/toys HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\n\r\n`;
      socket.write(one.repeat(90));
      await eventually('90 answers', () => text.split('HTTP/1.1 ').length === 91);
      socket.destroy();
      expect(text.split('HTTP/1.1 200').length - 1).toBe(60);
      expect(text).not.toContain('key_banned');
      const { body } = await rest(app().url, '/v1/rate_limit', { token });
      expect(body.ban).toEqual({ strikes: 0, untilSeconds: null, nextStepMinutes: 1 });
    });

    test('Limits-9: a ban is per key: another key of the project is served', async () => {
      const { token, projectId } = await app().tenant({ plan: 'FREE' });
      const { clock } = app();
      const { now } = clock;
      clock.now = NOON_MS;
      try {
        for (let sent = 0; sent < 60; sent += 1) await list(token);
        await hammered(
          clock,
          () => list(token),
          ({ body }) => body.code === 'key_banned',
        );
        const other = await app().app.services.apiKeys.create(
          { name: 'test', requestId: null },
          { projectId, name: 'other', scopes: ['toys:read'], expiresAtMs: null },
        );
        app().clock.now = NOON_MS + 50_000;
        expect((await list(other.token)).status).toBe(200);
        expect((await list(token)).body.code).toBe('key_banned');
      } finally {
        clock.now = now;
      }
    });

    test('Limits-10: Query.rateLimit and extensions.rateLimit show the same as the headers', async () => {
      const { token } = await app().tenant({ plan: 'FREE' });
      const query =
        '{ rateLimit { minute { limit remaining resetAt } day { remaining } ban { strikes until nextStepMinutes } } }';
      const { body, headers } = await rest(app().url, '/graphql', {
        method: 'POST',
        token,
        body: { query, extensions: { rateLimit: true } },
      });
      const { minute, day, ban } = body.data.rateLimit;
      // A management operation spends nothing of the plan.
      expect(minute).toMatchObject({ limit: 60, remaining: 60 });
      expect(day.remaining).toBe(1_000);
      expect(ban).toEqual({ strikes: 0, until: null, nextStepMinutes: 1 });
      expect(headers.get('x-ratelimit-remaining')).toBe('60');
      expect(headers.get('x-ratelimit-reset')).toBe(String(Date.parse(minute.resetAt) / 1000));
      expect(body.extensions.rateLimit.minute).toEqual(minute);
      expect((await graphql(app().url, query, { token })).body.extensions).toBeUndefined();
    });

    test('Limits-11: @rateLimit admits exactly 300 of 400 mutations, 50 in parallel, and says when to retry', async () => {
      const { token } = await app().tenant();
      const answers: Awaited<ReturnType<typeof graphql>>[] = [];
      while (answers.length < 400) {
        const parallel = Array.from({ length: 50 }, () => graphql(app().url, CREATE, { token }));
        answers.push(...(await Promise.all(parallel)));
      }
      const made = answers.filter(({ body }) => body.data?.createToy);
      expect(made).toHaveLength(300);
      for (const { status, headers, body } of answers.filter((answer) => !made.includes(answer))) {
        expect([status, headers.get('retry-after')]).toEqual([200, '50']);
        expect(body.errors[0].extensions).toEqual({
          code: 'FIELD_RATE_LIMITED',
          status: 429,
          limit: 300,
          retryAfterSeconds: 50,
        });
      }
      const usage = '{ project { usage(window: HOUR) { points { graphql { admitted refused } } } } }';
      const { points } = (await graphql(app().url, usage, { token })).body.data.project.usage;
      expect(points.at(-1).graphql).toEqual({ admitted: 300, refused: 100 });
    });

    test('Limits-26: rateLimit.fields shows the remaining units of each field limit, and reading it spends nothing', async () => {
      const { token } = await app().tenant();
      const query =
        '{ rateLimit { management { limit remaining } fields { field limit remaining window resetAt } } }';
      const fieldsNow = async () => {
        const { rateLimit } = (await graphql(app().url, query, { token })).body.data;
        return rateLimit.fields as { field: string; limit: number; remaining: number }[];
      };
      const before = await fieldsNow();
      expect(before.find(({ field }) => field === 'Mutation.createToy')).toEqual({
        field: 'Mutation.createToy',
        limit: 300,
        remaining: 300,
        window: 'MINUTE',
        resetAt: new Date(MINUTE_ENDS_MS).toISOString(),
      });
      for (const { limit, remaining } of before) expect(remaining).toBe(limit);
      await graphql(app().url, CREATE, { token });
      const after = await fieldsNow();
      const spent = after.filter(({ limit, remaining }) => remaining < limit);
      expect(spent.map(({ field, remaining }) => [field, remaining])).toEqual([['Mutation.createToy', 299]]);
      const { management } = (await graphql(app().url, query, { token })).body.data.rateLimit;
      expect(management).toEqual({ limit: 120, remaining: 117 });
    });

    test('Limits-27: a key that spends a management field limit takes nothing from the other keys', async () => {
      const { token, projectId } = await app().tenant();
      const wanted = { projectId, name: 'owner', scopes: ['keys'] as const, expiresAtMs: null };
      const { token: owner, key } = await app().app.services.apiKeys.create(
        { name: 'test', requestId: null },
        wanted,
      );
      const nonsense = 'mutation { revokeApiKey(id: "1") { id } }';
      for (let sent = 0; sent < 60; sent += 1) await graphql(app().url, nonsense, { token });
      const revoke = `mutation { revokeApiKey(id: "${key.id}") { revokedAt } }`;
      const refused = await graphql(app().url, revoke, { token });
      expect(refused.body.errors[0].extensions.code).toBe('FIELD_RATE_LIMITED');
      const { body } = await graphql(app().url, revoke, { token: owner });
      expect(body.data.revokeApiKey.revokedAt).not.toBeNull();
    });

    test('Limits-28: a chain of keys, each created with the previous one, shares one limit of the project', async () => {
      let { token } = await app().tenant();
      const mutation = 'mutation { createApiKey(input: { name: "next", scopes: [KEYS] }) { token } }';
      const codes: (string | null)[] = [];
      for (let made = 0; made < 61; made += 1) {
        const { body } = await graphql(app().url, mutation, { token });
        token = body.data?.createApiKey?.token ?? token;
        codes.push(body.errors?.[0].extensions.code ?? null);
      }
      expect(codes).toEqual([...Array(60).fill(null), 'FIELD_RATE_LIMITED']);
    });

    test('Limits-12: counters and bans survive a restart', async () => {
      const { token } = await app().tenant({ plan: 'FREE' });
      for (let used = 0; used < 25; used += 1) await list(token);
      const again = await app().restarted();
      try {
        const { body } = await rest(again.url, '/v1/rate_limit', { token });
        expect([body.minute.remaining, body.day.remaining]).toEqual([35, 975]);
      } finally {
        await again.close();
      }
    });
  },
  { now: NOON_MS },
);

describe('headers', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp({ env: { TRUSTED_PROXIES: '127.0.0.1' }, now: NOON_MS });
  });
  afterAll(() => app.stop());

  test('Limits-13: every answer of both doors carries them, whatever its status', async () => {
    const { token } = await app.tenant();
    const reader = await app.tenant({ scopes: ['toys:read'] });
    const made = await rest(app.url, '/v1/toys', {
      method: 'POST',
      token,
      body: { name: 'Rex', categoryId: 1 },
    });
    const post = (body: unknown, headers = {}, key = token) =>
      rest(app.url, '/v1/toys', { method: 'POST', token: key, body, headers });
    const keyed = { 'idempotency-key': 'k' };
    await post({ name: 'Rex', categoryId: 1 }, keyed);
    const etag = (await rest(app.url, '/v1/toys', { token })).headers.get('etag') ?? '';
    const answers = {
      201: [made],
      200: [
        await rest(app.url, '/v1/toys', { token }),
        await rest(app.url, `/v1/toys/${made.body.id}`, { token }),
        await rest(app.url, '/v1/toys', { method: 'HEAD', token }),
        await rest(app.url, '/v1/openapi.json'),
        await rest(app.url, '/v1/rate_limit', { token }),
        await graphql(app.url, '{ project { slug } }', { token }),
        await graphql(app.url, '{ toy(id: 1) { id } }', { token }),
      ],
      304: [await rest(app.url, '/v1/toys', { token, headers: { 'if-none-match': etag } })],
      400: [
        await post('{'),
        await post({}),
        await rest(app.url, '/v1/toys?limit=0', { token }),
        await graphql(app.url, '{', { token }),
        await graphql(app.url, '{ nonsense }', { token }),
        await rest(app.url, '/graphql', { method: 'POST', token, body: '{' }),
        await rest(app.url, '/graphql?query={__typename}', { token }),
      ],
      401: [await rest(app.url, '/v1/toys'), await graphql(app.url, '{ project { slug } }')],
      403: [await post({ name: 'Rex', categoryId: 1 }, {}, reader.token)],
      404: [
        await rest(app.url, '/graphql/nope', { token }),
        await rest(app.url, '/v1/toys/1', { token }),
        await rest(app.url, '/v1/nope', { token }),
      ],
      405: [
        await rest(app.url, '/v1/toys', { method: 'DELETE', token }),
        await rest(app.url, '/graphql', { method: 'PUT', token, body: '{}' }),
      ],
      406: [await rest(app.url, '/v1/toys', { token, headers: { accept: 'text/html' } })],
      413: [
        await post({ name: 'x'.repeat(110_000) }),
        await rest(app.url, '/graphql', { method: 'POST', token, body: { query: 'x'.repeat(110_000) } }),
      ],
      415: [
        await post('x', { 'content-type': 'text/plain' }),
        await rest(app.url, '/graphql', {
          method: 'POST',
          token,
          body: 'x',
          headers: { 'content-type': 'text/plain' },
        }),
      ],
      422: [await post({ name: 'Max', categoryId: 1 }, keyed)],
    };
    const early = [await rest(app.url, '/v1/toys/%zz', { token }), await rawGet(app.url, '/v1/toys', 'a/b')];
    for (const answer of early) {
      expect(answer.status).toBe(400);
      expectQuota(answer, { isExposed: false });
    }
    for (const [status, found] of Object.entries(answers)) {
      for (const answer of found) {
        expect(answer.status).toBe(Number(status));
        expectQuota(answer);
      }
    }
    await app.db.close();
    const broken = await rest(app.url, '/v1/toys?status=pending', { token });
    expect(broken.status).toBeGreaterThanOrEqual(500);
    expectQuota(broken);
  });

  function expectQuota(
    { headers, text }: { headers: Headers; text: string },
    { isExposed = true } = {},
  ): void {
    for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']) {
      expect([text.slice(0, 80), name, headers.get(name)]).toEqual([
        text.slice(0, 80),
        name,
        expect.stringMatching(/^\d+$/),
      ]);
    }
    expect(Number(headers.get('x-ratelimit-reset')) * 1000).toBeGreaterThan(app.clock.now - MINUTE_MS);
    expect(headers.get('ratelimit-policy')).toMatch(/^"minute";q=\d+;w=60(, "day";q=\d+;w=86400)?$/);
    expect(headers.get('ratelimit')).toMatch(/^"minute";r=\d+;t=\d+(, "day";r=\d+;t=\d+)?$/);
    if (!isExposed) return;
    for (const name of [
      'X-RateLimit-Limit',
      'X-RateLimit-Remaining',
      'X-RateLimit-Reset',
      'RateLimit',
      'Retry-After',
    ]) {
      expect(headers.get('access-control-expose-headers')).toContain(name);
    }
  }
});

describe('clients without a key', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp({ env: { TRUSTED_PROXIES: '127.0.0.1' }, now: NOON_MS });
  });
  afterAll(() => app.stop());
  const from = (address: string, init = {}) =>
    rest(app.url, '/v1/toys', { ...init, headers: { 'x-forwarded-for': address } });
  const refusals = async (count: number, ask: (at: number) => Promise<{ status: number }>) => {
    const answers = await Promise.all(Array.from({ length: count }, (_, at) => ask(at)));
    return answers.filter(({ status }) => status === 429).length;
  };

  test('Limits-14: 60 requests a minute are admitted for each address, wrong keys included; a valid key is not affected', async () => {
    expect(await refusals(70, (at) => from('192.0.2.1', { token: at % 2 ? null : 'pk_wrong' }))).toBe(10);
    const refused = await from('192.0.2.1');
    expect([refused.body.code, refused.headers.get('retry-after')]).toEqual(['rate_limited_minute', '50']);
    expect(refused.headers.get('ratelimit-policy')).toBe('"minute";q=60;w=60');
    expect((await from('192.0.2.2')).status).toBe(401);
    const { token } = await app.tenant();
    expect((await from('192.0.2.1', { token })).status).toBe(200);
  });

  test('Limits-15: IPv6 counts by /64', async () => {
    expect(await refusals(70, (at) => from(`2001:db8:1:2::${at.toString(16)}`))).toBe(10);
    expect((await from('2001:db8:1:3::1')).status).toBe(401);
  });

  test('Limits-23: a port in X-Forwarded-For or another spelling of an address gives no second quota', async () => {
    const spellings = [
      '203.0.113.9',
      '203.0.113.9:1001',
      '::ffff:203.0.113.9',
      '::ffff:cb00:7109',
      '[::ffff:203.0.113.9]:44',
    ];
    expect(await refusals(70, (at) => from(spellings[at % 5] ?? ''))).toBe(10);
    expect(await refusals(70, (at) => from(`garbage-${at}`))).toBe(10);
  });

  test('Limits-16: X-Forwarded-For of an untrusted client is ignored', async () => {
    const direct = await startApp({ now: NOON_MS });
    try {
      const spoofed = (at: number) =>
        rest(direct.url, '/v1/toys', { headers: { 'x-forwarded-for': `198.51.100.${at}` } });
      expect(await refusals(70, spoofed)).toBe(10);
    } finally {
      await direct.stop();
    }
  });

  test('Limits-17: preflights, health, the OpenAPI document and the Sandbox page spend nothing', async () => {
    for (let round = 0; round < 30; round += 1) {
      const headers = { 'x-forwarded-for': '192.0.2.77' };
      await rest(app.url, '/v1/toys', { method: 'OPTIONS', headers });
      await rest(app.url, '/healthz', { headers });
      await rest(app.url, '/v1/openapi.json', { headers });
      await rest(app.url, '/graphql', { headers: { ...headers, accept: 'text/html' } });
    }
    expect((await from('192.0.2.77')).headers.get('x-ratelimit-remaining')).toBe('59');
  });
});

describe('rehearsal', () => {
  const rehearse = (app: TestApp, token: string, value: string) =>
    rest(app.url, '/v1/toys', { token, headers: { 'petstore-rehearse': value } });

  async function keyOn(app: TestApp, rehearses: boolean): Promise<string> {
    const { projectId } = await app.tenant({ plan: 'FREE' });
    const wanted = { projectId, name: 'x', scopes: ['toys:read'] as const, expiresAtMs: null, rehearses };
    return (await app.app.services.apiKeys.create({ name: 'test', requestId: null }, wanted)).token;
  }

  test('Rehearsal-1: on staging a rehearsal key gets the refusal it asks for, at both doors, and spends nothing', async () => {
    const app = await startApp({ env: { PETSTORE_ENV: 'staging' }, now: NOON_MS });
    try {
      const token = await keyOn(app, true);
      const expected = {
        '429 minute': [429, 'rate_limited_minute', '50'],
        '429 day': [429, 'rate_limited_day', '43190'],
        banned: [429, 'key_banned', '60'],
        sunset: [410, 'gone', null],
      };
      for (const [value, [status, code, retryAfter]] of Object.entries(expected)) {
        const answer = await rehearse(app, token, value);
        expect([answer.status, answer.body.code, answer.headers.get('retry-after')]).toEqual([
          status,
          code,
          retryAfter,
        ]);
        expect(answer.headers.get('petstore-rehearse')).toBe(value);
        const headers = { 'petstore-rehearse': value };
        const { status: atGraphql, body } = await graphql(app.url, '{ project { slug } }', {
          token,
          headers,
        });
        expect([atGraphql, body.errors[0].extensions.code]).toEqual([status, String(code).toUpperCase()]);
      }
      expect((await rehearse(app, token, 'nonsense')).body.errors[0].field).toBe('Petstore-Rehearse');
      const { body } = await rest(app.url, '/v1/rate_limit', { token });
      expect([body.minute.remaining, body.ban.strikes]).toEqual([60, 0]);
      const ordinary = await rehearse(app, await keyOn(app, false), 'banned');
      expect([ordinary.status, ordinary.headers.get('petstore-rehearse')]).toEqual([
        200,
        'ignored: not a rehearsal key',
      ]);
    } finally {
      await app.stop();
    }
  });

  test('Rehearsal-2: in production a rehearsal is ignored, and the answer says so', async () => {
    const app = await startApp({ now: NOON_MS });
    try {
      const answer = await rehearse(app, await keyOn(app, true), 'banned');
      expect([answer.status, answer.headers.get('petstore-rehearse')]).toEqual([200, 'ignored: production']);
    } finally {
      await app.stop();
    }
  });
});
