import {
  type MigrationInterface,
  type QueryRunner,
  Table,
  TableColumn,
  type TableColumnOptions,
  type TableIndexOptions,
  type TableOptions,
} from 'typeorm';
import { exactCollation, isSqlite, NewTables } from './tables.js';

export { isSqlite };

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

/** A step, with all that undoes it. */
export type TableChange =
  | { readonly addColumn: TableColumnOptions }
  | { readonly dropColumn: TableColumnOptions }
  | { readonly changeColumn: TableColumnOptions; readonly from: TableColumnOptions }
  | { readonly createIndex: TableIndexOptions }
  | { readonly dropIndex: TableIndexOptions };

/**
 * Changes one table, all at once: MySQL does it in one statement, SQLite in the transaction of the migration. A migration that
 * fails has changed no column, and can run again. D-283.
 */
export abstract class ChangedTable implements MigrationInterface {
  abstract readonly table: string;
  abstract readonly changes: readonly TableChange[];

  get locks() {
    const waits = `Writes to ${this.table} wait while the table is built again.`;
    const copies = this.changes.some((change) => 'changeColumn' in change || 'dropColumn' in change);
    return { mysql: copies ? waits : null, sqlite: waits };
  }

  up(runner: QueryRunner): Promise<void> {
    return apply(runner, this.table, this.changes);
  }

  down(runner: QueryRunner): Promise<void> {
    return apply(runner, this.table, this.changes.toReversed().map(inverse));
  }
}

function inverse(change: TableChange): TableChange {
  if ('addColumn' in change) return { dropColumn: change.addColumn };
  if ('dropColumn' in change) return { addColumn: change.dropColumn };
  if ('changeColumn' in change) return { changeColumn: change.from, from: change.changeColumn };
  if ('createIndex' in change) return { dropIndex: change.createIndex };
  return { createIndex: change.dropIndex };
}

async function apply(runner: QueryRunner, table: string, changes: readonly TableChange[]): Promise<void> {
  for (const change of changes) {
    if ('changeColumn' in change) await fitValues(runner, table, change.from, change.changeColumn);
  }
  if (isSqlite(runner)) return changeOnSqlite(runner, table, changes);
  const collation = await exactCollation(runner);
  const clauses = changes.map((change) => mysqlClause(change, collation));
  await runner.query(`ALTER TABLE ${quoted(table)} ${clauses.join(', ')}`);
}

/** Makes the values fit a narrower column. Throws an `Error` if a record lacks the value that it now needs. */
async function fitValues(
  runner: QueryRunner,
  table: string,
  from: TableColumnOptions,
  to: TableColumnOptions,
) {
  const [rows, column] = [quoted(table), quoted(to.name)];
  if (Number(to.length ?? Infinity) < Number(from.length ?? Infinity)) {
    const cut = `SUBSTR(${column}, 1, ${Number(to.length)})`;
    await runner.query(`UPDATE ${rows} SET ${column} = ${cut} WHERE ${column} <> ${cut}`);
  }
  if (to.isNullable || !from.isNullable) return;
  if (to.default !== undefined) {
    await runner.query(`UPDATE ${rows} SET ${column} = ${to.default} WHERE ${column} IS NULL`);
  }
  const [{ count }] = await runner.query(`SELECT COUNT(*) AS count FROM ${rows} WHERE ${column} IS NULL`);
  if (Number(count) > 0) {
    throw new Error(
      `${count} rows of ${table} have no ${to.name}, which is required now. Give them one first`,
    );
  }
}

function mysqlClause(change: TableChange, collation: string): string {
  if ('addColumn' in change) return `ADD COLUMN ${mysqlColumn(change.addColumn, collation)}`;
  if ('dropColumn' in change) return `DROP COLUMN ${quoted(change.dropColumn.name)}`;
  if ('changeColumn' in change) return `MODIFY COLUMN ${mysqlColumn(change.changeColumn, collation)}`;
  if ('createIndex' in change) {
    const { name = '', columnNames, isUnique } = change.createIndex;
    return `ADD ${isUnique ? 'UNIQUE ' : ''}INDEX ${quoted(name)} (${columnNames.map(quoted).join(', ')})`;
  }
  return `DROP INDEX ${quoted(change.dropIndex.name ?? '')}`;
}

