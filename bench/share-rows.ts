import type { Tenant } from './dataset.js';
import { median, type Pace } from './measure.js';
import { busyShareOf, selfShareOf } from './profile.js';
import { type Profiled, profileCachedList } from './profiled-list.js';
import type { Row } from './row.js';

/** The sampler takes 1,000 samples a second: 10,000 of them tell a share of 0.5 % from one of 0.7 %. */
const LEAST_SECONDS = 10;
/** V8 optimizes each process differently. */
const PROCESSES = 3;

interface Part {
  name: string;
  env?: Record<string, string>;
  shareIn(profileFolder: string): Promise<number>;
  note: string;
}

/** The goal is 1 %. A profile, because equal processes differ by up to 40 % of their processor time. */
function shareRow({ name, env = {}, shareIn, note }: Part): Row {
  return {
    name: `REST list, hot: share of ${name}`,
    goal: { unit: '%', atMost: 1 },
    run: async ({ environment, pace }) => {
      const profiled = await profiles(await environment.listed(), pace, env, shareIn);
      return {
        value: 100 * median(profiled.map(({ share }) => share)),
        note,
        measured: profiled.flatMap(({ measured }) => measured),
      };
    },
  };
}

export const shareRows: readonly Row[] = [
  shareRow({
    name: 'the request log',
    shareIn: (folder) => busyShareOf(folder, '/dist/src/tenants/request-log/'),
    note: 'of the processor time of the gateway, by the profiles of three processes',
  }),
  shareRow({
    name: 'the overload limit at rest',
    env: { OVERLOAD: 'on' },
    // The whole request runs within its functions.
    shareIn: (folder) => selfShareOf(folder, ['/dist/src/request/overload/']),
    note: 'of the processor time of the gateway, in its own functions, by the profiles of three processes',
  }),
];

async function profiles(
  tenant: Tenant,
  pace: Pace,
  env: Record<string, string>,
  shareIn: Part['shareIn'],
): Promise<Profiled[]> {
  const profiled: Profiled[] = [];
  for (let process = 0; process < PROCESSES; process += 1)
    profiled.push(await profileCachedList(tenant, { pace, leastSeconds: LEAST_SECONDS, env }, shareIn));
  return profiled;
}
