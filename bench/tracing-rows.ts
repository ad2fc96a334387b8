import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from './contestant.js';
import type { Tenant } from './dataset.js';
import { gatewayOf, type Measured, measureInTurns, type Pace } from './measure.js';
import { selfShareOf } from './profile.js';
import { listRequest } from './requests.js';
import { CONNECTIONS, type Row, withContestants } from './row.js';

const LEAST_SECONDS = 5;
/** Spans, their export, and the look-up of the current span. */
const PATHS = ['/dist/src/tracing/', '/dist/src/app/trace-hooks', '/@opentelemetry/', 'async_hooks'];

/**
 * The cheapest request, so the share of tracing is the largest there. `sampledShare` null = without a collector. The
 * profile counts the functions themselves: the whole request runs within one of them.
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

async function profile(
  tenant: Tenant,
  sampledShare: number | null,
  pace: Pace,
): Promise<{ share: number; measured: Measured[] }> {
  const profileFolder = await mkdtemp(join(tmpdir(), 'petstore-profile-'));
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
    const measured = await withContestants([startGateway(tenant, { profileFolder, env })], (gateways) => {
      const subjects = gateways.map((gateway) => {
        const request = listRequest(gateway, 'rest', 'first');
        const job = { origins: [gateway.origin], request, connections: CONNECTIONS, seconds: 0 };
        const { name, processId } = gateway;
        return { name, processIds: [processId], job: { ...job, requestsPerSecond: null } };
      });
      return measureInTurns(subjects, { ...pace, rounds: 1, seconds: Math.max(pace.seconds, LEAST_SECONDS) });
    });
    return { share: await selfShareOf(profileFolder, PATHS), measured };
  } finally {
    collector.closeAllConnections();
    collector.close();
    await rm(profileFolder, { recursive: true, force: true });
  }
}
