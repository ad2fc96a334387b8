import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Contestant, startGateway } from './contestant.js';
import type { Tenant } from './dataset.js';
import { measureAboveFloor } from './floor.js';
import type { Measured, Pace } from './measure.js';
import { selfShareOf } from './profile.js';
import { profileCachedList } from './profiled-list.js';
import { everywhere, listRequest, type Pages } from './requests.js';
import { type Row, subjectOf, withContestants } from './row.js';

const LEAST_SECONDS = 5;
/** The differences are small, so the two loads take turns often. */
const LEAST_ROUNDS = 15;
const PATHS = ['/dist/src/request/tracing/', '/dist/src/app/trace-hooks', '/@opentelemetry/', 'async_hooks'];
/** The client names the trace, and says that it is recorded. */
const RECORDED = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };

interface Kind {
  name: string;
  pagesOf(tenant: Tenant): Pages;
}

const HOT: Kind = { name: 'REST list, hot', pagesOf: () => 'first' };
const COLD: Kind = { name: 'REST list, cold', pagesOf: everywhere };

/** By a profile, because the functions are so cheap. */
function unrecordedRow(what: string, isTraced: boolean, atMost: number): Row {
  return {
    name: `REST list, hot: tracing, ${what}`,
    goal: { unit: '%', atMost },
    run: async ({ environment, pace }) =>
      withCollector(async (settings) => {
        const run = { pace, leastSeconds: LEAST_SECONDS, env: isTraced ? settings : {} };
        const tenant = await environment.listed();
        const { share, measured } = await profileCachedList(tenant, run, (folder) =>
          selfShareOf(folder, PATHS),
        );
        return { value: 100 * share, note: 'processor time of its functions, by a profile', measured };
      }),
  };
}

/**
 * Compares two loads of one process: V8 optimizes each process differently. A profile would miss most of the cost, which
 * is in other functions: the hooks of promises, the garbage collection, the connection to the collector.
 */
function recordedRow({ name, pagesOf }: Kind, share: number, goal: Row['goal']): Row {
  return {
    name: `${name}: tracing, ${share === 1 ? 'all' : `${100 * share} %`} recorded`,
    goal,
    run: async ({ environment, pace }) =>
      withCollector(async (settings) => {
        const tenant = await environment.listed();
        const starting = [startGateway(tenant, { env: settings })];
        const measured = await withContestants(starting, ([gateway]) =>
          compare(gateway as Contestant, pagesOf(tenant), share, pace),
        );
        const [plain, recorded] = measured.map(({ cpuMicros }) => cpuMicros) as [number, number];
        // Noise can make it negative.
        const micros = Math.max(0, recorded - plain);
        return {
          value: goal.unit === '%' ? (100 * micros) / plain : micros,
          note: 'more processor time of the whole process, garbage collection and export included',
          measured,
        };
      }),
  };
}

export const tracingRows: readonly Row[] = [
  unrecordedRow('without a collector', false, 0.5),
  unrecordedRow('nothing recorded', true, 1),
  recordedRow(HOT, 0.01, { unit: '%', atMost: 3 }),
  recordedRow(HOT, 1, { unit: 'µs' }),
  recordedRow(COLD, 0.01, { unit: '%', atMost: 3 }),
  recordedRow(COLD, 1, { unit: 'µs' }),
];

function compare(gateway: Contestant, pages: Pages, share: number, pace: Pace): Promise<Measured[]> {
  const request = listRequest(gateway, 'rest', pages);
  const subject = (name: string, recordedShare: number) =>
    subjectOf({ ...gateway, name }, { ...request, sometimes: { share: recordedShare, headers: RECORDED } });
  const subjects = [subject('nothing recorded', 0), subject('recorded', share)];
  return measureAboveFloor(subjects, { ...pace, rounds: Math.max(pace.rounds, LEAST_ROUNDS) });
}

/** With these settings the client decides whether a request is recorded. */
async function withCollector<T>(work: (settings: Record<string, string>) => Promise<T>): Promise<T> {
  const collector = createServer((request, response) => {
    request.resume().once('end', () => response.end('{}'));
  });
  collector.listen(0, '127.0.0.1');
  await once(collector, 'listening');
  try {
    return await work({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
      OTEL_TRACES_SAMPLER: 'parentbased_always_off',
      TRUSTED_PROXIES: '127.0.0.1',
    });
  } finally {
    collector.closeAllConnections();
    collector.close();
  }
}
