import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { startTracing, type Tracing } from '../../src/request/tracing/start-tracing.js';
import { Tracer, type Work } from '../../src/request/tracing/tracer.js';
import { eventually } from '../support/eventually.js';
import { startGateway } from '../support/gateway-process.js';
import { rest } from '../support/http/client.js';
import { inOwnTicks } from '../support/own-time.js';
import { freePort } from '../support/servers/daemon.js';
import { startApp } from '../support/start-app.js';
import { Collector } from '../support/tracing/collector.js';

const SPANS = 20_000;
const AT_ONCE = 40;
const MB = 1024 * 1024;
setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

let collector: Collector;
beforeAll(async () => {
  collector = await Collector.start();
});
afterAll(() => collector.stop());

function tracingTo(url: string): Tracing {
  return startTracing({
    settings: {
      tracesUrl: `${url}/v1/traces`,
      headers: {},
      serviceName: null,
      resourceAttributes: {},
      sampler: 'always_on',
      sampledShare: 1,
    },
    slug: 'petstore',
    version: '1.0.0',
    environment: 'production',
    trustedProxies: [],
    now: Date.now,
  });
}

function record({ tracer }: Tracing, spans: number): void {
  for (let at = 0; at < spans; at += 1) {
    const work = tracer.startServer(null) as Work;
    work.span.setAttribute('http.route', `${'/long'.repeat(100)}${at}`);
    tracer.endRoot(work);
  }
}

describe('a collector that cannot take spans', () => {
  const urls = {
    'is away': async () => `http://127.0.0.1:${await freePort()}`,
    'is silent': async () => collector.url,
    refuses: async () => collector.url,
  };

  test.each(Object.keys(urls) as (keyof typeof urls)[])(
    'Tracing-11: a collector that %s delays no request, and costs at most 8 MB; dropped spans are counted',
    async (mood) => {
      if (mood !== 'is away') collector.mood = mood;
      const tracing = tracingTo(await urls[mood]());
      collectGarbage();
      const before = process.memoryUsage().heapUsed;
      record(tracing, SPANS);
      expect(tracing.counts.dropped).toBe(SPANS - 2_048);
      collectGarbage();
      expect(process.memoryUsage().heapUsed - before).toBeLessThan(8 * MB);
      const { tookMs } = await inOwnTicks(() => tracing.close());
      expect(tookMs).toBeLessThan(4_000);
      expect(tracing.counts.exported).toBe(0);
      collector.mood = 'takes';
    },
  );

  test('Tracing-12: requests are answered while the collector is silent, and metrics count dropped spans', async () => {
    collector.mood = 'is silent';
    const port = await freePort();
    const app = await startApp({
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, METRICS_PORT: String(port) },
    });
    const { token } = await app.tenant();
    for (let at = 0; at < 50; at += 1) expect((await rest(app.url, '/v1/toys', { token })).status).toBe(200);
    collector.mood = 'refuses';
    await eventually('dropped spans', async () => {
      const { text } = await rest(`http://127.0.0.1:${port}`, '/metrics');
      return Number(/^petstore_spans_dropped_total (\d+)$/m.exec(text)?.[1]) > 0;
    });
    collector.mood = 'takes';
    await app.stop();
  });
});

