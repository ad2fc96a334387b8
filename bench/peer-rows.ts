import { type Peer, startPeer } from './contestant.js';
import { measureAboveFloor } from './floor.js';
import { gatewayOf, type Measured } from './measure.js';
import { checkCreates, checkLists, createRequest, type Door, everywhere, listRequest } from './requests.js';
import { gateway, type Row, type RowResult, subjectOf, withContestants } from './row.js';

/** The goal compares the gateway with the first peer of a door; the other peers are for orientation. */
const LIST_PEERS = {
  rest: ['node:http + mysql2'],
  graphql: [
    'Mercurius JIT + mysql2',
    'GraphQL Yoga + mysql2',
    'Apollo Server + mysql2',
    'Apollo + type-graphql + TypeORM',
  ],
} as const satisfies Record<Door, readonly Peer[]>;
const PACE_PER_SECOND = 1_000;
/** A p99 needs enough requests for its slowest 1 %. */
const LEAST_PACED_SECONDS = 2;

/** Hot: always the first page. Cold: each request reads a page that no other request of the round has read. */
export function listRow({ door, isHot, atLeast }: { door: Door; isHot: boolean; atLeast: number }): Row {
  const [main, ...others] = LIST_PEERS[door];
  return {
    name: `${door === 'rest' ? 'REST' : 'GraphQL'} list, ${isHot ? 'hot' : 'cold'} / ${main}`,
    goal: { unit: '×', atLeast },
    isInChart: true,
    run: async (setting) => {
      const tenant = await setting.environment.listed();
      const peers = setting.withOrientation ? [main, ...others] : [main];
      const starting = [gateway(setting, tenant), ...peers.map((peer) => startPeer(peer, tenant))];
      return withContestants(starting, async (contestants) => {
        await checkLists(contestants, door);
        const pages = isHot ? 'first' : everywhere(tenant);
        const subjects = contestants.map((one) => subjectOf(one, listRequest(one, door, pages)));
        return throughput(await measureAboveFloor(subjects, setting.pace), main);
      });
    },
  };
}

export const createRow: Row = {
  name: 'createPet, REST / node:http + mysql2',
  goal: { unit: '×', atLeast: 0.8 },
  isInChart: true,
  run: async (setting) => {
    const tenant = await setting.environment.written();
    const [main] = LIST_PEERS.rest;
    return withContestants([gateway(setting, tenant), startPeer(main, tenant)], async (contestants) => {
      await checkCreates(contestants);
      const subjects = contestants.map((one) => subjectOf(one, createRequest(one)));
      return throughput(await measureAboveFloor(subjects, setting.pace), main);
    });
  },
};

/** Requests arrive at an even pace, also before earlier requests are answered. */
export const pacedRow: Row = {
  name: 'p99 at 1,000 requests/s, GraphQL list, cold / Mercurius JIT + mysql2',
  goal: { unit: '×', atMost: 1 },
  run: async (setting) => {
    const tenant = await setting.environment.listed();
    const [main] = LIST_PEERS.graphql;
    return withContestants([gateway(setting, tenant), startPeer(main, tenant)], async (contestants) => {
      await checkLists(contestants, 'graphql');
      const subjects = contestants.map((one) =>
        subjectOf(one, listRequest(one, 'graphql', everywhere(tenant)), PACE_PER_SECOND),
      );
      const seconds = Math.max(setting.pace.seconds, LEAST_PACED_SECONDS);
      const measured = await measureAboveFloor(subjects, { ...setting.pace, seconds });
      const value = gatewayOf(measured).p99Ms / peerOf(measured, main).p99Ms;
      return { value, note: 'latency, less is better', measured };
    });
  },
};

function throughput(measured: Measured[], main: Peer): RowResult {
  const [ours, theirs] = [gatewayOf(measured), peerOf(measured, main)];
  const perCpu = (theirs.cpuMicros ?? Number.NaN) / (ours.cpuMicros ?? Number.NaN);
  const note = `requests/s; per second of processor time ${Number.isNaN(perCpu) ? 'unknown on this system' : `${perCpu.toFixed(2)} ×`}`;
  return { value: ours.requestsPerSecond / theirs.requestsPerSecond, note, measured };
}

function peerOf(measured: readonly Measured[], peer: Peer): Measured {
  return measured.find(({ name }) => name === peer) as Measured;
}
