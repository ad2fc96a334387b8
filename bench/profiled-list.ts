import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from './contestant.js';
import type { Tenant } from './dataset.js';
import { measureAboveFloor } from './floor.js';
import type { Measured, Pace } from './measure.js';
import { listRequest } from './requests.js';
import { subjectOf, withContestants } from './row.js';

export interface Profiled {
  /** From 0 to 1. */
  share: number;
  measured: Measured[];
}

interface Run {
  pace: Pace;
  leastSeconds: number;
  /** Further settings of the gateway. */
  env?: Record<string, string>;
}

/**
 * Profiles a gateway that answers one cached REST list. It is the cheapest request, so the share of anything that all
 * requests have is the largest there. `shareIn` reads the folder of the profile.
 */
export async function profileCachedList(
  tenant: Tenant,
  { pace, leastSeconds, env = {} }: Run,
  shareIn: (profileFolder: string) => Promise<number>,
): Promise<Profiled> {
  const profileFolder = await mkdtemp(join(tmpdir(), 'petstore-profile-'));
  try {
    const measured = await withContestants([startGateway(tenant, { profileFolder, env })], (gateways) => {
      const subjects = gateways.map((gateway) => subjectOf(gateway, listRequest(gateway, 'rest', 'first')));
      return measureAboveFloor(subjects, {
        ...pace,
        rounds: 1,
        seconds: Math.max(pace.seconds, leastSeconds),
      });
    });
    return { share: await shareIn(profileFolder), measured };
  } finally {
    await rm(profileFolder, { recursive: true, force: true });
  }
}
