import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Tenant } from './dataset.js';
import { gatewayOf, type Pace } from './measure.js';
import { selfShareOf } from './profile.js';
import { type Profiled, profileCachedList } from './profiled-list.js';
import type { Row } from './row.js';

const LEAST_SECONDS = 5;
/** Spans, their export, and the look-up of the current span. */
const PATHS = ['/dist/src/tracing/', '/dist/src/app/trace-hooks', '/@opentelemetry/', 'async_hooks'];

/**
 * `sampledShare` null = without a collector. The profile counts the functions themselves: the whole request runs within
 * one of them.
 */
function tracingRow(what: string, sampledShare: number | null, goal: Row['goal']): Row {
  return {
    name: `REST list, hot: tracing, ${what}`,
    goal,
    run: async ({ environment, pace }) => {
      const { share, measured } = await profile(await environment.listed(), sampledShare, pace);
      const { cpuMicros } = gatewayOf(measured);
      const micros = cpuMicros === null ? null : share * cpuMicros;
      return {
        value: goal.unit === '%' ? 100 * share : micros,
        note: 'processor time of tracing, by a profile; garbage collection is not counted',
        measured,
      };
    },
  };
}

export const tracingRows: readonly Row[] = [
  tracingRow('off', null, { unit: '%', atMost: 0.5 }),
  tracingRow('1 % recorded', 0.01, { unit: '%', atMost: 3 }),
  tracingRow('all recorded', 1, { unit: 'µs', atMost: 30 }),
];

async function profile(tenant: Tenant, sampledShare: number | null, pace: Pace): Promise<Profiled> {
  const collector = createServer((request, response) => {
    request.resume().once('end', () => response.end('{}'));
  });
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const { port } = collector.address() as AddressInfo;
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: String(sampledShare),
  };
  try {
    const env = sampledShare === null ? {} : settings;
    const run = { pace, leastSeconds: LEAST_SECONDS, env };
    return await profileCachedList(tenant, run, (folder) => selfShareOf(folder, PATHS));
  } finally {
    collector.closeAllConnections();
    collector.close();
  }
}
