import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { Gateways } from '../support/staleness/gateways.js';
import { StalenessLoad, WRITE_SHARE } from '../support/staleness/load.js';
import { dieAndReturn, type Return } from '../support/staleness/redis-mishaps.js';
import { type Mishap, report } from '../support/staleness/report.js';
import { violationsOf } from '../support/staleness/violations.js';

/** If set, the run lasts until this many operations are done. */
const WANTED = Number(process.env.STALENESS_OPERATIONS ?? 0);
const RUN_MS = 12_000;
const FEWEST = 5_000;
/** The smallest number of reads from memory. */
const FEWEST_FROM_MEMORY = 250;
/** A busy machine may take up to ten times as long. */
const MOST_MS = 10 * RUN_MS;
const LONGEST_MS = 3_600_000;
/** Operations between two deaths of Redis, while it is away, and just after its return. */
const BETWEEN = 600;
const WHILE_AWAY = 40;
const RESTLESS = 100;
/** The share of writes among the operations while Redis is away and just after. */
const RESTLESS_SHARE = 0.12;
/** Starting a process takes as much processor time as hundreds of requests. */
const BETWEEN_KILLS = 1_500;
const RETURNS: Return[] = ['with its data', 'empty', 'with the data of a while ago'];

let gateways: Gateways;
beforeAll(async () => {
  gateways = await Gateways.start();
}, 120_000);
afterAll(() => gateways.stop());

test(
  'Staleness-1: with three processes every read returns the latest write acknowledged before it began, while Redis restarts and writers are killed',
  async () => {
    const load = new StalenessLoad(gateways.targets, () => gateways.newToken());
    const events: Mishap[] = [];
    const indexReadsBefore = await gateways.indexReads();
    const startedAt = performance.now();
    const isOver = () => {
      if (WANTED > 0) return load.operations >= WANTED;
      const tookMs = performance.now() - startedAt;
      const isEnough = load.operations >= FEWEST && fromMemory > FEWEST_FROM_MEMORY;
      return tookMs > MOST_MS || (tookMs > RUN_MS && isEnough);
    };
    // Every other read entered an index, as did other statements, so this is a lower bound.
    let fromMemory = 0;
    const countFromMemory = async () => {
      fromMemory = load.counts.reads - ((await gateways.indexReads()) - indexReadsBefore);
    };
    const more = (operations: number) => {
      const wanted = load.operations + operations;
      return eventually('operations', () => isOver() || load.operations >= wanted, MOST_MS);
    };
    const noted = async (what: string, work: () => Promise<void>) => {
      const begunAt = performance.now();
      await work();
      events.push({ what, begunAt, endedAt: performance.now() });
    };
    let deaths = 0;
    let kills = 0;
    const endRedis = async () => {
      for (; !isOver(); deaths += 1) {
        const how = RETURNS[deaths % RETURNS.length] as Return;
        const meanwhile = async () => void (await more(WHILE_AWAY));
        // Each process detects the outage separately, so the writes around it are those that others could miss.
        load.writeShare = RESTLESS_SHARE;
        await noted(`Redis died and came back ${how}`, () => dieAndReturn(gateways.redis, how, meanwhile));
        await more(RESTLESS);
        load.writeShare = WRITE_SHARE;
        await more(BETWEEN);
      }
    };
    const endWriters = async () => {
      for (; !isOver(); kills += 1) {
        const index = kills % gateways.targets.length;
        await noted(`process ${index} died and came back`, () => gateways.killWriter(index));
        await more(BETWEEN_KILLS);
      }
    };
    const countOn = async () => {
      for (; !isOver(); await countFromMemory()) await more(BETWEEN);
    };
    let isCalm = false;
    const mishaps = Promise.all([endRedis(), endWriters(), countOn()]).finally(() => {
      isCalm = true;
    });
    // `killWriter` waits for a write, so the load must continue until the mishaps are over.
    await load.run(() => isOver() && isCalm);
    await mishaps;

    await countFromMemory();
    const found = load.histories.flatMap((history) =>
      violationsOf(history).map((violation) => ({ history, violation })),
    );
    if (WANTED > 0) {
      const tookMs = Math.round(performance.now() - startedAt);
      const proof = { ...load.counts, fromMemory, deaths, kills, violations: found.length, tookMs };
      process.stdout.write(`${JSON.stringify(proof)}\n`);
    }
    expect(report(found, events)).toBe('');
    expect(load.operations).toBeGreaterThanOrEqual(FEWEST);
    expect(Math.min(deaths, kills)).toBeGreaterThan(0);
    expect(fromMemory).toBeGreaterThan(FEWEST_FROM_MEMORY);
    expect(gateways.faults()).toEqual([]);
  },
  LONGEST_MS,
);
