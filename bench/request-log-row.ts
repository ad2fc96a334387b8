import { startGateway } from './contestant.js';
import { measureInTurns, median } from './measure.js';
import { checkLists, listRequest } from './requests.js';
import { CONNECTIONS, type Row, withContestants } from './row.js';

/** V8 optimizes two processes of the same program differently, by a few percent. */
const PROCESSES_OF_EACH = 3;
/** Many short rounds: the difference is smaller than the changes of a busy machine within a long one. */
const ROUNDS_FACTOR = 4;
const LEAST_SECONDS = 1;

/** The cheapest request, by processor time: any other one does more besides. */
export const requestLogRow: Row = {
  name: 'REST list, hot: with the request log / without',
  goal: { unit: '×', atMost: 1.01 },
  run: async ({ environment, pace }) => {
    const tenant = await environment.listed();
    const start = (log: 'on' | 'off') =>
      startGateway(tenant, { name: `REQUEST_LOG=${log}`, env: { REQUEST_LOG: log } });
    const starting = Array.from({ length: PROCESSES_OF_EACH }, () => [start('on'), start('off')]).flat();
    return withContestants(starting, async (contestants) => {
      await checkLists(contestants, 'rest');
      const subjects = contestants.map((one) => {
        const request = listRequest(one, 'rest', 'first');
        const job = { origins: [one.origin], request, connections: CONNECTIONS, seconds: 0 };
        return { name: one.name, processIds: [one.processId], job: { ...job, requestsPerSecond: null } };
      });
      const rounds = pace.rounds * ROUNDS_FACTOR;
      const seconds = Math.max(pace.seconds / ROUNDS_FACTOR, LEAST_SECONDS);
      const measured = await measureInTurns(subjects, { ...pace, rounds, seconds });
      const ratios = measured.flatMap((one, at) => {
        const other = measured[at + 1];
        return at % 2 === 0 && one.cpuMicros && other?.cpuMicros ? [one.cpuMicros / other.cpuMicros] : [];
      });
      const value = ratios.length > 0 ? median(ratios) : null;
      return { value, note: 'processor time per request, less is better', measured };
    });
  },
};
