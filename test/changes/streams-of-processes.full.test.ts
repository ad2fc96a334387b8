import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { openLogOf } from '../support/changes/open-log.js';
import { FOLLOW, type OpenedStream, openStream } from '../support/changes/stream-client.js';
import { petstore } from '../support/command-line.js';
import { createTestDatabase, databaseKinds, type TestDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { createTenant, type GatewayProcess, startGateway } from '../support/gateway-process.js';
import { rest } from '../support/http/client.js';
import { type RedisServer, startRedis } from '../support/servers/redis.js';

// Signals and SQL do not depend on each other, so two of the four pairs are enough.
const PAIRS = databaseKinds().map((kind) => ({ kind, hasRedis: kind !== 'sqlite' }));

describe.each(PAIRS)('on $kind, with Redis: $hasRedis', ({ kind, hasRedis }) => {
  let database: TestDatabase;
  let redis: RedisServer | null = null;
  let gateways: GatewayProcess[];
  let token: string;
  const streams: OpenedStream[] = [];
  const env = () => ({
    DATABASE_URL: database.url,
    SHUTDOWN_SECONDS: '4',
    ...(redis ? { REDIS_URL: redis.url } : {}),
  });
  const urlOf = (at: number) => String(gateways[at]?.url);

  beforeAll(async () => {
    database = await createTestDatabase(kind);
    if (hasRedis) redis = await startRedis();
    gateways = [await startGateway({ env: env() }), await startGateway({ env: env() })];
  });
  beforeEach(async () => {
    token = await createTenant(database.url);
    await openLogOf(database.url, token);
  });
  afterEach(() => {
    for (const stream of streams.splice(0)) stream.close();
  });
  afterAll(async () => {
    for (const gateway of gateways) await gateway.kill('SIGKILL');
    await database.remove();
    await redis?.stop();
  });

  const follow = async (at: number, variables = {}) => {
    const stream = await openStream(urlOf(at), { token, query: FOLLOW, variables });
    streams.push(stream);
    return stream;
  };
  const create = (at: number, name: string) =>
    rest(urlOf(at), '/v1/toys', { method: 'POST', token, body: { name, categoryId: 1 } });
  const namesOf = (stream: OpenedStream) =>
    stream.events.flatMap(({ data }) => data?.data?.toyChanges.toy.name ?? []);

  test(`Streams-15: the changes of another process arrive ${hasRedis ? 'at once' : 'within 350 ms'}, each once and in order`, async () => {
    const stream = await follow(0);
    const delays: number[] = [];
    for (let at = 0; at < 20; at += 1) {
      await create(1, `Toy ${at}`);
      const sinceMs = performance.now();
      await stream.received(at + 1);
      delays.push(performance.now() - sinceMs);
    }
    expect(namesOf(stream)).toEqual(Array.from({ length: 20 }, (_, at) => `Toy ${at}`));
    delays.sort((a, b) => a - b);
    // Of the time a slow machine needs, the median is not much.
    expect(delays[10]).toBeLessThan(hasRedis ? 150 : 450);
  });

  test('Streams-16: a key that the command line revokes ends its streams within a second', async () => {
    const [first, second] = [await follow(0), await follow(1)];
    const { keyId } = (await keyOf(urlOf(0), token)) ?? {};
    const sinceMs = performance.now();
    const revoked = await petstore(['keys', 'revoke', String(keyId), '--json'], { env: env() });
    const doneMs = performance.now();
    expect([revoked.code, doneMs > sinceMs]).toEqual([0, true]);
    await eventually('the ends', () => first.hasEnded() && second.hasEnded());
    expect(performance.now() - doneMs).toBeLessThan(2_000);
    expect(first.events.at(-1)?.event).toBe('complete');
  });

  test('Streams-17: a process that dies after its commit loses no change of a stream', async () => {
    const stream = await follow(0);
    const victim = await startGateway({ env: env() });
    const answered: string[] = [];
    const writing = (async () => {
      for (let at = 0; ; at += 1) {
        const name = `Toy ${at}`;
        await rest(victim.url, '/v1/toys', { method: 'POST', token, body: { name, categoryId: 1 } });
        answered.push(name);
      }
    })().catch(() => {});
    await eventually('some writes', () => answered.length >= 20);
    await victim.kill('SIGKILL');
    await writing;
    await eventually('the changes', () => answered.every((name) => namesOf(stream).includes(name)));
    const { body } = await rest(urlOf(0), '/v1/toys?limit=100', { token });
    await eventually('the change of the last commit', () => namesOf(stream).length === body.length);
    expect(namesOf(stream)).toEqual(body.map(({ name }: { name: string }) => name));
  });

  test('Streams-18: the end of a process ends its streams first, and a client resumes at another one', async () => {
    const leaving = await startGateway({ env: env() });
    const stream = await openStream(leaving.url, { token, query: FOLLOW });
    await create(1, 'Rex');
    const [rex] = await stream.received(1);
    const sinceMs = performance.now();
    await leaving.kill('SIGTERM');
    await eventually('the end of the stream', () => stream.hasEnded());
    expect(performance.now() - sinceMs).toBeLessThan(2_000);
    expect(stream.events.at(-1)?.data.errors[0].extensions.code).toBe('UNAVAILABLE');
    expect(stream.events.map(({ event }) => event)).not.toContain('complete');
    await create(1, 'Luna');
    const resumed = await follow(0, { after: rex?.id });
    await resumed.received(1);
    expect(namesOf(resumed)).toEqual(['Luna']);
    expect((await leaving.ended).code).toBe(0);
  });

  if (!hasRedis) return;

  test('Streams-19: a project has as many streams over all processes as its plan allows', async () => {
    token = await createTenant(database.url, 'PRO');
    await openLogOf(database.url, token);
    const opened = await Promise.all(Array.from({ length: 24 }, (_, at) => follow(at % 2)));
    expect(opened.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(opened.filter(({ status }) => status === 429)).toHaveLength(4);
  });

  test('Updates-10: what another process has stored is told', async () => {
    const headers = { 'apollographql-client-name': 'dashboard' };
    const query = 'subscription { updates(of: REQUESTS) }';
    const stream = await openStream(urlOf(0), { token, query, headers });
    streams.push(stream);
    // The first may come because the process has just begun to hear the others.
    for (const count of [2, 3]) {
      await rest(urlOf(1), '/v1/toys', { token });
      await stream.received(count);
    }
    expect(new Set(stream.events.map(({ data }) => data.data.updates))).toEqual(new Set(['REQUESTS']));
  });

  test('Streams-24: when Redis ends the streams go on, and when it is back too', async () => {
    const stream = await follow(0);
    await create(1, 'Rex');
    await redis?.kill('SIGKILL');
    await create(1, 'Luna');
    await stream.received(2);
    await redis?.restart();
    await create(1, 'Max');
    await stream.received(3);
    expect(namesOf(stream)).toEqual(['Rex', 'Luna', 'Max']);
  });
});

async function keyOf(url: string, token: string): Promise<{ keyId: string } | null> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ apiKeys { id } }' }),
  });
  const { data } = (await response.json()) as { data: { apiKeys: { id: string }[] } };
  return data.apiKeys[0] ? { keyId: data.apiKeys[0].id } : null;
}
