import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { FAULTS } from '../support/clusters/faults.js';
import { Balancer, changesAt, ProjectLoad, type Seen } from '../support/clusters/load.js';
import { type Engine, startThreeGateways, type ThreeGateways } from '../support/clusters/three-gateways.js';

const MINUTES = Number(process.env.TEST_CLUSTER_MINUTES ?? 20);
const ENGINES = (process.env.TEST_CLUSTER_ENGINES ?? 'galera,group').split(',') as Engine[];
const PROJECTS = 10;
const BETWEEN_MS = 14_000;
const WINDOW_MS = 8_000;
const PER_DAY = 100;
const MOST_FAILED = 0.02;

describe.each(ENGINES)('three gateways at the nodes of %s, with faults one after the other', (engine) => {
  let all: ThreeGateways;
  let loads: ProjectLoad[];
  let balancer: Balancer;
  let spender: string;
  const noted: { name: string; atMs: number }[] = [];

  beforeAll(
    async () => {
      all = await startThreeGateways(engine);
      balancer = new Balancer(all.places);
      spender = await all.tenant(PER_DAY);
      expect(await all.spend(spender, PER_DAY / 2)).toBe(PER_DAY / 2);
      const tokens: string[] = [];
      for (let at = 0; at <= PROJECTS; at += 1) tokens.push(await all.tenant());
      loads = tokens.map((token, at) => {
        const writers = at === 0 ? { count: 3, pauseMs: 200 } : { count: 1, pauseMs: 1_500 };
        return new ProjectLoad(balancer, token, writers);
      });
      const endMs = performance.now() + MINUTES * 60_000;
      for (let turn = 0; performance.now() < endMs; turn += 1) {
        const { name, run } = next(FAULTS, turn);
        await pause(BETWEEN_MS);
        await run({
          all,
          balancer,
          // Another one in each round.
          place: next(all.places, turn + Math.floor(turn / FAULTS.length)),
          note: () => noted.push({ name, atMs: performance.now() }),
        });
      }
      await pause(BETWEEN_MS);
      await Promise.all(loads.map((load) => load.end()));
      balancer.close();
      console.log(report());
    },
    MINUTES * 60_000 + 600_000,
  );
  afterAll(() => all?.stop());

  const isFailed = ({ status }: { status: number }) => status === 0 || status >= 500;
  /** The last fault before the answer; it also hits requests that are under way. */
  const faultBefore = ({ endedMs }: Seen) => noted.findLast(({ atMs }) => atMs <= endedMs);
  const faultOf = (seen: Seen) => {
    const fault = faultBefore(seen);
    return fault && seen.beganMs < fault.atMs + WINDOW_MS ? fault.name : 'calm';
  };

  /** Requests and failed ones, by fault. */
  function byFault(): Map<string, { requests: number; failed: number }> {
    const counts = new Map<string, { requests: number; failed: number }>();
    for (const seen of balancer.seen) {
      const name = faultOf(seen);
      const { requests, failed } = counts.get(name) ?? { requests: 0, failed: 0 };
      counts.set(name, { requests: requests + 1, failed: failed + Number(isFailed(seen)) });
    }
    return counts;
  }

  function report(): string {
    const failed = balancer.seen.filter(isFailed).map((seen) => {
      const { beganMs, endedMs, status, what, place, message } = seen;
      const fault = faultBefore(seen);
      const [from, to] = [beganMs, endedMs].map((ms) => Math.round(ms - (fault?.atMs ?? 0)));
      return `${status} ${what} at ${place}, ${from} to ${to} ms after "${fault?.name}": ${message}`;
    });
    const changes = loads.map(({ acknowledged }) => acknowledged.length);
    const counts = Object.fromEntries(byFault());
    return JSON.stringify({ engine, changes, counts, failed }, null, 1);
  }

  test(`Cluster-50 ${engine}: at every node the records are those of the acknowledged writes, each once`, async () => {
    const expected = loads.flatMap(({ names }) => [...names]).sort();
    for (const { node } of all.places) {
      const rows = await node.query('SELECT name FROM petstore.toys');
      expect(rows.map(({ name }) => name).sort()).toEqual(expected);
    }
  });

  test(`Cluster-51 ${engine}: another gateway shows each write once it is acknowledged`, () => {
    expect(loads.flatMap(({ stale }) => stale)).toEqual([]);
  });

  test(`Cluster-52 ${engine}: a reader of changes gets each once, in one order at all nodes, and no cursor is refused`, async () => {
    expect(balancer.seen.filter(({ status }) => status === 410)).toEqual([]);
    for (const { token, followed, acknowledged } of loads) {
      expect(inOrderOfToys(followed)).toEqual(inOrderOfToys(acknowledged));
      for (const { url } of all.places) expect(await changesAt(url, token)).toEqual(followed);
    }
  });

  test(`Cluster-53 ${engine}: a request that begins more than 8 s after a fault does not fail`, () => {
    expect(byFault().get('calm')?.failed).toBe(0);
  });

  test.each(FAULTS.map(({ name }) => name))(
    `Cluster-54 ${engine}: within 8 s after it at most 2 %% of the requests fail: %s`,
    (name) => {
      const { requests, failed } = byFault().get(name) ?? { requests: 0, failed: 0 };
      expect(requests).toBeGreaterThan(0);
      expect(failed / requests).toBeLessThanOrEqual(MOST_FAILED);
    },
  );

  test(`Cluster-55 ${engine}: a quota that was half spent before the faults admits the other half, and no more`, async () => {
    expect(await all.spend(spender, PER_DAY * 2)).toBe(PER_DAY / 2);
  });
});

/** The changes sorted by their toys; those of one toy stay in their order. */
function inOrderOfToys(changes: readonly string[]): string[] {
  const toyOf = (change: string) => change.split(' ').slice(1, 3).join(' ');
  return changes.toSorted((a, b) => toyOf(a).localeCompare(toyOf(b)));
}

function next<T>(of: readonly T[], turn: number): T {
  return of[turn % of.length] as T;
}
