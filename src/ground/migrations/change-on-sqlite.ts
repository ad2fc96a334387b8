import {
  type QueryRunner,
  type Table,
  TableColumn,
  type TableColumnOptions,
  type TableIndexOptions,
} from 'typeorm';
import { sortableDecimal } from '../kernel/decimals.js';
import { AppError } from '../kernel/errors.js';
import { changedValues, quoted, type TableChange } from './changed-values.js';

interface Owned {
  readonly type: 'index' | 'trigger' | 'view';
  readonly name: string;
  readonly owner: string;
  readonly sql: string;
}

/** In the transaction of the migration. Indexes, triggers and views that somebody made by hand stay. */
export async function changeOnSqlite(
  runner: QueryRunner,
  before: Table,
  changes: readonly TableChange[],
): Promise<void> {
  const { name } = before;
  const dropped = changes.flatMap((change) => ('dropIndex' in change ? [change.dropIndex.name ?? ''] : []));
  for (const index of dropped) await runner.query(`DROP INDEX ${quoted(index)}`);
  // SQLite puts the new name into triggers and views too.
  for (const change of changes) {
    if (!('changeColumn' in change) || change.from.name === change.changeColumn.name) continue;
    const [from, to] = [change.from.name, change.changeColumn.name].map(quoted);
    await runner.query(`ALTER TABLE ${quoted(name)} RENAME COLUMN ${from} TO ${to}`);
  }
  const isRebuilt = changes.some((change) => !('createIndex' in change || 'dropIndex' in change));
  if (isRebuilt) await rebuild(runner, name, changes.map(withoutRename).map(withSortableDefault));
  for (const change of changes) {
    if ('createIndex' in change) await runner.query(createIndex(name, change.createIndex));
  }
}

function withoutRename(change: TableChange): TableChange {
  if (!('changeColumn' in change)) return change;
  return { ...change, from: { ...change.from, name: change.changeColumn.name } };
}

/** As the platform writes a decimal on SQLite. */
function withSortableDefault(change: TableChange): TableChange {
  const sortable = (column: TableColumnOptions): TableColumnOptions =>
    column.type === 'decimal' && column.default !== undefined
      ? { ...column, default: `'${sortableDecimal(String(column.default))}'` }
      : column;
  if ('addColumn' in change) return { addColumn: sortable(change.addColumn) };
  return 'changeColumn' in change ? { ...change, changeColumn: sortable(change.changeColumn) } : change;
}

/** SQLite changes no column in its place. TypeORM would copy the table once for each. */
async function rebuild(runner: QueryRunner, name: string, changes: readonly TableChange[]): Promise<void> {
  const before = (await runner.getTable(name)) as Table;
  const kept: Owned[] = await runner.query(
    "SELECT type, name, tbl_name AS owner, sql FROM sqlite_master WHERE tbl_name = ? AND type IN ('index', 'trigger') AND sql IS NOT NULL",
    [name],
  );
  const after = before.clone();
  after.name = `new_${name}`;
  after.indices = [];
  after.columns = changedColumns(before, changes);
  await runner.createTable(after);
  const values = changedValues(before, changes);
  const columns = [...values.keys()].map(quoted).join(', ');
  await runner.query(
    `INSERT INTO ${quoted(after.name)} (${columns}) SELECT ${[...values.values()].join(', ')} FROM ${quoted(name)}`,
  );
  await runner.query(`DROP TABLE ${quoted(name)}`);
  // Otherwise the new name is refused while a view or a trigger of another table names the table.
  await runner.query('PRAGMA legacy_alter_table = ON');
  await runner
    .query(`ALTER TABLE ${quoted(after.name)} RENAME TO ${quoted(name)}`)
    .finally(() => runner.query('PRAGMA legacy_alter_table = OFF'));
  await requireOthers(runner, name);
  for (const { type, name: own, sql } of kept) {
    const restored = async () => {
      await runner.query(sql);
      if (type === 'trigger') await requireWritable(runner, name, sql);
    };
    await restored().catch((error) => {
      throw unusable(type, own, name, error);
    });
  }
}

/** The columns after the changes. A renamed one has its place. */
export function changedColumns({ columns }: Table, changes: readonly TableChange[]): TableColumn[] {
  const replaced = new Map<string, TableColumn | null>();
  const added: TableColumn[] = [];
  for (const change of changes) {
    if ('addColumn' in change) added.push(new TableColumn(change.addColumn));
    if ('dropColumn' in change) replaced.set(change.dropColumn.name, null);
    if ('changeColumn' in change) replaced.set(change.from.name, new TableColumn(change.changeColumn));
  }
  const remaining = columns.flatMap((column) => {
    const other = replaced.get(column.name);
    return other === undefined ? [column] : (other ?? []);
  });
  return [...remaining, ...added];
}

/** A view, or a trigger of another table, can name a column that is no longer there. */
async function requireOthers(runner: QueryRunner, table: string): Promise<void> {
  const others: Owned[] = await runner.query(
    "SELECT type, name, tbl_name AS owner, sql FROM sqlite_master WHERE type IN ('view', 'trigger') AND INSTR(sql, ?) > 0",
    [table],
  );
  for (const { type, name, owner, sql } of others) {
    const used =
      type === 'view'
        ? runner.query(`SELECT 1 FROM ${quoted(name)} LIMIT 0`)
        : requireWritable(runner, owner, sql);
    await used.catch((error) => {
      throw unusable(type, name, table, error);
    });
  }
}

/** SQLite reads a trigger with the first write that starts it, so each such write would fail: these write no row. */
async function requireWritable(runner: QueryRunner, table: string, trigger: string): Promise<void> {
  const columns: { name: string }[] = await runner.query(`PRAGMA table_info(${quoted(table)})`);
  const sets = columns.map(({ name }) => `${quoted(name)} = ${quoted(name)}`).join(', ');
  const [kind = ''] = /\b(INSERT|UPDATE|DELETE)\b/i.exec(trigger) ?? [];
  const writes: Record<string, string> = {
    INSERT: `INSERT INTO ${quoted(table)} SELECT * FROM ${quoted(table)} WHERE 0`,
    UPDATE: `UPDATE ${quoted(table)} SET ${sets} WHERE 0`,
    DELETE: `DELETE FROM ${quoted(table)} WHERE 0`,
  };
  await runner.query(writes[kind.toUpperCase()] ?? '');
}

function unusable(type: string, name: string, table: string, { message }: Error): AppError {
  return new AppError(
    'conflict',
    `The ${type} ${name} does not fit the changed table ${table}: ${message}. Drop it first, and create it again afterwards. Nothing was changed.`,
  );
}

function createIndex(table: string, { name = '', columnNames, isUnique }: TableIndexOptions): string {
  return `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX ${quoted(name)} ON ${quoted(table)} (${columnNames.map(quoted).join(', ')})`;
}
