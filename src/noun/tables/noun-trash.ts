import { type EntityManager, type EntitySchemaOptions, LessThanOrEqual, type TableOptions } from 'typeorm';
import { TIME_MS } from '../../ground/database/columns.js';
import type { Database } from '../../ground/database/database.js';
import { deleteInSteps } from '../../ground/database/retention.js';
import type { Capability } from '../../ground/kernel/capability.js';
import { DAY_MS } from '../../ground/kernel/duration.js';
import type { RecordChange } from '../../ground/records/change-log.js';
import { KeysetCursors } from '../../ground/records/keyset-cursors.js';
import type { Beside, PlannedWrite } from '../../ground/records/record-table.js';
import type { NounModel } from '../definition/model.js';
import { entityOf } from '../records/noun-entity.js';
import type { ListedRow } from '../records/noun-list.js';
import { columnsOf } from '../records/noun-store.js';
import type { NounTable } from '../records/noun-table.js';
import type { NounRow } from '../records/row.js';

/** How long a deleted record can be restored. */
export const RESTORABLE_DAYS = 30;

/** A deleted record; `deletedAtMs` is digits. */
export type DeletedRow = ListedRow & { readonly deletedAtMs: string };

export interface DeletedRequest {
  readonly pageSize: number;
  /** Behind this record; `text` is the time of its deletion. */
  readonly after: { readonly id: bigint; readonly text: string } | null;
}

export interface DeletedPage {
  readonly rows: DeletedRow[];
  readonly hasNextPage: boolean;
}

export function deletedCursors({ description }: NounModel): KeysetCursors {
  return new KeysetCursors(description, ['deleted'], '');
}

type TrashRow = NounRow & { deletedAtMs: number };

/**
 * The deleted records of a noun, in a table of their own: lists, indexes and unique values know nothing of them. It has the
 * columns of the noun, so a written migration changes both tables. D-269.
 */
export class NounTrash implements Capability, Beside<NounRow> {
  private readonly table: string;
  private readonly columns: string;
  private readonly listed: string;

  constructor(
    private readonly model: NounModel,
    private readonly entity: new () => TrashRow,
    private readonly db: Database,
    private readonly now: () => number,
  ) {
    const own = ['project_id', 'id', ...model.fields.map(({ column }) => column), 'created_at_ms'];
    this.table = nameOf(model);
    this.columns = own.map((column) => `\`${column}\``).join(', ');
    this.listed = `${columnsOf(model)}, CAST(deleted_at_ms AS CHAR) AS \`deletedAtMs\``;
  }

  needs(write: PlannedWrite<NounRow>): boolean {
    return 'deleted' in write;
  }

  /** Copies the records that the transaction is about to delete. */
  async run(manager: EntityManager, deleted: readonly RecordChange<NounRow>[]): Promise<void> {
    const sql = `INSERT INTO ${this.table} (${this.columns}, deleted_at_ms) SELECT ${this.columns}, ? FROM ${this.model.table} WHERE project_id = ? AND id = ?`;
    for (const { before } of deleted)
      if (before) await manager.query(sql, [this.now(), before.projectId, before.id]);
  }

  /** Moves a record back, with its id. Returns false if there is none to restore. Throws what the driver throws. */
  async takeBack(manager: EntityManager, projectId: bigint, id: bigint): Promise<boolean> {
    const key = { projectId, id };
    const found = await manager.findOne(this.entity, { where: key, ...this.db.forUpdate });
    if (!found || found.deletedAtMs <= this.endedAtMs) return false;
    await manager.query(
      `INSERT INTO ${this.model.table} (${this.columns}) SELECT ${this.columns} FROM ${this.table} WHERE project_id = ? AND id = ?`,
      [projectId, id],
    );
    await manager.delete(this.entity, key);
    return true;
  }

  /** The records that can be restored, the last deleted one first: one range of an index. */
  async page(projectId: bigint, { pageSize, after }: DeletedRequest): Promise<DeletedPage> {
    const { table, db } = this;
    const position = after && [BigInt(after.text), after.id];
    const behind = position && db.dialect.behind(['deleted_at_ms', 'id'], '<', position);
    const sql = `SELECT ${this.listed} FROM ${table} ${db.dialect.forceIndex(`${table}_newest`)}
      WHERE project_id = ? AND deleted_at_ms > ? ${behind ? `AND ${behind.sql}` : ''}
      ORDER BY ${table}.deleted_at_ms DESC, ${table}.id DESC LIMIT ?`;
    const values = [projectId, this.endedAtMs, ...(behind?.values ?? []), pageSize + 1];
    const rows = await db.readList<DeletedRow>(String(projectId), sql, values);
    return { rows: rows.slice(0, pageSize), hasNextPage: rows.length > pageSize };
  }

  deleteOldRows(): Promise<number> {
    const where = { deletedAtMs: LessThanOrEqual(this.endedAtMs) };
    return deleteInSteps(this.db, this.entity, where, 'deletedAtMs');
  }

  private get endedAtMs(): number {
    return this.now() - RESTORABLE_DAYS * DAY_MS;
  }
}

const nameOf = ({ table }: NounModel) => `deleted_${table}`;

/** Its table, for migrations and for TypeORM. */
export function trashTableOf(model: NounModel, { table }: Pick<NounTable, 'table'>) {
  const name = nameOf(model);
  const Row = class {} as unknown as new () => TrashRow;
  const indices = [
    { name: `${name}_newest`, columnNames: ['project_id', 'deleted_at_ms', 'id'] },
    { name: `${name}_oldest`, columnNames: ['deleted_at_ms'] },
  ];
  const definition: TableOptions = {
    ...table,
    name,
    columns: [...(table.columns ?? []), { name: 'deleted_at_ms', type: 'bigint' }],
    indices,
  };
  const usual = entityOf({ ...model, table: name }, { table: { ...table, indices: [] } }, Row);
  const schema = {
    ...usual,
    name: `Trashed${model.description.type}`,
    columns: { ...usual.columns, deletedAtMs: { ...TIME_MS, name: 'deleted_at_ms' } },
    indices: [
      { name: indices[0]?.name, columns: ['projectId', 'deletedAtMs', 'id'] },
      { name: indices[1]?.name, columns: ['deletedAtMs'] },
    ],
  } as EntitySchemaOptions<NounRow>;
  return { Row, schema, definition };
}
