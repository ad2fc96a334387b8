import { Table, TableIndex } from 'typeorm';
import type { DatabaseSchema } from '../../database/data-source.js';
import { changedColumns } from '../change-on-sqlite.js';
import { DroppedFilledTable, type FilledTable, NewFilledTable } from '../filled-tables.js';
import { ChangedTable, type TableChange } from '../table-changes.js';
import { NewTables } from '../tables.js';

/**
 * The tables that the migrations declare. No statement runs. null = a migration does more than it declares, or changes a table
 * that is not there: then only a run can tell.
 */
export function declaredTables({ migrations }: DatabaseSchema): Map<string, Table> | null {
  const tables = new Map<string, Table>();
  for (const Migration of migrations) {
    const migration: object = new Migration();
    if (migration instanceof NewTables) {
      if (!migration.declared) return null;
      for (const table of migration.declared) tables.set(table.name, table);
    } else if (migration instanceof ChangedTable) {
      const table = tables.get(migration.table);
      if (!migration.declared || !table || !isThere(table, migration.declared)) return null;
      tables.set(table.name, changed(table, migration.declared));
    } else if (migration instanceof NewFilledTable) {
      tables.set(migration.table.name, new Table(migration.table));
    } else if (migration instanceof DroppedFilledTable) {
      tables.delete(migration.table.name);
    } else return null;
  }
  return tables;
}

/** The tables that are filled from others, by name, as the migrations make them. */
export function filledTables({ migrations }: DatabaseSchema): Map<string, FilledTable> {
  const tables = new Map<string, FilledTable>();
  for (const Migration of migrations) {
    const migration: object = new Migration();
    if (migration instanceof NewFilledTable) tables.set(migration.table.name, migration.table);
    if (migration instanceof DroppedFilledTable) tables.delete(migration.table.name);
  }
  return tables;
}

function isThere({ columns, indices }: Table, changes: readonly TableChange[]): boolean {
  const hasColumn = (name: string) => columns.some((column) => column.name === name);
  return changes.every((change) => {
    if ('dropColumn' in change) return hasColumn(change.dropColumn.name);
    if ('changeColumn' in change) return hasColumn(change.from.name);
    if ('dropIndex' in change) return indices.some(({ name }) => name === change.dropIndex.name);
    return true;
  });
}

function changed(before: Table, changes: readonly TableChange[]): Table {
  const names = new Map(
    changes.flatMap((change) =>
      'changeColumn' in change ? [[change.from.name, change.changeColumn.name] as const] : [],
    ),
  );
  const dropped = changes.flatMap((change) => ('dropIndex' in change ? [change.dropIndex.name] : []));
  const kept = before.indices
    .filter(({ name }) => !dropped.includes(name))
    .map((index) => {
      const columnNames = index.columnNames.map((name) => names.get(name) ?? name);
      return new TableIndex({ ...index, columnNames });
    });
  const created = changes.flatMap((change) =>
    'createIndex' in change ? [new TableIndex(change.createIndex)] : [],
  );
  const after = before.clone();
  after.columns = changedColumns(before, changes);
  after.indices = [...kept, ...created];
  return after;
}
