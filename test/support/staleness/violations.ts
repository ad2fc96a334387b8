import type { History, Read, Write } from './history.js';

/** A read that broke the promise, and the reason. */
export interface Violation {
  readonly kind: 'missing' | 'stale' | 'from the future' | 'unknown' | 'undecided';
  readonly toy: string;
  readonly read: Read;
  /** Null = the toy was not on the page. */
  readonly seen: number | null;
  /** The write that the read contradicts. */
  readonly write: Write | null;
}

/** This long after its end, an unacknowledged write must be seen by all reads or by none. */
export const DECIDED_MS = 2_000;

/**
 * Returns the reads that break the promise. A read shows the latest write acknowledged before it began, or a newer one
 * that began before it ended. An unacknowledged write is seen in the end by all reads or by none.
 */
export function violationsOf({ writes, reads }: History): Violation[] {
  const byToy = new Map<string, Write[]>();
  for (const write of writes) byToy.set(write.toy, [...(byToy.get(write.toy) ?? []), write]);
  return [
    ...reads.flatMap((read) => violationsOfRead(read, byToy)),
    ...writes.flatMap((write) => (write.isAcknowledged ? [] : undecided(write, reads))),
  ];
}

function violationsOfRead(read: Read, byToy: ReadonlyMap<string, Write[]>): Violation[] {
  const violations: Violation[] = [];
  for (const [toy, writes] of byToy) {
    const seen = read.page.values.get(toy) ?? null;
    if (seen === null && !read.page.isWhole) continue;
    const due = writes.findLast(({ isAcknowledged, endedAt }) => isAcknowledged && endedAt < read.begunAt);
    const isDeleted = writes.some(({ isDeletion, begunAt }) => isDeletion && begunAt < read.endedAt);
    if (due && (seen === null ? !isDeleted : seen < due.value)) {
      violations.push({ kind: seen === null ? 'missing' : 'stale', toy, read, seen, write: due });
    }
    const source = writes.find(({ value }) => value === seen);
    if (source && source.begunAt > read.endedAt) {
      violations.push({ kind: 'from the future', toy, read, seen, write: source });
    }
    if (seen !== null && !source) violations.push({ kind: 'unknown', toy, read, seen, write: null });
  }
  for (const [toy, seen] of read.page.values) {
    if (!byToy.has(toy)) violations.push({ kind: 'unknown', toy, read, seen, write: null });
  }
  return violations;
}

/** Returns the first read, long after the write, that contradicts another read about it. */
function undecided(write: Write, reads: readonly Read[]): Violation[] {
  const late = reads.filter(({ begunAt }) => begunAt > write.endedAt + DECIDED_MS);
  const sees = ({ page }: Read) => {
    const seen = page.values.get(write.toy);
    return seen === undefined ? write.isDeletion : seen >= write.value;
  };
  const asked = late.filter(({ page }) => page.isWhole || page.values.has(write.toy));
  const [first] = asked;
  const other = first && asked.find((read) => sees(read) !== sees(first));
  if (!other) return [];
  return [
    { kind: 'undecided', toy: write.toy, read: other, seen: other.page.values.get(write.toy) ?? null, write },
  ];
}
