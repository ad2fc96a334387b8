import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Domain } from '../../src/domains/store/domain.entity.js';
import { connectRedis } from '../../src/ground/redis/redis-connection.js';
import { StreamSlots } from '../../src/request/streams/stream-slots.js';
import { openLog } from '../support/changes/changes.js';
import { FOLLOW, type OpenedStream, openStream } from '../support/changes/stream-client.js';
import { domainRow } from '../support/domains/served-domain.js';
import { eventually } from '../support/eventually.js';
import { graphql, rest } from '../support/http/client.js';
import { onEachDatabase } from '../support/on-databases.js';
import { type RedisServer, startRedis } from '../support/servers/redis.js';
import { startApp, TEST_ACTOR, type Tenant, type TestApp } from '../support/start-app.js';

/** Its requests, the one that opens a stream included, are no update. */
const DASHBOARD = { 'apollographql-client-name': 'dashboard' };
const UPDATES = 'subscription Updates($of: [UpdateKind!]!) { updates(of: $of) }';
const SET = 'mutation($input: DomainsInput!) { setDomains(input: $input) { applied } }';

const streams: OpenedStream[] = [];
afterEach(() => {
  for (const stream of streams.splice(0)) stream.close();
});

async function follow(
  { url }: TestApp,
  { token }: Tenant,
  of: readonly string[],
  { headers = {}, ...options }: Partial<Parameters<typeof openStream>[1]> = {},
): Promise<OpenedStream> {
  const asked = { token, query: UPDATES, variables: { of }, ...options };
  const stream = await openStream(url, { ...asked, headers: { ...DASHBOARD, ...headers } });
  streams.push(stream);
  return stream;
}

const kindsOf = (stream: OpenedStream) => stream.events.map(({ data }) => data.data.updates);

/** A request of a client is answered, and its row is stored. */
async function request({ app, url }: TestApp, { token }: Tenant, headers = {}): Promise<void> {
  await graphql(url, '{ project { slug } }', { token, headers });
  await app.services.requestWriter.flush(true);
}

/** Attaches two domains, as a check by DNS would. Returns a change of both by their owner. */
async function attachDomains({ db, clock, url }: TestApp, { projectId, token, slug }: Tenant) {
  const [primary, other] = [`a.${slug}.test`, `b.${slug}.test`];
  await db.repository(Domain).insert([primary, other].map((name) => domainRow(projectId, name, clock.now)));
  return async (status: 301 | 302) => {
    const input = { primary, redirects: [{ from: other, to: primary, status }] };
    const { body } = await graphql(url, SET, { token, variables: { input }, headers: DASHBOARD });
    expect(body.data?.setDomains).toEqual({ applied: true });
  };
}

