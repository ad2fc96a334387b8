import { setTimeout as pause } from 'node:timers/promises';
import { GATEWAY, startGateway } from './contestant.js';
import { measureAboveFloor } from './floor.js';
import { type Measured, median } from './measure.js';
import { memoryMbOf } from './processes.js';
import { everywhere, listRequest } from './requests.js';
import { gateway, type Row, subjectOf, withContestants } from './row.js';

const STARTS = 3;
/** V8 returns the memory of the start at its first collection, within half a minute without requests. */
const IDLE_MS = 40_000;

export const readyRow: Row = {
  name: 'Start to ready',
  goal: { unit: 'ms', atMost: 1_000 },
  run: async ({ environment }) => {
    const tenant = await environment.listed();
    const startMs: number[] = [];
    for (let turn = 0; turn < STARTS; turn += 1) {
      await withContestants([startGateway(tenant, { cores: null })], async ([started]) => {
        startMs.push(started?.startMs ?? Number.NaN);
      });
    }
    const note = `median of ${STARTS}, from the start of Node to the line with its address`;
    return { value: median(startMs), note, measured: [] };
  },
};

export function memoryRow(when: 'idle' | 'under load'): Row {
  const isIdle = when === 'idle';
  return {
    name: `Memory, ${when}`,
    goal: { unit: 'MB', atMost: isIdle ? 120 : 300 },
    run: async (setting) => {
      const tenant = await setting.environment.listed();
      return withContestants([gateway(setting, tenant)], async ([started]) => {
        if (!started) throw new Error('it was started');
        const { processId } = started;
        if (isIdle) {
          await pause(IDLE_MS);
          const note = `resident, ${IDLE_MS / 1000} s after it was ready`;
          return { value: memoryMbOf(processId, 'VmRSS'), note, measured: [] };
        }
        const measured: Measured[] = [];
        for (const door of ['rest', 'graphql'] as const) {
          const request = listRequest(started, door, everywhere(tenant));
          const subject = subjectOf({ ...started, name: `${GATEWAY}, ${door}` }, request);
          measured.push(...(await measureAboveFloor([subject], { ...setting.pace, rounds: 1 })));
        }
        const note = 'resident peak, while both doors answer cold lists';
        return { value: memoryMbOf(processId, 'VmHWM'), note, measured };
      });
    },
  };
}
