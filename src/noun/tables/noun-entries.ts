import type { EntityManager, EntitySchemaOptions } from 'typeorm';
import { ID } from '../../ground/database/columns.js';
import { insertRows } from '../../ground/database/insert-rows.js';
import { entriesIn } from '../../ground/kernel/json.js';
import type { RecordChange } from '../../ground/records/change-log.js';
import type { Beside, PlannedWrite } from '../../ground/records/record-table.js';
import type { NounModel } from '../definition/model.js';
import { columnOf } from '../records/noun-entity.js';
import type { EntriesTable } from '../records/noun-table.js';
import type { NounRow } from '../records/row.js';

/** The project, the entry, the id of the record, and its values of the noun's other filters. */
type EntryRow = Pick<NounRow, 'projectId' | 'id'> & Readonly<Record<string, unknown>>;

/** Keeps the rows of the entries of a list, in the transaction of each write of a record. D-285. */
export class NounEntries implements Beside<NounRow> {
  private readonly names: readonly string[];

  constructor(
    private readonly Row: new () => EntryRow,
    private readonly entries: EntriesTable,
  ) {
    this.names = [entries.field, ...entries.others].map(({ name }) => name);
  }

  needs(write: PlannedWrite<NounRow>): boolean {
    if ('deleted' in write) return true;
    if ('changed' in write) return this.names.some((name) => name in write.values);
    return write.created.some((row) => this.rowsOf(row).length > 0);
  }

  async run(manager: EntityManager, changes: readonly RecordChange<NounRow>[]): Promise<void> {
    const kept: EntryRow[] = [];
    for (const { before, after } of changes) {
      const [had, has] = [this.rowsOf(before), this.rowsOf(after)];
      const entries = new Set(has.map((row) => row[this.entries.field.name]));
      await this.remove(
        manager,
        had.filter((row) => !entries.has(row[this.entries.field.name])),
      );
      kept.push(...has);
    }
    // All of them: a process of an earlier release may have left other rows, or none.
    await insertRows(manager, this.Row, kept, { verb: 'REPLACE' });
  }

  private rowsOf(record: NounRow | null): EntryRow[] {
    if (!record) return [];
    const { field, others } = this.entries;
    const { projectId, id } = record;
    const shared = Object.fromEntries(others.map(({ name }) => [name, record[name] ?? null]));
    const entries = entriesIn(record[field.name], Number(field.kind.column.length));
    return entries.map((entry) => ({ ...shared, projectId, [field.name]: entry, id }));
  }

  /** Rows of one record. */
  private async remove(manager: EntityManager, rows: readonly EntryRow[]): Promise<void> {
    const [first] = rows;
    if (!first) return;
    const { table, field } = this.entries;
    await manager.query(
      `DELETE FROM ${table.name} WHERE project_id = ? AND \`${field.column}\` IN (${rows.map(() => '?')}) AND id = ?`,
      [first.projectId, ...rows.map((row) => row[field.name]), first.id],
    );
  }
}

/** Its table for TypeORM. */
export function entriesEntityOf({ description }: NounModel, { table, field, others }: EntriesTable) {
  const Row = class {} as unknown as new () => EntryRow;
  const all = [field, ...others];
  const properties: Readonly<Record<string, string>> = {
    project_id: 'projectId',
    id: 'id',
    ...Object.fromEntries(all.map(({ column, name }) => [column, name])),
  };
  const schema = {
    name: `${description.type}Having${field.name}`,
    target: Row,
    tableName: table.name,
    withoutRowid: true,
    columns: {
      projectId: { ...ID, name: 'project_id', primary: true },
      [field.name]: { ...columnOf(field), primary: true },
      id: { ...ID, primary: true },
      ...Object.fromEntries(others.map((other) => [other.name, columnOf(other)])),
    },
    indices: (table.indices ?? []).map(({ name, columnNames }) => ({
      name,
      columns: columnNames.map((column) => properties[column]),
    })),
  } as unknown as EntitySchemaOptions<{ projectId: bigint }>;
  return { Row, schema };
}
