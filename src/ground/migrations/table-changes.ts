import { type MigrationInterface, type QueryRunner, Table, type TableOptions } from 'typeorm';
import { changeOnMysql } from './change-on-mysql.js';
import { changeOnSqlite } from './change-on-sqlite.js';
import { requireChangeable } from './changeable.js';
import type { ColumnChange, TableChange } from './changed-values.js';
import { exactCollation, isSqlite, NewTables } from './tables.js';

export { DroppedFilledTable, NewFilledTable } from './filled-tables.js';
export { isSqlite, type TableChange };

/** Creates the table of a noun, and drops it when it is undone. Its texts are compared by all their bytes. */
export abstract class NewTable extends NewTables {
  abstract readonly table: TableOptions;

  protected get tables(): Table[] {
    return [new Table(this.table)];
  }

  protected override collation(runner: QueryRunner): Promise<string> {
    return exactCollation(runner);
  }
}

/**
 * Changes one table, all at once: MySQL does it in one statement, SQLite in the transaction of the migration. A migration that
 * fails has changed neither columns nor values, and can run again. D-283.
 */
export abstract class ChangedTable implements MigrationInterface {
  abstract readonly table: string;
  abstract readonly changes: readonly TableChange[];

  get locks() {
    const waits = `Writes to ${this.table} wait while the table is built again.`;
    const copies = this.changes.some(
      (change) => 'dropColumn' in change || ('changeColumn' in change && !isRename(change)),
    );
    return { mysql: copies ? waits : null, sqlite: waits };
  }

  /** All that a definition can need of it; null = only a run tells. D-282. */
  get declared(): readonly TableChange[] | null {
    return this.up === ChangedTable.prototype.up ? this.changes : null;
  }

  up(runner: QueryRunner): Promise<void> {
    return apply(runner, this.table, this.changes);
  }

  down(runner: QueryRunner): Promise<void> {
    return apply(runner, this.table, this.changes.toReversed().map(inverse));
  }
}

/** Of the name alone, which copies no row on MySQL. */
function isRename({ changeColumn: { name: _, ...to }, from: { name: __, ...from } }: ColumnChange): boolean {
  return JSON.stringify(to) === JSON.stringify(from);
}

function inverse(change: TableChange): TableChange {
  if ('addColumn' in change) return { dropColumn: change.addColumn };
  if ('dropColumn' in change) return { addColumn: change.dropColumn };
  if ('changeColumn' in change) return { changeColumn: change.from, from: change.changeColumn };
  if ('createIndex' in change) return { dropIndex: change.createIndex };
  return { createIndex: change.dropIndex };
}

async function apply(runner: QueryRunner, name: string, changes: readonly TableChange[]): Promise<void> {
  const table = await runner.getTable(name);
  if (!table) throw new Error(`The table ${name} does not exist`);
  // MySQL undoes nothing, so all that can be wrong with records is found before the first change.
  await requireChangeable(runner, table, changes);
  if (isSqlite(runner)) await changeOnSqlite(runner, table, changes);
  else await changeOnMysql(runner, table, changes);
}
