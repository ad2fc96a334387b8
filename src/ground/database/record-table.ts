import { type EntityManager, type FindOptionsWhere, In, type QueryDeepPartialEntity } from 'typeorm';
import type { DataVersions } from '../kernel/data-versions.js';
import type { Database } from './database.js';
import { insertTogether } from './insert-rows.js';

/** The first columns of every noun's row; together they are its primary key. */
export interface ProjectRow {
  projectId: bigint;
  id: bigint;
}

/** Runs in the transaction of a write, such as storing its answer for an Idempotency-Key; null = nothing runs. */
export type Alongside<T> = ((manager: EntityManager, result: T) => Promise<void>) | null;

/** The table of a noun. Every write changes the project's data version. */
export class RecordTable<Row extends ProjectRow> {
  constructor(
    private readonly entity: new () => Row,
    protected readonly db: Database,
    protected readonly versions: DataVersions,
  ) {}

  find(projectId: bigint, id: bigint): Promise<Row | null> {
    return this.repository.findOneBy(keyOf<Row>(projectId, id));
  }

  /** The project's records among these ids, in any order. */
  findAll(projectId: bigint, ids: readonly bigint[]): Promise<Row[]> {
    return this.repository.findBy({ projectId, id: In([...ids]) } as FindOptionsWhere<Row>);
  }

  /**
   * Inserts records of one project in a transaction with `alongside`, with one statement: all of them, or none. Throws what
   * the driver throws: `isDuplicateId` for a taken id, `isDuplicate` for any value that must be unique.
   */
  insertAll(projectId: bigint, rows: readonly Row[], alongside: Alongside<Row[]>): Promise<void> {
    return this.versions.change(projectId, () =>
      this.db.transaction(async (manager) => {
        await insertTogether(manager, this.entity, rows);
        await alongside?.(manager, [...rows]);
      }),
    );
  }

  /** Returns the changed record; null = there is none. Throws as `insertAll`. */
  update(
    projectId: bigint,
    id: bigint,
    changes: Partial<Row>,
    alongside: Alongside<Row>,
  ): Promise<Row | null> {
    return this.change(projectId, alongside, async (manager) => {
      const key = keyOf<Row>(projectId, id);
      await manager.update(this.entity, key, changes as QueryDeepPartialEntity<Row>);
      const row = await manager.findOneBy(this.entity, key);
      if (row) await alongside?.(manager, row);
      return row;
    });
  }

  /** Returns whether the record existed. If it did, `alongside` runs. */
  delete(projectId: bigint, id: bigint, alongside: Alongside<bigint>): Promise<boolean> {
    return this.change(projectId, alongside, async (manager) => {
      const { affected } = await manager.delete(this.entity, keyOf<Row>(projectId, id));
      if (affected === 1) await alongside?.(manager, id);
      return affected === 1;
    });
  }

  protected get repository() {
    return this.db.repository(this.entity);
  }

  /** Without something alongside, a transaction would only add two statements. */
  private change<T, R>(
    projectId: bigint,
    alongside: Alongside<R>,
    work: (manager: EntityManager) => Promise<T>,
  ): Promise<T> {
    const alone = () => this.db.write(() => work(this.repository.manager));
    return this.versions.change(projectId, alongside ? () => this.db.transaction(work) : alone);
  }
}

function keyOf<Row extends ProjectRow>(projectId: bigint, id: bigint): FindOptionsWhere<Row> {
  return { projectId, id } as FindOptionsWhere<Row>;
}
