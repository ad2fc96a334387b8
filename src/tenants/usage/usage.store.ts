import { type EntityManager, In, LessThan } from 'typeorm';
import { Batches, deleteOldWriters } from '../../ground/database/change-sequence.entity.js';
import type { Database } from '../../ground/database/database.js';
import { addUp } from '../../ground/database/insert-rows.js';
import { OTHER_OPERATION } from '../../ground/kernel/answered-request.js';
import { MINUTE_MS } from '../../ground/kernel/duration.js';
import { BUCKET_NAMES, type Bucket, numberOf, oldestKept } from './buckets.js';
import { UsageCount } from './usage-count.entity.js';
import { addOutcomes, DIMENSIONS, type Dimension, noOutcomes, type Tally } from './usage-counters.js';

const COUNTERS = ['admitted', 'refused', 'failed', 'units'] as const;

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
      await addUp(manager, UsageCount, { rows: days.map(lockRow), counters: COUNTERS });
      const rows = rowsOf(tallies, nowMs, await storedNames(manager, days));
      await addUp(manager, UsageCount, { rows, counters: COUNTERS });
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

interface Day {
  projectId: bigint;
  number: number;
}

/** The projects' days among rows, in the order of the rows. */
function daysOf(rows: readonly UsageCount[]): Day[] {
  const days = rows.filter(({ bucket }) => bucket === 'day');
  return [
    ...new Map(days.map((row) => [keyOf(row), { projectId: row.projectId, number: row.number }])).values(),
  ];
}

/** Adding nothing to one row of a day locks it until the transaction ends. */
function lockRow(day: Day): UsageCount {
  return { ...day, bucket: 'day', dimension: 'door', name: 'rest', ...noOutcomes() };
}

async function storedNames(manager: EntityManager, days: readonly Day[]): Promise<NamesOf> {
  const names = new Map<string, Set<string>>();
  const namesOf: NamesOf = (projectId, number, dimension) => {
    const key = `${keyOf({ projectId, number })}/${dimension}`;
    const known = names.get(key) ?? new Set();
    names.set(key, known);
    return known;
  };
  if (days.length === 0) return namesOf;
  const rows = await manager.find(UsageCount, {
    select: { projectId: true, number: true, dimension: true, name: true },
    where: days.map((day) => ({ ...day, bucket: 'day' as const, dimension: In([...LIMITED]) })),
  });
  for (const { projectId, number, dimension, name } of rows) {
    if (name !== OTHER) namesOf(projectId, number, dimension).add(name);
  }
  return namesOf;
}

function keyOf({ projectId, number }: Day): string {
  return `${projectId}/${number}`;
}

/** Names that are stored for a project, a day and a dimension; further ones count as `other`. */
export const MAX_NAMES = 200;
/** The dimensions whose names a client chooses. */
const LIMITED: ReadonlySet<Dimension> = new Set(['key', 'operation']);
export const OTHER = OTHER_OPERATION;

/** The names that are stored for a project's day in a dimension, without `other`. Grows up to `MAX_NAMES`. */
type NamesOf = (projectId: bigint, day: number, dimension: Dimension) => Set<string>;

/** The rows of all buckets that tallies add to, sorted by primary key. */
export function rowsOf(
  tallies: readonly Tally[],
  nowMs: number,
  namesOf: NamesOf | null = null,
): UsageCount[] {
  const rows = new Map<string, UsageCount>();
  for (const tally of tallies) {
    const { projectId, minute } = tally;
    const number = (bucket: Bucket) => numberOf(bucket, minute * MINUTE_MS);
    // After a long wait for the database, a tally can be too old to keep.
    const kept = BUCKET_NAMES.map((bucket) => ({ bucket, number: number(bucket) })).filter(
      ({ bucket, number }) => number >= oldestKept(bucket, nowMs),
    );
    for (const dimension of DIMENSIONS) {
      const names = LIMITED.has(dimension) && namesOf?.(projectId, number('day'), dimension);
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
