import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from './contestant.js';
import type { Tenant } from './dataset.js';
import { type Measured, measureInTurns, median, type Pace } from './measure.js';
import { busyShareOf } from './profile.js';
import { listRequest } from './requests.js';
import { CONNECTIONS, type Row, withContestants } from './row.js';

/** The sampler takes 1,000 samples a second: 10,000 of them tell a share of 0.5 % from one of 0.7 %. */
const LEAST_SECONDS = 10;
/** V8 optimizes each process differently. */
const PROCESSES = 3;

/**
 * The cheapest request, so the log's share is the largest there. A profile, and no comparison with `REQUEST_LOG=off`: V8
 * optimizes two processes of the same program differently, by up to 40 % of their processor time.
 */
export const requestLogRow: Row = {
  name: 'REST list, hot: share of the request log',
  goal: { unit: '%', atMost: 1 },
  run: async ({ environment, pace }) => {
    const tenant = await environment.listed();
    const profiled: Profiled[] = [];
    for (let process = 0; process < PROCESSES; process += 1) profiled.push(await profile(tenant, pace));
    return {
      value: median(profiled.map(({ percent }) => percent)),
      note: 'of the processor time of the gateway, by the profiles of three processes',
      measured: profiled.flatMap(({ measured }) => measured),
    };
  },
};

interface Profiled {
  percent: number;
  measured: Measured[];
}

async function profile(tenant: Tenant, pace: Pace): Promise<Profiled> {
  const profileFolder = await mkdtemp(join(tmpdir(), 'petstore-profile-'));
  try {
    const measured = await withContestants([startGateway(tenant, { profileFolder })], (gateways) => {
      const subjects = gateways.map((gateway) => {
        const request = listRequest(gateway, 'rest', 'first');
        const job = { origins: [gateway.origin], request, connections: CONNECTIONS, seconds: 0 };
        const { name, processId } = gateway;
        return { name, processIds: [processId], job: { ...job, requestsPerSecond: null } };
      });
      return measureInTurns(subjects, { ...pace, rounds: 1, seconds: Math.max(pace.seconds, LEAST_SECONDS) });
    });
    return { percent: 100 * (await busyShareOf(profileFolder, '/dist/src/request-log/')), measured };
  } finally {
    await rm(profileFolder, { recursive: true, force: true });
  }
}
