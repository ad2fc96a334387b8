import { setImmediate as letRequestsIn } from 'node:timers/promises';
import { type EntityManager, In, LessThan, LessThanOrEqual } from 'typeorm';
import { Batches, deleteOldWriters } from '../database/batches.js';
import type { Database } from '../database/database.js';
import { addUp } from '../database/insert-rows.js';
import { BUCKET_NAMES, type Bucket, oldestKept } from './buckets.js';
import { UsageCount } from './usage-count.entity.js';
import type { Dimension, Tally } from './usage-counters.js';
import { LIMITED, type NamesOf, OTHER, rowsOf } from './usage-rows.js';

const COUNTERS = ['admitted', 'refused', 'failed', 'units'] as const;
const SWEEP_ROWS = 500;
const SWEEPS_AT_ONCE = 400;

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
      const number = LessThan(oldestKept(bucket, this.now()));
      for (let round = 0; round < SWEEPS_AT_ONCE; round += 1) {
        const old = await this.table.find({
          select: { number: true, projectId: true },
          where: { bucket, number },
          order: { number: 'ASC', projectId: 'ASC' },
          take: SWEEP_ROWS,
        });
        const last = old.at(-1);
        if (!last) break;
        const upTo = { number: last.number, projectId: LessThanOrEqual(last.projectId) };
        await this.db.write(() => this.table.delete({ bucket, number: LessThan(last.number) }));
        await this.db.write(() => this.table.delete({ bucket, ...upTo }));
        await letRequestsIn();
      }
    }
  }

  private get table() {
    return this.db.repository(UsageCount);
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
  return {
    ...day,
    bucket: 'day',
    dimension: 'door',
    name: 'rest',
    admitted: 0,
    refused: 0,
    failed: 0,
    units: 0,
  };
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
