import { setImmediate as letRequestsIn } from 'node:timers/promises';
import {
  type EntityTarget,
  type FindOptionsOrder,
  type FindOptionsWhere,
  LessThan,
  LessThanOrEqual,
  type ObjectLiteral,
} from 'typeorm';
import { MINUTE_MS } from '../kernel/duration.js';
import { firstIdAt } from '../kernel/ids.js';
import type { Database } from './database.js';

/** An owner with rows of this time is checked; twice the interval of the sweeps. */
const RECENT_MS = 2 * MINUTE_MS;
const RECENT_ROWS = 10_000;
const STEP_ROWS = 500;
const MAX_STEPS = 400;

interface Bounds<Row> {
  /** Null = of any age. */
  keptMs: number | null;
  maxOfOwner: number;
  /** The column with the owner of a row. */
  owner: keyof Row & string;
}

/** D-173. Deletes the rows of a table that are too old, and those of an owner, such as a project, beyond its newest. */
export class Retention<Row extends { id: bigint }> {
  constructor(
    private readonly db: Database,
    private readonly entity: new () => Row,
    private readonly bounds: Bounds<Row>,
    private readonly now: () => number,
  ) {}

  async deleteOldRows(): Promise<void> {
    const { keptMs, maxOfOwner: skip, owner } = this.bounds;
    // Ids are drawn in the order of time.
    if (keptMs !== null) await this.delete({ id: LessThan(firstIdAt(this.now() - keptMs)) });
    for (const ownerId of await this.recentOwners()) {
      const where = { [owner]: ownerId } as FindOptionsWhere<Row>;
      const order = { id: 'DESC' } as FindOptionsOrder<Row>;
      const [newest] = await this.rows.find({ where, order, skip, take: 1 });
      if (newest) await this.delete({ ...where, id: LessThanOrEqual(newest.id) });
      await letRequestsIn();
    }
  }

  private async recentOwners(): Promise<bigint[]> {
    const { metadata } = this.rows;
    const column = metadata.findColumnWithPropertyName(this.bounds.owner)?.databaseName;
    const recent = `SELECT ${column} AS owner FROM ${metadata.tableName} WHERE id >= ? ORDER BY id DESC LIMIT ${RECENT_ROWS}`;
    const found: { owner: string | bigint }[] = await this.rows.query(
      `SELECT DISTINCT owner FROM (${recent}) AS recent`,
      [firstIdAt(this.now() - RECENT_MS)],
    );
    return found.map(({ owner }) => BigInt(owner));
  }

  private delete(where: object): Promise<number> {
    return deleteInSteps(this.db, this.entity, where as FindOptionsWhere<Row>, 'id');
  }

  private get rows() {
    return this.db.repository(this.entity);
  }
}

/**
 * Deletes the matching rows, about 500 in a statement and at most 200,000, in the order of the indexed column `by`.
 * Returns their number. Requests are served in between.
 */
export async function deleteInSteps<E extends ObjectLiteral>(
  db: Database,
  entity: EntityTarget<E>,
  where: FindOptionsWhere<E>,
  by: keyof E & string,
): Promise<number> {
  const rows = db.repository(entity);
  const order = { [by]: 'ASC' } as FindOptionsOrder<E>;
  let deleted = 0;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const [last] = await rows.find({ where, order, skip: STEP_ROWS - 1, take: 1 });
    // A single statement: SQLite waits for the disk after each, which blocks requests.
    const upTo = last ? { ...where, [by]: LessThanOrEqual(last[by]) } : where;
    deleted += (await db.write(() => rows.delete(upTo))).affected ?? 0;
    if (!last) break;
    await letRequestsIn();
  }
  return deleted;
}
