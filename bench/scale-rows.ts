import { type Contestant, startGateway } from './contestant.js';
import { measureAboveFloor } from './floor.js';
import type { Measured } from './measure.js';
import { OTHER_CORE } from './processes.js';
import { checkLists, everywhere, listRequest, type Pages } from './requests.js';
import { CONNECTIONS, gateway, type Row, withContestants } from './row.js';

/** Two projects in one table, read by one process: V8 could optimize a second process better or worse. */
export const largeListRow: Row = {
  name: 'REST list, cold: the large project / one with 10,000 pets',
  goal: { unit: '×', atMost: 1.2 },
  run: async (setting) => {
    const large = await setting.environment.large();
    const small = await setting.environment.small();
    return withContestants([gateway(setting, large)], async ([ofLarge]) => {
      if (!ofLarge) throw new Error('it was started');
      const ofSmall = { ...ofLarge, token: small.token };
      await checkLists([ofLarge, ofSmall], 'rest');
      const subjects = [
        subject(`${setting.largeRows.toLocaleString('en')} pets`, [ofLarge], everywhere(large)),
        subject('10,000 pets', [ofSmall], everywhere(small)),
      ];
      return timeRatio(await measureAboveFloor(subjects, setting.pace));
    });
  },
};

/** Random pages near both, because a repeated page would be a cache hit. */
export const deepPageRow: Row = {
  name: 'REST list, cold, the large project: page 10,000 / page 1',
  goal: { unit: '×', atMost: 1.2 },
  run: async (setting) => {
    const large = await setting.environment.large();
    return withContestants([gateway(setting, large)], async (started) => {
      await checkLists(started, 'rest');
      const subjects = [
        subject('around page 10,000', started, { fromNth: 199_000, toNth: 201_000 }),
        subject('around page 1', started, { fromNth: 1, toNth: 2_000 }),
      ];
      return timeRatio(await measureAboveFloor(subjects, setting.pace));
    });
  },
};

/**
 * The load generator and MySQL share the cores with the gateway, so two processes can't answer twice as much. The value
 * therefore uses the processor time per request: it is the ratio with a core for each process.
 */
export const twoProcessesRow: Row = {
  name: 'Two processes that share Redis / one with Redis',
  goal: { unit: '×', atLeast: 1.7 },
  run: async (setting) => {
    const { environment, pace } = setting;
    const tenant = await environment.listed();
    const redisUrl = await environment.redisUrl();
    const start = (name: string) => startGateway(tenant, { name, redisUrl, cores: null });
    environment.moveDatabase(null);
    try {
      return await withContestants(['first', 'second'].map(start), async (started) => {
        await checkLists(started, 'rest');
        const pages = everywhere(tenant);
        const subjects = [
          subject('two processes', started, pages),
          subject('one process', started.slice(0, 1), pages),
        ];
        const measured = await measureAboveFloor(subjects, { ...pace, loadCore: null });
        const [two, one] = measured as [Measured, Measured];
        const raw = two.requestsPerSecond / one.requestsPerSecond;
        const [cpuOfTwo, cpuOfOne] = [two.cpuMicros, one.cpuMicros];
        const value = cpuOfTwo === null || cpuOfOne === null ? null : (2 * cpuOfOne) / cpuOfTwo;
        const note = `requests per second of processor time, times processes; raw requests/s, with twice the connections: ${raw.toFixed(2)} ×`;
        return { value, note, measured };
      });
    } finally {
      environment.moveDatabase(OTHER_CORE);
    }
  },
};

function subject(name: string, contestants: Contestant[], pages: Pages) {
  const [first] = contestants;
  if (!first) throw new Error(`no process runs for ${name}`);
  const origins = contestants.map(({ origin }) => origin);
  const request = listRequest(first, 'rest', pages);
  // The same number for each process: waiting reads are joined, so with half the load each request would cost more.
  const connections = CONNECTIONS * origins.length;
  const job = { origins, request, connections, seconds: 0, requestsPerSecond: null };
  return { name, processIds: contestants.map(({ processId }) => processId), job };
}

function timeRatio(measured: Measured[]) {
  const [large, small] = measured as [Measured, Measured];
  const value = small.requestsPerSecond / large.requestsPerSecond;
  return { value, note: 'time per request, less is better', measured };
}
