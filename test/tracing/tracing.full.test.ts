import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { samplingRule } from '../../src/request/tracing/start-tracing.js';
import { querySummary } from '../../src/request/tracing/traced-work.js';
import { anyDatabase } from '../support/databases.js';
import { eventually } from '../support/eventually.js';
import { graphql, rest } from '../support/http/client.js';
import { Toy } from '../support/nouns/toys.js';
import { type RedisServer, startRedis } from '../support/servers/redis.js';
import { startApp, type Tenant, type TestApp } from '../support/start-app.js';
import { type CollectedSpan, Collector } from '../support/tracing/collector.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const AT_ONCE = 30;

let collector: Collector;
let redis: RedisServer;
beforeAll(async () => {
  collector = await Collector.start();
  redis = await startRedis();
});
afterAll(async () => {
  await collector.stop();
  await redis.stop();
});
afterEach(() => {
  collector.spans.length = 0;
  collector.texts.length = 0;
});

async function traced(env: Record<string, string>, options: Parameters<typeof startApp>[0] = {}) {
  const app = await startApp({ ...options, env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env } });
  return { app, tenant: await app.tenant() };
}

/** The server span of the answer with this request id. D-141, D-143. */
const spanOf = (requestId: string | null): Promise<CollectedSpan> =>
  eventually(`the span of ${requestId}`, () =>
    collector.spans.find(({ attributes }) => attributes['petstore.request_id'] === requestId),
  );

