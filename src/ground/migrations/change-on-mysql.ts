import type { QueryRunner, Table, TableColumnOptions } from 'typeorm';
import { AppError } from '../kernel/errors.js';
import { type ColumnChange, fittedValue, quoted, type TableChange } from './changed-values.js';
import { exactCollation } from './tables.js';

/** All changes in one statement, which MySQL does wholly or not at all. */
export async function changeOnMysql(
  runner: QueryRunner,
  table: Table,
  changes: readonly TableChange[],
): Promise<void> {
  await requireUnnamed(runner, table.name, changes);
  const collation = await exactCollation(runner);
  const clauses = changes.map((change) => clause(change, collation));
  await withFittedValues(runner, table, changes, () =>
    runner.query(`ALTER TABLE ${quoted(table.name)} ${clauses.join(', ')}`),
  );
}

/** MySQL keeps a view or a trigger that names a missing column, and then refuses each use of it, such as a write. */
async function requireUnnamed(
  runner: QueryRunner,
  table: string,
  changes: readonly TableChange[],
): Promise<void> {
  const missing = changes.flatMap((change) => {
    if ('dropColumn' in change) return [change.dropColumn.name];
    const isRenamed = 'changeColumn' in change && change.from.name !== change.changeColumn.name;
    return isRenamed ? [change.from.name] : [];
  });
  if (missing.length === 0) return;
  const views: { name: string; sql: string }[] = await runner.query(
    "SELECT table_name AS name, view_definition AS 'sql' FROM information_schema.views WHERE INSTR(view_definition, CONCAT('`', DATABASE(), '`.`', ?, '`')) > 0",
    [table],
  );
  const triggers: { name: string; owner: string; sql: string }[] = await runner.query(
    "SELECT trigger_name AS name, event_object_table AS owner, action_statement AS 'sql' FROM information_schema.triggers WHERE trigger_schema = DATABASE()",
  );
  for (const column of missing) {
    const view = views.find(({ sql }) => {
      // A definition has the alias of a table in place of its name.
      const aliases = [...sql.matchAll(new RegExp(`\`${table}\` \`([^\`]+)\``, 'g'))].map(
        ([, alias]) => alias,
      );
      return [table, ...aliases].some((name) => sql.includes(`\`${name}\`.\`${column}\``));
    });
    const trigger = triggers.find(({ owner, sql }) => {
      const has = (words: string) => new RegExp(`\\b${words}\\b`, 'i').test(sql);
      return owner === table ? has(`(NEW|OLD)\\s*\\.\\s*\`?${column}`) : has(table) && has(column);
    });
    const named = view ? `view ${view.name}` : trigger && `trigger ${trigger.name}`;
    if (named === undefined) continue;
    throw new AppError(
      'conflict',
      `The ${named} has the column ${column} of ${table}, which is dropped or renamed now. Drop it first, and create it again afterwards. Nothing was changed.`,
    );
  }
}

/**
 * Makes the values fit their new columns, and then works. MySQL commits the values before it changes a table, so their rows are
 * copied before. If the work fails, the rows get their values back; if the process dies, the next run does it.
 */
async function withFittedValues(
  runner: QueryRunner,
  { name, primaryColumns }: Table,
  changes: readonly TableChange[],
  work: () => Promise<unknown>,
): Promise<void> {
  const fitting = changes.filter((change): change is ColumnChange => {
    if (!('changeColumn' in change)) return false;
    const value = quoted(change.from.name);
    return fittedValue(change.from, change.changeColumn, value) !== value;
  });
  if (fitting.length === 0) {
    await work();
    return;
  }
  const [rows, copy] = [quoted(name), quoted(`${name}_unfitted`)];
  const key = primaryColumns.map((column) => quoted(column.name)).join(', ');
  const restore = async () => {
    for (const { from, changeColumn } of fitting) {
      const column = quoted(from.name);
      const fitted = fittedValue(from, changeColumn, `kept.${column}`);
      // A value that somebody has changed since then stays. `<=>` compares nulls too.
      await runner.query(
        `UPDATE ${rows} AS fitted JOIN ${copy} AS kept USING (${key}) SET fitted.${column} = kept.${column} WHERE fitted.${column} <=> ${fitted}`,
      );
    }
    await runner.query(`DROP TABLE ${copy}`);
  };
  if (await runner.hasTable(`${name}_unfitted`)) await restore();
  const fitted = fitting.map(({ from, changeColumn }) => {
    const column = quoted(from.name);
    return { column, value: fittedValue(from, changeColumn, column) };
  });
  const differs = fitted.map(({ column, value }) => `NOT (${column} <=> ${value})`).join(' OR ');
  const sets = fitted.map(({ column, value }) => `${column} = ${value}`).join(', ');
  await runner.query(`CREATE TABLE ${copy} LIKE ${rows}`);
  try {
    await runner.query(`INSERT INTO ${copy} SELECT * FROM ${rows} WHERE ${differs}`);
    await runner.query(`UPDATE ${rows} SET ${sets} WHERE ${differs}`);
    await work();
  } catch (error) {
    await restore();
    throw error;
  }
  await runner.query(`DROP TABLE ${copy}`);
}

function clause(change: TableChange, collation: string): string {
  if ('addColumn' in change) return `ADD COLUMN ${column(change.addColumn, collation)}`;
  if ('dropColumn' in change) return `DROP COLUMN ${quoted(change.dropColumn.name)}`;
  if ('changeColumn' in change) {
    return `CHANGE COLUMN ${quoted(change.from.name)} ${column(change.changeColumn, collation)}`;
  }
  if ('createIndex' in change) {
    const { name = '', columnNames, isUnique } = change.createIndex;
    return `ADD ${isUnique ? 'UNIQUE ' : ''}INDEX ${quoted(name)} (${columnNames.map(quoted).join(', ')})`;
  }
  return `DROP INDEX ${quoted(change.dropIndex.name ?? '')}`;
}

function column(
  { name, type, length, precision, scale, isNullable, default: byDefault }: TableColumnOptions,
  collation: string,
) {
  const size = type === 'decimal' ? `${precision},${scale}` : (length ?? '');
  const isText = type === 'varchar' || type === 'text';
  return [
    quoted(name),
    size === '' ? type : `${type}(${size})`,
    ...(isText ? [`CHARACTER SET utf8mb4 COLLATE ${collation}`] : []),
    isNullable ? 'NULL' : 'NOT NULL',
    ...(byDefault === undefined ? [] : [`DEFAULT ${byDefault}`]),
  ].join(' ');
}