function mysqlColumn(
  { name, type, length, isNullable, default: byDefault }: TableColumnOptions,
  collation: string,
) {
  const isText = type === 'varchar' || type === 'text';
  return [
    quoted(name),
    length === undefined || length === '' ? type : `${type}(${length})`,
    ...(isText ? [`CHARACTER SET utf8mb4 COLLATE ${collation}`] : []),
    isNullable ? 'NULL' : 'NOT NULL',
    ...(byDefault === undefined ? [] : [`DEFAULT ${byDefault}`]),
  ].join(' ');
}

async function changeOnSqlite(runner: QueryRunner, name: string, changes: readonly TableChange[]) {
  // With the indexes and triggers that somebody added by hand.
  const kept: { name: string; sql: string }[] = await runner.query(
    'SELECT name, sql FROM sqlite_master WHERE tbl_name = ? AND name <> tbl_name AND sql IS NOT NULL',
    [name],
  );
  const dropped = new Set(
    changes.flatMap((change) => ('dropIndex' in change ? [change.dropIndex.name] : [])),
  );
  const isRebuilt = changes.some(
    (change) => 'addColumn' in change || 'dropColumn' in change || 'changeColumn' in change,
  );
  for (const index of dropped) await runner.query(`DROP INDEX ${quoted(index ?? '')}`);
  if (isRebuilt) await rebuild(runner, name, changes);
  const restored = isRebuilt ? kept.filter((each) => !dropped.has(each.name)) : [];
  const created = changes.flatMap((change) =>
    'createIndex' in change ? [sqliteIndex(name, change.createIndex)] : [],
  );
  for (const sql of [...restored.map(({ sql }) => sql), ...created]) await runner.query(sql);
}

/** SQLite changes no column in its place. TypeORM would copy the table once for each. */
async function rebuild(runner: QueryRunner, name: string, changes: readonly TableChange[]) {
  const before = await runner.getTable(name);
  if (!before) throw new Error(`The table ${name} does not exist`);
  const after = before.clone();
  after.name = `new_${name}`;
  after.indices = [];
  const values = new Map(before.columns.map((column) => [column.name, quoted(column.name)]));
  for (const change of changes) {
    if ('addColumn' in change) {
      after.addColumn(new TableColumn(change.addColumn));
      values.set(change.addColumn.name, firstValue(change.addColumn));
    } else if ('dropColumn' in change) {
      const { name: column } = change.dropColumn;
      after.columns = after.columns.filter((each) => each.name !== column);
      values.delete(column);
    } else if ('changeColumn' in change) {
      const { changeColumn: column } = change;
      after.columns = after.columns.map((each) =>
        each.name === column.name ? new TableColumn(column) : each,
      );
    }
  }
  await runner.createTable(after);
  const columns = [...values.keys()].map(quoted).join(', ');
  const selected = [...values.values()].join(', ');
  await runner.query(
    `INSERT INTO ${quoted(after.name)} (${columns}) SELECT ${selected} FROM ${quoted(name)}`,
  );
  await runner.query(`DROP TABLE ${quoted(name)}`);
  await runner.query(`ALTER TABLE ${quoted(after.name)} RENAME TO ${quoted(name)}`);
}

/** The value of rows that exist already, as MySQL chooses it. */
function firstValue({ default: byDefault, isNullable, type }: TableColumnOptions): string {
  if (byDefault !== undefined) return String(byDefault);
  if (isNullable) return 'NULL';
  return type === 'varchar' || type === 'text' ? "''" : '0';
}

function sqliteIndex(table: string, { name = '', columnNames, isUnique }: TableIndexOptions): string {
  return `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX ${quoted(name)} ON ${quoted(table)} (${columnNames.map(quoted).join(', ')})`;
}

/** SQLite reads these quotes as MySQL does. */
function quoted(name: string): string {
  return `\`${name}\``;
}
