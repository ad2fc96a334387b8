import type { History, Read, Write } from './history.js';

/** What a read showed that it may not have shown, or the other way round. */
export interface Violation {
  readonly kind: 'missing' | 'stale' | 'from the future' | 'unknown' | 'undecided';
  readonly pet: string;
  readonly read: Read;
  /** Null = the pet was not on the page. */
  readonly seen: number | null;
  /** The write that speaks against it. */
  readonly write: Write | null;
}

/** A write that nobody acknowledged was seen or not by everybody who asked this long after its end. */
export const DECIDED_MS = 2_000;

/**
 * The reads that break the promise: a read shows at least the latest write that was acknowledged before it began, and
 * nothing that nobody had begun to write when it ended. What was never acknowledged may be seen or not, in time by all.
 */
export function violationsOf({ writes, reads }: History): Violation[] {
  const byPet = new Map<string, Write[]>();
  for (const write of writes) byPet.set(write.pet, [...(byPet.get(write.pet) ?? []), write]);
  return [
    ...reads.flatMap((read) => violationsOfRead(read, byPet)),
    ...writes.flatMap((write) => (write.isAcknowledged ? [] : undecided(write, reads))),
  ];
}

function violationsOfRead(read: Read, byPet: ReadonlyMap<string, Write[]>): Violation[] {
  const violations: Violation[] = [];
  for (const [pet, writes] of byPet) {
    const seen = read.page.values.get(pet) ?? null;
    if (seen === null && !read.page.isWhole) continue;
    const due = writes.findLast(({ isAcknowledged, endedAt }) => isAcknowledged && endedAt < read.begunAt);
    if (due && (seen === null || seen < due.value)) {
      violations.push({ kind: seen === null ? 'missing' : 'stale', pet, read, seen, write: due });
    }
    const source = writes.find(({ value }) => value === seen);
    if (source && source.begunAt > read.endedAt) {
      violations.push({ kind: 'from the future', pet, read, seen, write: source });
    }
    if (seen !== null && !source) violations.push({ kind: 'unknown', pet, read, seen, write: null });
  }
  for (const [pet, seen] of read.page.values) {
    if (!byPet.has(pet)) violations.push({ kind: 'unknown', pet, read, seen, write: null });
  }
  return violations;
}

/** The first read, long after the write, that tells something else about it than another one. */
function undecided(write: Write, reads: readonly Read[]): Violation[] {
  const late = reads.filter(({ begunAt }) => begunAt > write.endedAt + DECIDED_MS);
  const sees = ({ page }: Read) => (page.values.get(write.pet) ?? Number.NEGATIVE_INFINITY) >= write.value;
  const asked = late.filter(({ page }) => page.isWhole || page.values.has(write.pet));
  const [first] = asked;
  const other = first && asked.find((read) => sees(read) !== sees(first));
  if (!other) return [];
  return [
    { kind: 'undecided', pet: write.pet, read: other, seen: other.page.values.get(write.pet) ?? null, write },
  ];
}
