import { BUCKETS, type Bucket, numberOf, oldestKept } from './buckets.js';
import type { UsageCount } from './usage-count.entity.js';
import { SERIES, type Tally } from './usage-counters.js';

/** The rows that tallies add to: of their minutes and of their days, in the order of the primary key. */
export function rowsOf(tallies: readonly Tally[], nowMs: number): UsageCount[] {
  const rows = new Map<string, UsageCount>();
  for (const tally of tallies) {
    for (const bucket of Object.keys(BUCKETS) as Bucket[]) {
      const number = numberOf(bucket, tally.minute * BUCKETS.minute.sizeMs);
      // What waited for the database for long may be too old to be kept.
      if (number < oldestKept(bucket, nowMs)) continue;
      for (const door of SERIES)
        add(rows, { projectId: tally.projectId, bucket, number, door, ...tally[door] });
    }
  }
  return [...rows.values()].sort(byKey);
}

function add(rows: Map<string, UsageCount>, row: UsageCount): void {
  if (row.admitted === 0 && row.refused === 0) return;
  const key = `${row.projectId}/${row.bucket}/${row.number}/${row.door}`;
  const known = rows.get(key);
  if (!known) return void rows.set(key, row);
  known.admitted += row.admitted;
  known.refused += row.refused;
}

function byKey(a: UsageCount, b: UsageCount): number {
  if (a.projectId !== b.projectId) return a.projectId < b.projectId ? -1 : 1;
  if (a.bucket !== b.bucket) return a.bucket < b.bucket ? -1 : 1;
  return a.number - b.number || (a.door < b.door ? -1 : 1);
}
