import { expect, test } from '@jest/globals';
import { findingsOf } from '../support/changes/checker.js';
import type { Evidence } from '../support/changes/evidence.js';
import { report } from '../support/changes/finding.js';
import { ModelLog } from '../support/changes/model/model-log.js';
import { Schedule } from '../support/changes/model/schedule.js';
import { WRONG_LOGS } from '../support/changes/model/wrong-logs.js';
import { isLongRun } from '../support/long-run.js';

const SCHEDULES = isLongRun ? 20_000 : 3_000;
/** More than the rarest fault needs: a wrong log is found in at least one of 20 schedules. */
const WRONG_SCHEDULES = 200;

test('Changes-Proof-1: a correct log passes thousands of random schedules of writers, cuts, crashes, trims and restores', () => {
  const counts = new Map<string, number>();
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
  for (let seed = 1; seed <= SCHEDULES; seed += 1) {
    const evidence = new Schedule(new ModelLog(), seed).run();
    expect(`seed ${seed}: ${report(findingsOf(evidence))}`).toBe(`seed ${seed}: `);
    for (const { type } of evidence.traces.flatMap(({ steps }) => steps)) count(type);
    for (const { changes } of evidence.lineages) if (changes.length > 0) count('lineage');
  }
  const perSchedule = (what: string) => (counts.get(what) ?? 0) / SCHEDULES;
  expect(perSchedule('page')).toBeGreaterThan(5);
  expect(perSchedule('change')).toBeGreaterThan(20);
  expect(perSchedule('acknowledged')).toBeGreaterThan(10);
  expect(perSchedule('opened')).toBeGreaterThan(4);
  expect(perSchedule('gone')).toBeGreaterThan(1);
  expect(perSchedule('lineage')).toBeGreaterThan(3);
});

test.each(WRONG_LOGS)('Changes-Proof-2: the checker finds a $what', ({ make, kinds }) => {
  expect(kindsFoundIn(WRONG_SCHEDULES, (seed) => new Schedule(make(), seed).run())).toEqual(
    expect.arrayContaining([...kinds]),
  );
});

// The table of changes has no other order.
test('Changes-Proof-3: the checker finds a late commit also if it knows the changes only in the order of their numbers', () => {
  const [{ make }] = WRONG_LOGS;
  const kinds = kindsFoundIn(WRONG_SCHEDULES, (seed) => sortedByNumber(new Schedule(make(), seed).run()));
  expect(kinds).toEqual(expect.arrayContaining(['missing change', 'table unlike the log']));
});

function kindsFoundIn(schedules: number, evidenceOf: (seed: number) => Evidence): string[] {
  const kinds = new Set<string>();
  for (let seed = 1; seed <= schedules; seed += 1) {
    for (const { kind } of findingsOf(evidenceOf(seed))) kinds.add(kind);
  }
  return [...kinds];
}

function sortedByNumber({ lineages, traces }: Evidence): Evidence {
  return {
    traces,
    lineages: lineages.map((lineage) => ({
      ...lineage,
      changes: lineage.changes.toSorted((a, b) => a.number - b.number),
    })),
  };
}