describe.each([anyDatabase()])('spans of requests on %s', (kind) => {
  let app: TestApp;
  let tenant: Tenant;
  const lines: Record<string, unknown>[] = [];
  beforeAll(async () => {
    const env = {
      REDIS_URL: redis.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20of-the-collector,x-tenant=7',
      OTEL_SERVICE_NAME: 'shop',
      OTEL_RESOURCE_ATTRIBUTES: 'service.namespace=toys,service.name=ignored',
    };
    ({ app, tenant } = await traced(env, { kind, onLog: (line) => lines.push(JSON.parse(line)) }));
  });
  afterAll(() => app.stop());

  test('Tracing-1: a REST list has a server span with admission, cache and statement below it', async () => {
    const { headers } = await rest(app.url, '/v1/toys?limit=7', { token: tenant.token });
    const server = await spanOf(headers.get('x-request-id'));
    expect(server).toMatchObject({ name: 'GET /v1/toys', kind: 2 });
    expect(server.parentSpanId ?? '').toBe('');
    expect(server.attributes).toEqual({
      'http.request.method': 'GET',
      'http.route': '/v1/toys',
      'http.response.status_code': 200,
      'url.scheme': 'http',
      'server.address': '127.0.0.1',
      'petstore.request_id': headers.get('x-request-id'),
    });
    const below = collector.below(server);
    expect(
      below.filter(({ kind: of }) => of === 1).map(({ name, attributes }) => [name, attributes]),
    ).toEqual([
      ['admission', { 'petstore.limiter': 'redis', 'petstore.decision': 'admitted' }],
      ['response cache', { 'petstore.cache.result': 'miss' }],
    ]);
    expect(
      below.filter(({ kind: of }) => of === 3).map(({ name, attributes }) => [name, attributes]),
    ).toContainEqual(['SELECT toys', { 'db.system.name': kind, 'db.query.summary': 'SELECT toys' }]);
    expect(new Set(below.map(({ traceId }) => traceId))).toEqual(new Set([server.traceId]));
  });

  test('Tracing-18: spans lie within the span of their request, although it takes few milliseconds', async () => {
    const { headers } = await rest(app.url, '/v1/toys?limit=8', { token: tenant.token });
    const server = await spanOf(headers.get('x-request-id'));
    const [from, to] = [server.startTimeUnixNano, server.endTimeUnixNano].map(BigInt) as [bigint, bigint];
    expect(Number(to / 1_000_000n)).toBeCloseTo(Date.now(), -4);
    for (const { startTimeUnixNano, endTimeUnixNano } of collector.below(server)) {
      expect(BigInt(startTimeUnixNano)).toBeGreaterThanOrEqual(from);
      expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano));
      expect(BigInt(endTimeUnixNano)).toBeLessThanOrEqual(to);
    }
  });

  test('Tracing-2: a GraphQL operation has its name and type, and its statements are below it', async () => {
    const mutation = 'mutation Adopt { createToy(input: { name: "secret-name", categoryId: "1" }) { id } }';
    const { headers, body } = await graphql(app.url, mutation, { token: tenant.token });
    expect(body.errors).toBeUndefined();
    const server = await spanOf(headers.get('x-request-id'));
    const [operation] = collector.below(server);
    expect(operation).toMatchObject({
      name: 'mutation',
      parentSpanId: server.spanId,
      attributes: { 'graphql.operation.name': 'Adopt', 'graphql.operation.type': 'mutation' },
    });
    const names = collector.below(operation as CollectedSpan).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['admission', 'INSERT toys']));
  });

  test('Tracing-3: repeated lists are hits of the cache, through both doors', async () => {
    const query = 'query Repeated { toys(first: 3) { nodes { id } } }';
    const results = async (ask: () => Promise<{ headers: Headers }>) => {
      // At once: the data version is renewed twice a second.
      const ids: (string | null)[] = [];
      for (let turn = 0; turn < 12; turn += 1) ids.push((await ask()).headers.get('x-request-id'));
      const servers = await Promise.all(ids.map(spanOf));
      return servers.map(
        (server) =>
          collector.below(server).find(({ name }) => name === 'response cache')?.attributes[
            'petstore.cache.result'
          ],
      );
    };
    expect(await results(() => rest(app.url, '/v1/toys?limit=3', { token: tenant.token }))).toContain('hit');
    expect(await results(() => graphql(app.url, query, { token: tenant.token }))).toContain('hit');
  });

  test('Tracing-4: a span has no document, variable, query string, body, token or address of a client', async () => {
    const variables = { n: 1, note: 'private-variable' };
    const document = 'query Seen($n: Int) { mine: toys(first: $n) { nodes { id } } }';
    const headers = { 'x-forwarded-for': '203.0.113.9', 'user-agent': 'private-agent' };
    const answers = [
      await graphql(app.url, document, { token: tenant.token, variables, headers }),
      await graphql(app.url, '{ private_field }', { token: tenant.token, headers }),
      await rest(app.url, '/v1/toys?limit=private-query', { token: tenant.token, headers }),
      await rest(app.url, `/private-path/${tenant.token}`, { headers }),
      await rest(app.url, '/v1/toys', {
        method: 'POST',
        token: tenant.token,
        body: { name: 'private-body' },
      }),
      await rest(app.url, '/v1/toys', { token: 'pk_private-token' }),
    ];
    for (const answer of answers) await spanOf(answer.headers.get('x-request-id'));
    const text = collector.texts.join();
    for (const secret of [
      'private',
      'mine',
      'nodes',
      'of-the-collector',
      tenant.token,
      '203.0.113.9',
      'secret-name',
    ])
      expect([secret, text.includes(secret)]).toEqual([secret, false]);
    const [unknown] = collector.named('GET unknown');
    expect(collector.below(unknown as CollectedSpan).map(({ name }) => name)).toEqual(['admission']);
  });

  test('Tracing-5: log lines of a recorded request have its trace_id and span_id', async () => {
    const { headers } = await rest(app.url, '/v1/toys', { token: tenant.token });
    const id = headers.get('x-request-id');
    const { traceId, spanId } = await spanOf(id);
    const found = lines.filter(({ requestId }) => requestId === id);
    expect(found).toEqual([expect.objectContaining({ trace_id: traceId, span_id: spanId })]);
  });

  test('Tracing-16: the line about a fault has the ids too', async () => {
    await app.db.repository(Toy).query('ALTER TABLE toys RENAME TO toys_away');
    const { headers, status } = await rest(app.url, '/v1/toys/12345', { token: tenant.token });
    await app.db.repository(Toy).query('ALTER TABLE toys_away RENAME TO toys');
    expect(status).toBe(500);
    const id = headers.get('x-request-id');
    const { traceId } = await spanOf(id);
    const found = lines.filter(({ requestId, level }) => requestId === id && level === 50);
    expect(found).toEqual([expect.objectContaining({ trace_id: traceId, msg: 'request failed' })]);
  });

  test('Tracing-6: the collector gets the resource and the headers of the settings', async () => {
    await spanOf((await rest(app.url, '/healthz')).headers.get('x-request-id'));
    expect(collector.headers).toMatchObject({ authorization: 'Bearer of-the-collector', 'x-tenant': '7' });
    expect(collector.resource).toMatchObject({
      'service.name': 'shop',
      'service.namespace': 'toys',
      'deployment.environment.name': 'production',
    });
  });

  test('Tracing-20: concurrent requests have their own spans below them, and no others', async () => {
    const query = (at: number) => `query Own${at} { toy(id: "${at + 7_000_000}") { id } }`;
    const ask = async (at: number) => {
      const { headers } = await (at % 2
        ? rest(app.url, `/v1/toys/${at + 8_000_000}`, { token: tenant.token })
        : graphql(app.url, query(at), { token: tenant.token }));
      return headers.get('x-request-id');
    };
    const ids = await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => ask(at)));
    const servers = await Promise.all(ids.map(spanOf));
    for (const [at, server] of servers.entries()) {
      const below = collector.below(server);
      const names = below.map(({ name }) => name);
      expect(names.filter((name) => name === 'admission')).toHaveLength(1);
      expect(names).toContain('SELECT toys');
      const operations = below.flatMap(({ attributes }) => attributes['graphql.operation.name'] ?? []);
      expect(operations).toEqual(at % 2 ? [] : [`Own${at}`]);
    }
  });

  test('Tracing-7: a client that is no trusted proxy cannot name the trace', async () => {
    const headers = { traceparent: `00-${TRACE}-${PARENT}-01`, 'x-forwarded-for': '127.0.0.1' };
    const answer = await rest(app.url, '/v1/toys', { token: tenant.token, headers });
    const server = await spanOf(answer.headers.get('x-request-id'));
    expect(server.traceId).not.toBe(TRACE);
    expect(server.parentSpanId ?? '').toBe('');
  });
});

