import { describe, expect, test } from '@jest/globals';
import type { History, Read, Write } from '../support/staleness/history.js';
import { DECIDED_MS, violationsOf } from '../support/staleness/violations.js';

const LATER = DECIDED_MS + 1_000;

const write = (value: number, begunAt: number, endedAt: number, isAcknowledged = true): Write => ({
  isDeletion: false,
  toy: 'rex',
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
  ['such a write seen by all reads in the end', [read(2, 70), read(3, LATER), read(3, LATER + 9)]],
  ['such a write seen by no read in the end', [read(3, 70), read(2, LATER), read(2, LATER + 9)]],
  ['a toy that is not on a page of several', [read(null, 45, false)]],
])('Staleness-9: the checker finds nothing wrong with %s', (_, reads) => {
  expect(violationsOf({ writes: WRITES, reads })).toEqual([]);
});

test.each<[string, Read[], string[]]>([
  ['a value older than the latest acknowledged', [read(1, 41)], ['stale']],
  ['an older value after the newer one was seen', [read(2, 41), read(1, 42)], ['stale']],
  ['an acknowledged toy that is not there', [read(null, 21)], ['missing']],
  ['a value whose write has not begun', [read(2, 20)], ['from the future']],
  ['a value that was never written', [read(7, 45)], ['unknown']],
  ['a lost write that some reads keep seeing', [read(3, LATER), read(2, LATER + 9)], ['undecided']],
  ['a lost write that reappears', [read(2, LATER), read(3, LATER + 9)], ['undecided']],
])('Staleness-10: the checker finds %s', (_, reads, expected) => {
  expect(kinds({ writes: WRITES, reads })).toEqual(expected);
});

test('Staleness-11: the checker finds a toy that was never created', () => {
  expect(kinds({ writes: [], reads: [read(1, 10)] })).toEqual(['unknown']);
});

test('Staleness-12: the checker names the read, what it saw, and the write that it should have seen', () => {
  const late = read(1, 41);
  expect(violationsOf({ writes: WRITES, reads: [late] })).toEqual([
    { kind: 'stale', toy: 'rex', read: late, seen: 1, write: CHANGED },
  ]);
});

describe('Staleness-13: the checker knows deletions', () => {
  const DELETED = { ...CHANGED, isDeletion: true };
  const LOST_DELETION = { ...LOST, isDeletion: true };

  test.each<[string, Write[], Read[], string[]]>([
    ['a toy that is there or not while it is deleted', [CREATED, DELETED], [read(1, 32), read(null, 33)], []],
    ['no toy after its deletion', [CREATED, DELETED], [read(null, 41)], []],
    ['a deleted toy', [CREATED, DELETED], [read(1, 41)], ['stale']],
    ['no toy before its deletion began', [CREATED, DELETED], [read(null, 21)], ['missing']],
    [
      'a lost deletion, seen by all reads',
      [CREATED, LOST_DELETION],
      [read(null, LATER), read(null, LATER + 9)],
      [],
    ],
    [
      'a lost deletion, seen by some',
      [CREATED, LOST_DELETION],
      [read(null, LATER), read(1, LATER + 9)],
      ['undecided'],
    ],
  ])('%s', (_, writes, reads, expected) => {
    expect(kinds({ writes, reads })).toEqual(expected);
  });
});