test('Tracing-17: no request waits for a collector that takes two seconds for each batch', async () => {
  collector.mood = 'is slow';
  const app = await startApp({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
  const { token } = await app.tenant();
  const ask = async () => {
    const asking = Array.from({ length: AT_ONCE }, () => rest(app.url, '/v1/rate_limit', { token }));
    for (const { status } of await Promise.all(asking)) expect(status).toBe(200);
  };
  const { exports } = collector;
  while (collector.exports === exports) await ask();
  const { length } = collector.spans;
  await ask();
  // The collector has not answered yet.
  expect(collector.spans).toHaveLength(length);
  collector.mood = 'takes';
  await app.stop();
});

test.concurrent.each(['switches protocols', 'answers byte by byte', 'answers with 16 MB'] as const)(
  'Tracing-23: a collector that once %s gets the later spans, and the lost ones are counted',
  async (mood) => {
    const odd = await Collector.start();
    const tracing = tracingTo(odd.url);
    odd.mood = mood;
    record(tracing, 128);
    await eventually('dropped spans', () => tracing.counts.dropped === 128);
    odd.mood = 'takes';
    record(tracing, 300);
    await tracing.close();
    await odd.stop();
    expect(tracing.counts).toEqual({ exported: 300, dropped: 128 });
  },
);

test('Tracing-13: a collector that comes back gets the later spans, and the end of a process sends the last ones', async () => {
  const tracing = tracingTo(collector.url);
  collector.mood = 'refuses';
  record(tracing, 128);
  await eventually('a refusal', () => tracing.counts.dropped === 128);
  collector.mood = 'takes';
  record(tracing, 300);
  await tracing.close();
  expect(tracing.counts).toEqual({ exported: 300, dropped: 128 });
});

test('Tracing-24: a collector that is busy for a moment gets all spans', async () => {
  const busy = await Collector.start();
  const tracing = tracingTo(busy.url);
  busy.mood = 'is busy';
  record(tracing, 600);
  await eventually('an export', () => busy.exports > 0);
  busy.mood = 'takes';
  await eventually('all spans', () => tracing.counts.exported === 600);
  expect(tracing.counts.dropped).toBe(0);
  expect(busy.spans).toHaveLength(600);
  await tracing.close();
  await busy.stop();
});

test('Tracing-22: work in the background belongs to its request until the answer, and is a trace of its own afterwards', async () => {
  const exporter = new InMemorySpanExporter();
  const tracer = tracerTo(exporter);
  const request = tracer.startServer(null) as Work;
  // As long as another request is open, Node 20 follows promises too.
  tracer.follow(tracer.startServer(null) as Work, () => {});
  const task = (name: string) => tracer.withinTask(name, {}, async () => {});
  await tracer.follow(request, async () => {
    await task('before');
    tracer.endRoot(request);
    await task('after');
  });
  const ended = exporter.getFinishedSpans();
  const parents = ended.map(({ name, parentSpanContext }) => [name, parentSpanContext?.spanId]);
  expect(parents).toEqual([
    ['before', request.span.spanContext().spanId],
    ['request', undefined],
    ['after', undefined],
  ]);
});

test('Tracing-21: work that goes on after its request has ended keeps no span in memory', () => {
  const tracer = tracerTo(null);
  const spans = Array.from({ length: 10 }, () => {
    const work = tracer.startServer(null) as Work;
    tracer.endRoot(work);
    tracer.follow(work, () => {});
    return new WeakRef(work.span);
  });
  return eventually('no span', () => {
    collectGarbage();
    return spans.every((span) => span.deref() === undefined);
  });
});

function tracerTo(exporter: InMemorySpanExporter | null): Tracer {
  const spanProcessors = exporter ? [new SimpleSpanProcessor(exporter)] : [];
  const spans = new BasicTracerProvider({ spanProcessors }).getTracer('test');
  return new Tracer(spans, () => true, Date.now, 'petstore');
}

/** Prints the number of loaded files of tracing when the process ends. */
const PROBE = `data:text/javascript,${encodeURIComponent(`
import { Session } from 'node:inspector';
let loaded = 0;
const session = new Session();
session.connect();
session.on('Debugger.scriptParsed', ({ params }) => { loaded += /\\/src\\/tracing\\/|@opentelemetry/.test(params.url) ? 1 : 0; });
session.post('Debugger.enable');
process.on('exit', () => console.log('LOADED ' + loaded));
`)}`;

test('Tracing-14: without a collector a process loads nothing of tracing', async () => {
  const loadedWith = async (env: Record<string, string>) => {
    const gateway = await startGateway({
      env: { DATABASE_URL: 'sqlite::memory:', SHUTDOWN_SECONDS: '2', ...env },
      nodeArgs: ['--import', PROBE],
    });
    await fetch(`${gateway.url}/v1/toys`);
    await gateway.kill('SIGINT');
    await gateway.ended;
    return Number(/LOADED (\d+)/.exec(gateway.output())?.[1]);
  };
  expect(await loadedWith({ OTEL_SERVICE_NAME: 'shop' })).toBe(0);
  expect(await loadedWith({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })).toBeGreaterThan(0);
});
