import { type EntityManager, In } from 'typeorm';
import { OTHER_OPERATION } from '../../ground/kernel/answered-request.js';
import { MINUTE_MS } from '../../ground/kernel/duration.js';
import { BUCKET_NAMES, type Bucket, numberOf, oldestKept } from './buckets.js';
import { UsageCount } from './usage-count.entity.js';
import { addOutcomes, DIMENSIONS, type Dimension, noOutcomes, type Tally } from './usage-counters.js';

/** A row without requests for each project and day among rows, sorted by primary key. */
export function daysOf(rows: readonly UsageCount[]): UsageCount[] {
  const days = rows
    .filter(({ bucket }) => bucket === 'day')
    .map((row): UsageCount => ({ ...row, dimension: 'door', name: 'rest', ...noOutcomes() }));
  return sorted(new Map(days.map((day) => [keyOf(day), day])));
}

/** In the order of their keys: writers that lock in the same order can't deadlock. */
function sorted(rows: ReadonlyMap<string, UsageCount>): UsageCount[] {
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

export async function storedNames(manager: EntityManager, days: readonly UsageCount[]): Promise<Names> {
  const dimension = In([...LIMITED]);
  const where = days.map(({ projectId, bucket, number }) => ({ projectId, bucket, number, dimension }));
  const select = { projectId: true, number: true, dimension: true, name: true } as const;
  const rows = days.length === 0 ? [] : await manager.find(UsageCount, { select, where });
  const names: Names = new Map();
  for (const row of rows) {
    if (row.name !== OTHER) namesIn(names, row).add(row.name);
  }
  return names;
}

/** Names that are stored for a project, a day and a dimension; further ones count as `other`. */
export const MAX_NAMES = 200;
/** The dimensions whose names a client chooses. */
const LIMITED: ReadonlySet<Dimension> = new Set(['key', 'operation']);
export const OTHER = OTHER_OPERATION;

/** The names that are stored for a project's day in a dimension, without `other`. */
type Names = Map<string, Set<string>>;

function namesIn(names: Names, day: DayOfDimension): Set<string> {
  const known = names.get(keyOf(day)) ?? new Set();
  names.set(keyOf(day), known);
  return known;
}

type DayOfDimension = Pick<UsageCount, 'projectId' | 'number' | 'dimension'>;

function keyOf({ projectId, number, dimension }: DayOfDimension): string {
  return `${projectId}/${number}/${dimension}`;
}

/** The rows of all buckets that tallies add to, sorted by primary key. `stored` grows up to `MAX_NAMES` of a day. */
export function rowsOf(tallies: readonly Tally[], nowMs: number, stored: Names | null = null): UsageCount[] {
  const rows = new Map<string, UsageCount>();
  for (const tally of tallies) {
    const { projectId, minute, counts } = tally;
    const number = (bucket: Bucket) => numberOf(bucket, minute * MINUTE_MS);
    // After a long wait for the database, a tally can be too old to keep.
    const kept = BUCKET_NAMES.map((bucket) => ({ bucket, number: number(bucket) })).filter(
      ({ bucket, number }) => number >= oldestKept(bucket, nowMs),
    );
    for (const dimension of DIMENSIONS) {
      const isLimited = stored !== null && LIMITED.has(dimension);
      const names = isLimited ? namesIn(stored, { projectId, number: number('day'), dimension }) : null;
      for (const [given, outcomes] of counts[dimension]) {
        const name = names ? nameWithin(names, String(given)) : String(given);
        for (const bucket of kept) add(rows, { projectId, dimension, name, ...bucket, ...outcomes });
      }
    }
  }
  return sorted(rows);
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
