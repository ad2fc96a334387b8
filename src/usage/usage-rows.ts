import { OTHER_OPERATION } from '../kernel/answered-request.js';
import { BUCKET_NAMES, type Bucket, numberOfMinute, oldestKept } from './buckets.js';
import type { UsageCount } from './usage-count.entity.js';
import { DIMENSIONS, type Dimension, type Outcomes, type Tally } from './usage-counters.js';

/** Names that are stored for a project, a day and a dimension; further ones count as `other`. */
export const MAX_NAMES = 200;
/** The dimensions whose names a client chooses. */
export const LIMITED: ReadonlySet<Dimension> = new Set(['key', 'operation']);
export const OTHER = OTHER_OPERATION;

/** The names that are stored for a project's day in a dimension, without `other`. Grows up to `MAX_NAMES`. */
export type NamesOf = (projectId: bigint, day: number, dimension: Dimension) => Set<string>;

/** The rows of all buckets that tallies add to, sorted by primary key. */
export function rowsOf(
  tallies: readonly Tally[],
  nowMs: number,
  namesOf: NamesOf | null = null,
): UsageCount[] {
  const rows = new Map<string, UsageCount>();
  for (const tally of tallies) {
    const { projectId, minute } = tally;
    // After a long wait for the database, a tally can be too old to keep.
    const kept = BUCKET_NAMES.map((bucket) => ({ bucket, number: numberOfMinute(bucket, minute) })).filter(
      ({ bucket, number }) => number >= oldestKept(bucket, nowMs),
    );
    for (const dimension of DIMENSIONS) {
      const names = LIMITED.has(dimension) && namesOf?.(projectId, numberOfMinute('day', minute), dimension);
      for (const [given, outcomes] of tally[dimension]) {
        const name = names ? nameWithin(names, String(given)) : String(given);
        for (const bucket of kept) add(rows, { projectId, dimension, name, ...bucket, ...outcomes });
      }
    }
  }
  return [...rows.values()].sort(byKey);
}

function nameWithin(names: Set<string>, name: string): string {
  if (name === OTHER || names.has(name)) return name;
  if (names.size >= MAX_NAMES) return OTHER;
  names.add(name);
  return name;
}

function add(rows: Map<string, UsageCount>, row: UsageCount): void {
  const key = `${row.projectId}/${row.bucket}/${row.dimension}/${row.number}/${row.name}`;
  const known = rows.get(key);
  if (known) addOutcomes(known, row);
  else rows.set(key, row);
}

export function addOutcomes(to: Outcomes, { admitted, refused, failed, units }: Outcomes): void {
  to.admitted += admitted;
  to.refused += refused;
  to.failed += failed;
  to.units += units;
}

function byKey(a: UsageCount, b: UsageCount): number {
  return (
    compare(a.projectId, b.projectId) ||
    compare<Bucket>(a.bucket, b.bucket) ||
    compare<Dimension>(a.dimension, b.dimension) ||
    a.number - b.number ||
    compare(a.name, b.name)
  );
}

function compare<T extends string | bigint>(a: T, b: T): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
