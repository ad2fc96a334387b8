import { expect, test } from '@jest/globals';
import type { History, Read, Write } from './support/staleness/history.js';
import { DECIDED_MS, violationsOf } from './support/staleness/violations.js';

const LATER = DECIDED_MS + 1_000;

const write = (value: number, begunAt: number, endedAt: number, isAcknowledged = true): Write => ({
  pet: 'rex',
  value,
  begunAt,
  endedAt,
  isAcknowledged,
  at: 'process 0',
});
/** Null = an empty page. */
const read = (value: number | null, begunAt: number, isWhole = true): Read => ({
  begunAt,
  endedAt: begunAt + 5,
  page: { values: new Map(value === null ? [] : [['rex', value]]), isWhole },
  at: 'process 1',
});
const kinds = (history: History) => violationsOf(history).map(({ kind }) => kind);

const CREATED = write(1, 10, 20);
const CHANGED = write(2, 30, 40);
const LOST = write(3, 50, 60, false);
const WRITES = [CREATED, CHANGED, LOST];

test.each<[string, Read[]]>([
  ['a page from before the first write began', [read(null, 0)]],
  ['either state while a write is under way', [read(1, 32), read(2, 33), read(1, 34)]],
  ['a read that began before the acknowledgement and ended after it', [read(1, 39)]],
  ['the latest write', [read(2, 41)]],
  ['a write that was never acknowledged, seen or not', [read(3, 61), read(2, 62)]],
  ['such a write seen by all in the end', [read(2, 70), read(3, LATER), read(3, LATER + 9)]],
  ['such a write seen by nobody in the end', [read(3, 70), read(2, LATER), read(2, LATER + 9)]],
  ['a pet that is not on a page of several', [read(null, 45, false)]],
])('Staleness: the checker finds nothing wrong with %s', (_, reads) => {
  expect(violationsOf({ writes: WRITES, reads })).toEqual([]);
});

test.each<[string, Read[], string[]]>([
  ['a value older than the latest acknowledged', [read(1, 41)], ['stale']],
  ['an older value after the newer one was seen', [read(2, 41), read(1, 42)], ['stale']],
  ['an acknowledged pet that is not there', [read(null, 21)], ['missing']],
  ['a value that nobody has begun to write', [read(2, 20)], ['from the future']],
  ['a value that nobody wrote', [read(7, 45)], ['unknown']],
  ['a lost write seen by some for ever', [read(3, LATER), read(2, LATER + 9)], ['undecided']],
  ['a lost write that comes back', [read(2, LATER), read(3, LATER + 9)], ['undecided']],
])('Staleness: the checker finds %s', (_, reads, expected) => {
  expect(kinds({ writes: WRITES, reads })).toEqual(expected);
});

test('Staleness: the checker finds a pet that nobody created', () => {
  expect(kinds({ writes: [], reads: [read(1, 10)] })).toEqual(['unknown']);
});

test('Staleness: the checker names the read, what it saw, and the write that it should have seen', () => {
  const late = read(1, 41);
  expect(violationsOf({ writes: WRITES, reads: [late] })).toEqual([
    { kind: 'stale', pet: 'rex', read: late, seen: 1, write: CHANGED },
  ]);
});
