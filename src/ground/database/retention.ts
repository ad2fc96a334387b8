import { setImmediate as letRequestsIn } from 'node:timers/promises';
import { type FindOptionsOrder, type FindOptionsWhere, LessThan, LessThanOrEqual } from 'typeorm';
import { MINUTE_MS } from '../kernel/duration.js';
import { firstIdAt } from '../kernel/ids.js';
import type { Database } from './database.js';

/** A project with rows of this time is checked; twice the interval of the sweeps. */
const RECENT_MS = 2 * MINUTE_MS;
const RECENT_ROWS = 10_000;

/** D-173. Deletes the rows of a table that are too old, and those of a project beyond its newest. */
export class Retention<Row extends { id: bigint; projectId: bigint }> {
  constructor(
    private readonly db: Database,
    private readonly entity: new () => Row,
    private readonly bounds: { keptMs: number; maxOfProject: number },
    private readonly now: () => number,
  ) {}

  async deleteOldRows(): Promise<void> {
    const { keptMs, maxOfProject: skip } = this.bounds;
    // Ids are drawn in the order of time.
    await this.delete({ id: LessThan(firstIdAt(this.now() - keptMs)) });
    for (const projectId of await this.recentProjects()) {
      const where = { projectId } as FindOptionsWhere<Row>;
      const order = { id: 'DESC' } as FindOptionsOrder<Row>;
      const [newest] = await this.rows.find({ where, order, skip, take: 1 });
      if (newest) await this.delete({ projectId, id: LessThanOrEqual(newest.id) });
      await letRequestsIn();
    }
  }

  private async recentProjects(): Promise<bigint[]> {
    const recent = `SELECT project_id FROM ${this.rows.metadata.tableName} WHERE id >= ? ORDER BY id DESC LIMIT ${RECENT_ROWS}`;
    const found: { projectId: string | bigint }[] = await this.rows.query(
      `SELECT DISTINCT project_id AS projectId FROM (${recent}) AS recent`,
      [firstIdAt(this.now() - RECENT_MS)],
    );
    return found.map(({ projectId }) => BigInt(projectId));
  }

  private delete(where: object): Promise<number> {
    return this.db.deleteInSteps(this.entity, where as FindOptionsWhere<Row>, 'id');
  }

  private get rows() {
    return this.db.repository(this.entity);
  }
}
