import { type EntityManager, In, LessThan } from 'typeorm';
import { Batches, deleteOldWriters } from '../../ground/database/change-sequence.entity.js';
import type { Database } from '../../ground/database/database.js';
import { addUp } from '../../ground/database/insert-rows.js';
import { OTHER_OPERATION } from '../../ground/kernel/answered-request.js';
import { MINUTE_MS } from '../../ground/kernel/duration.js';
import { BUCKET_NAMES, type Bucket, numberOf, oldestKept } from './buckets.js';
import { UsageCount } from './usage-count.entity.js';
import {
  addOutcomes,
  DIMENSIONS,
  type Dimension,
  noOutcomes,
  OUTCOMES,
  type Tally,
} from './usage-counters.js';

/** A row as a read returns it. */
export type StoredCount = Omit<UsageCount, 'projectId' | 'bucket'>;

/** The counted requests of all processes. */
export class UsageStore {
  private readonly batches: Batches;

  constructor(
    private readonly db: Database,
    private readonly now: () => number,
  ) {
    this.batches = new Batches(db, now);
  }

  /**
   * Adds tallies to the rows of their minutes, hours and days, in one transaction: a read sees a request in all dimensions
   * or in none. The limit of names is exact among all processes, because a transaction first locks its days. After a
   * rejection the next call must bring the same tallies, which are added once.
   */
  async add(tallies: readonly Tally[]): Promise<void> {
    const nowMs = this.now();
    const days = daysOf(rowsOf(tallies, nowMs));
    await this.batches.store(async (manager) => {
      // Adding nothing to one row of a day locks it until the transaction ends.
      await addUp(manager, UsageCount, { rows: days, counters: OUTCOMES });
      const rows = rowsOf(tallies, nowMs, await storedNames(manager, days));
      await addUp(manager, UsageCount, { rows, counters: OUTCOMES });
    });
  }

  /** The rows of some dimensions, for a range of bucket numbers. One statement. */
  async read(
    projectId: bigint,
    bucket: Bucket,
    [first, last]: readonly [number, number],
    dimensions: readonly Dimension[],
  ): Promise<StoredCount[]> {
    const rows = await this.db.execute<Record<keyof StoredCount, never>>(
      `SELECT dimension, bucket_number AS number, name, admitted, refused, failed, units FROM usage_by_dimension
        WHERE project_id = ? AND bucket = ? AND dimension IN (${dimensions.map(() => '?').join(', ')})
          AND bucket_number BETWEEN ? AND ?`,
      [projectId, bucket, ...dimensions, first, last],
    );
    return rows.map(({ dimension, number, name, admitted, refused, failed, units }) => ({
      dimension,
      number: Number(number),
      name,
      admitted: Number(admitted),
      refused: Number(refused),
      failed: Number(failed),
      units: Number(units),
    }));
  }

  /** Deletes rows that are too old to keep, in batches. */
  async deleteOld(): Promise<void> {
    await deleteOldWriters(this.db, this.now());
    for (const bucket of BUCKET_NAMES) {
      const where = { bucket, number: LessThan(oldestKept(bucket, this.now())) };
      const order = { number: 'ASC' } as const;
      for (;;) {
        const oldest = await this.db.repository(UsageCount).findOne({ where, order });
        if (!oldest) break;
        await this.db.deleteInSteps(UsageCount, { bucket, number: oldest.number }, 'projectId');
      }
    }
  }
}

/** A row without requests for each project and day among rows, sorted by primary key. */
function daysOf(rows: readonly UsageCount[]): UsageCount[] {
  const days = rows
    .filter(({ bucket }) => bucket === 'day')
    .map((row): UsageCount => ({ ...row, dimension: 'door', name: 'rest', ...noOutcomes() }));
  return sorted(new Map(days.map((day) => [keyOf(day), day])));
}

/** In the order of their keys: writers that lock in the same order can't deadlock. */
function sorted(rows: ReadonlyMap<string, UsageCount>): UsageCount[] {
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

async function storedNames(manager: EntityManager, days: readonly UsageCount[]): Promise<Names> {
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
    const { projectId, minute } = tally;
    const number = (bucket: Bucket) => numberOf(bucket, minute * MINUTE_MS);
    // After a long wait for the database, a tally can be too old to keep.
    const kept = BUCKET_NAMES.map((bucket) => ({ bucket, number: number(bucket) })).filter(
      ({ bucket, number }) => number >= oldestKept(bucket, nowMs),
    );
    for (const dimension of DIMENSIONS) {
      const isLimited = stored !== null && LIMITED.has(dimension);
      const names = isLimited ? namesIn(stored, { projectId, number: number('day'), dimension }) : null;
      for (const [given, outcomes] of tally[dimension]) {
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
