import { median } from './measure.js';
import { busyShareOf } from './profile.js';
import { type Profiled, profileCachedList } from './profiled-list.js';
import type { Row } from './row.js';

/** The sampler takes 1,000 samples a second: 10,000 of them tell a share of 0.5 % from one of 0.7 %. */
const LEAST_SECONDS = 10;
/** V8 optimizes each process differently. */
const PROCESSES = 3;

/** A profile, and no comparison with `REQUEST_LOG=off`: equal processes differ by up to 40 % of their processor time. */
export const requestLogRow: Row = {
  name: 'REST list, hot: share of the request log',
  goal: { unit: '%', atMost: 1 },
  run: async ({ environment, pace }) => {
    const tenant = await environment.listed();
    const run = { pace, leastSeconds: LEAST_SECONDS };
    const profiled: Profiled[] = [];
    for (let process = 0; process < PROCESSES; process += 1) {
      const shareIn = (folder: string) => busyShareOf(folder, '/dist/src/request-log/');
      profiled.push(await profileCachedList(tenant, run, shareIn));
    }
    return {
      value: 100 * median(profiled.map(({ share }) => share)),
      note: 'of the processor time of the gateway, by the profiles of three processes',
      measured: profiled.flatMap(({ measured }) => measured),
    };
  },
};