describe('sampling', () => {
  const proxy = { TRUSTED_PROXIES: '10.0.0.0/8,127.0.0.0/8' };

  test('Tracing-8: a trusted proxy names the trace, and says whether it is recorded', async () => {
    const { app, tenant } = await traced(proxy);
    const ask = async (traceparent: string) =>
      (await rest(app.url, '/v1/toys', { token: tenant.token, headers: { traceparent } })).headers.get(
        'x-request-id',
      );
    await ask(`00-${TRACE}-${PARENT}-00`);
    expect(await spanOf(await ask(`00-${TRACE}-${PARENT}-01`))).toMatchObject({
      traceId: TRACE,
      parentSpanId: PARENT,
    });
    for (const wrong of [`00-${'0'.repeat(32)}-${PARENT}-01`, `ff-${TRACE}-${PARENT}-01`, 'nonsense'])
      expect((await spanOf(await ask(wrong))).traceId).not.toBe(TRACE);
    await app.stop();
    expect(collector.named('GET /v1/toys')).toHaveLength(4);
  });

  test('Tracing-9: a ratio records that share of the traces; log lines of the others have no ids', async () => {
    const lines: string[] = [];
    const env = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' };
    const { app, tenant } = await traced(env, { onLog: (line) => lines.push(line) });
    for (let turn = 0; turn < 200; turn += 1) await rest(app.url, '/v1/toys', { token: tenant.token });
    await app.stop();
    const recorded = collector.named('GET /v1/toys').length;
    expect(recorded).toBeGreaterThan(20);
    expect(recorded).toBeLessThan(90);
    expect(lines.filter((line) => line.includes('trace_id'))).toHaveLength(recorded);
  });
});

test.each([
  ['traceidratio', 'f'.repeat(16) + '3'.repeat(16), true],
  ['traceidratio', '0'.repeat(16) + '5'.repeat(16), false],
  ['parentbased_traceidratio', '0'.repeat(16) + '5'.repeat(16), true],
] as const)(
  'Tracing-19: %s decides about the trace %s by its last half or by its client: %s',
  (sampler, traceId, isRecorded) => {
    const rule = samplingRule({ sampler, sampledShare: 0.25 });
    expect(rule({ traceId, spanId: PARENT, traceFlags: 1 })).toBe(isRecorded);
  },
);

test('Tracing-10: a summary of a statement has its operation and tables, and no value', () => {
  const summaries = {
    "SELECT a FROM toys WHERE name = 'FROM secret' AND id IN (?, ?)": 'SELECT toys',
    "(SELECT '0' AS read_number, id FROM toys LIMIT 2) UNION ALL (SELECT id FROM `api_keys`)":
      'SELECT toys api_keys',
    'INSERT INTO `domains`(`id`) VALUES (?)': 'INSERT domains',
    'UPDATE "rate_windows" SET a = ?': 'UPDATE rate_windows',
    'START TRANSACTION': 'START',
    '': 'STATEMENT',
  };
  for (const [sql, summary] of Object.entries(summaries)) expect(querySummary(sql)).toBe(summary);
});