onEachDatabase((app) => {
  const tenant: TestApp['tenant'] = (options) => app().tenant(options);

  test('Updates-1: a stream begins with each kind, and tells of stored requests and domains, without cursors and with the log off', async () => {
    const owner = await tenant();
    const change = await attachDomains(app(), owner);
    const stream = await follow(app(), owner, ['REQUESTS', 'DOMAINS']);
    await stream.received(2);
    await request(app(), owner);
    await stream.received(3);
    await change(301);
    await stream.received(4);
    expect(stream.events).toEqual(
      ['REQUESTS', 'DOMAINS', 'REQUESTS', 'DOMAINS'].map((updates) => ({
        event: 'next',
        id: null,
        data: { data: { updates } },
      })),
    );
    expect(stream.text()).not.toContain('id:');
  });

  test('Updates-2: nobody hears of another project, of what is not followed, or of the reads of a dashboard', async () => {
    const [owner, neighbour] = [await tenant(), await tenant()];
    const changes = [await attachDomains(app(), owner), await attachDomains(app(), neighbour)] as const;
    const stream = await follow(app(), owner, ['REQUESTS']);
    const witness = await follow(app(), neighbour, ['REQUESTS', 'DOMAINS']);
    await Promise.all([stream.received(1), witness.received(2)]);
    await request(app(), owner, DASHBOARD);
    await changes[0](301);
    await changes[1](301);
    await request(app(), neighbour);
    await witness.received(4);
    expect(kindsOf(stream)).toEqual(['REQUESTS']);
    expect(kindsOf(witness).slice(2).sort()).toEqual(['DOMAINS', 'REQUESTS']);
  });

  test('Updates-3: a stream tells of many changes once', async () => {
    const owner = await tenant();
    const change = await attachDomains(app(), owner);
    const stream = await follow(app(), owner, ['DOMAINS']);
    await stream.received(1);
    await change(301);
    await change(302);
    await change(301);
    await stream.received(2);
    // One second later there is nothing left to tell.
    const later = await follow(app(), owner, ['REQUESTS']);
    await request(app(), owner);
    await later.received(2);
    expect(kindsOf(stream).length).toBeLessThanOrEqual(3);
  });

  test('Updates-4: another plan, which suspends domains, is an update of domains', async () => {
    const owner = await tenant({ plan: 'PRO' });
    await attachDomains(app(), owner);
    const stream = await follow(app(), owner, ['DOMAINS']);
    await stream.received(1);
    await app().app.services.projects.change(TEST_ACTOR, owner.slug, { plan: 'FREE' });
    await stream.received(2);
    expect(kindsOf(stream)).toEqual(['DOMAINS', 'DOMAINS']);
  });

  test('Updates-5: a key needs the scope of each kind, and the list is not empty', async () => {
    const refusal = async (owner: Tenant, of: readonly string[]) => {
      const stream = await follow(app(), owner, of);
      await eventually('the answer', () => stream.hasEnded());
      return [stream.status, JSON.parse(stream.text()).errors[0].extensions.code];
    };
    const keys = await tenant({ scopes: ['keys'] });
    const domains = await tenant({ scopes: ['domains'] });
    expect(await refusal(keys, ['REQUESTS', 'DOMAINS'])).toEqual([403, 'FORBIDDEN']);
    expect(await refusal(domains, ['REQUESTS'])).toEqual([403, 'FORBIDDEN']);
    expect(await refusal(domains, [])).toEqual([400, 'INVALID_REQUEST']);
    expect((await follow(app(), keys, ['REQUESTS'])).status).toBe(200);
    expect((await follow(app(), domains, ['DOMAINS'])).status).toBe(200);
  });

  test('Updates-6: opening costs one operation of the key and nothing of the plan, and takes one of its streams', async () => {
    const owner = await tenant({ plan: 'FREE' });
    const stream = await follow(app(), owner, ['REQUESTS']);
    const { body } = await graphql(
      app().url,
      '{ rateLimit { minute { remaining } management { remaining } } }',
      owner,
    );
    expect(body.data.rateLimit).toEqual({ minute: { remaining: 60 }, management: { remaining: 118 } });
    await follow(app(), owner, ['DOMAINS']);
    expect((await follow(app(), owner, ['DOMAINS'])).status).toBe(429);
    stream.close();
    await eventually('room', async () => (await follow(app(), owner, ['DOMAINS'])).status === 200);
  });

  test('Updates-7: a log that is switched off ends only the streams that show it; a revoked key ends all', async () => {
    const owner = await tenant();
    await openLog(app(), owner);
    const changes = await follow(app(), owner, [], { query: FOLLOW, variables: {} });
    const updates = await follow(app(), owner, ['DOMAINS']);
    await app().app.services.projects.change(TEST_ACTOR, owner.slug, { isLogged: false });
    await eventually('the end of the changes', () => changes.hasEnded());
    await updates.received(2);
    expect(updates.hasEnded()).toBe(false);
    await app().app.services.apiKeys.revoke(TEST_ACTOR, owner.keyId);
    await eventually('the end of the updates', () => updates.hasEnded());
    expect(updates.events.at(-2)?.data.errors[0].extensions.code).toBe('UNAUTHORIZED');
    expect(updates.events.at(-1)?.event).toBe('complete');
  });

  test('Updates-8: multipart subscriptions carry the same updates', async () => {
    const owner = await tenant();
    const accept = 'multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json';
    const stream = await follow(app(), owner, ['REQUESTS'], { headers: { accept } });
    await eventually('the part', () => stream.text().includes('{"payload":{"data":{"updates":"REQUESTS"}}}'));
  });
});

describe('with Redis', () => {
  let redis: RedisServer;
  let app: TestApp;
  const statements: string[] = [];
  beforeAll(async () => {
    redis = await startRedis();
    app = await startApp({ env: { REDIS_URL: redis.url }, onQuery: (sql) => statements.push(sql) });
  });
  afterAll(async () => {
    await app.stop();
    await redis.stop();
  });

  test('Updates-9: an idle stream has no event and causes no statement', async () => {
    const owner = await app.tenant();
    const sample = async () => {
      statements.length = 0;
      await eventually('some rounds of the work on domains', () => statements.length >= 3);
      return new Set(statements);
    };
    // The row of the first request is stored, and the key's last use.
    await rest(app.url, '/v1/rate_limit', owner);
    const idle = await sample();
    const stream = await follow(app, owner, ['REQUESTS', 'DOMAINS']);
    await stream.received(2);
    await app.app.services.requestWriter.flush(true);
    await sample();
    const seen = stream.events.length;
    expect(await sample()).toEqual(idle);
    expect(stream.events.length).toBe(seen);
  });

  test('Streams-37: after the clock of Redis was a day ahead, the streams of a dead process take no slots', async () => {
    const connection = await connectRedis(redis.url);
    const slots = new StreamSlots(Promise.resolve(connection));
    const key = 'petstore:streams:{7}';
    const aDayAhead = Date.now() + 86_400_000;
    await connection.zadd(key, aDayAhead * 1000, 'dead');
    await connection.zadd(`${key}:leases`, aDayAhead + 30_000, 'dead');
    expect(await slots.keep(7n, ['first', 'second'], 2)).toEqual([]);
    expect(await slots.keep(7n, ['third'], 2)).toEqual(['third']);
    expect(await connection.zrange(key, 0, -1)).toEqual(['first', 'second', 'third']);
    await connection.quit();
  });
});
