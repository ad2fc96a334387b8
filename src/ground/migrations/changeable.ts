import type { QueryRunner, Table, TableIndexOptions } from 'typeorm';
import { AppError } from '../kernel/errors.js';
import {
  type ColumnChange,
  changedValues,
  isRequiredNow,
  quoted,
  type TableChange,
} from './changed-values.js';

const UNCHANGED = 'Nothing was changed.';

/** Throws `AppError conflict` that says which records, or which index of somebody, do not allow the changes. */
export async function requireChangeable(
  runner: QueryRunner,
  table: Table,
  changes: readonly TableChange[],
): Promise<void> {
  requireNoOtherIndex(table, changes);
  for (const change of changes) {
    if ('changeColumn' in change) await requireValues(runner, table, change);
  }
  for (const change of changes) {
    if ('createIndex' in change) await requireUnique(runner, table, changes, change.createIndex);
  }
}

/** MySQL would take the column out of the index, or drop it; SQLite fails. */
function requireNoOtherIndex({ name, indices }: Table, changes: readonly TableChange[]): void {
  const own = changes.flatMap((change) => ('dropIndex' in change ? [change.dropIndex.name] : []));
  for (const change of changes) {
    if (!('dropColumn' in change)) continue;
    const { name: column } = change.dropColumn;
    const other = indices.find((index) => index.columnNames.includes(column) && !own.includes(index.name));
    if (!other) continue;
    throw new AppError(
      'conflict',
      `The index ${other.name} of ${name} has the column ${column}, which is dropped now. Drop the index first. ${UNCHANGED}`,
    );
  }
}

async function requireValues(
  runner: QueryRunner,
  { name }: Table,
  { from, changeColumn: to }: ColumnChange,
): Promise<void> {
  if (!isRequiredNow(from, to) || to.default !== undefined) return;
  const [{ count }] = await runner.query(
    `SELECT COUNT(*) AS count FROM ${quoted(name)} WHERE ${quoted(from.name)} IS NULL`,
  );
  if (Number(count) === 0) return;
  throw new AppError(
    'conflict',
    `${count} rows of ${name} have no ${to.name}, which is required now. Give them one first. ${UNCHANGED}`,
  );
}

async function requireUnique(
  runner: QueryRunner,
  table: Table,
  changes: readonly TableChange[],
  { columnNames, isUnique }: TableIndexOptions,
): Promise<void> {
  if (!isUnique) return;
  const values = changedValues(table, changes);
  const parts = columnNames.map((column, at) => `${values.get(column)} AS c${at}`);
  const keys = columnNames.map((_, at) => `c${at}`);
  const unique = columnNames.at(-1) ?? '';
  // Both databases let a unique value be null in many rows.
  const [{ count, example }] = await runner.query(
    `SELECT COUNT(*) AS count, MIN(value) AS example FROM (
      SELECT ${keys.at(-1)} AS value FROM (SELECT ${parts.join(', ')} FROM ${quoted(table.name)}) AS fitted
      WHERE ${keys.map((key) => `${key} IS NOT NULL`).join(' AND ')}
      GROUP BY ${keys.join(', ')} HAVING COUNT(*) > 1) AS repeated`,
  );
  if (Number(count) === 0) return;
  // The first column is the project.
  const others = columnNames.slice(1, -1);
  const shared = others.length > 0 ? ` with the same ${others.join(' and ')}` : '';
  const isAdded = changes.some((change) => 'addColumn' in change && change.addColumn.name === unique);
  throw new AppError(
    'conflict',
    isAdded
      ? `${unique} of ${table.name} is required and unique, and the records have no values for it. Delete them first, or restore a backup. ${UNCHANGED}`
      : `${unique} of ${table.name} is unique now, and several records have the same value${shared}. Such values: ${count}, for example ${JSON.stringify(String(example))}. Change or delete all but one record of each value, then run \`petstore migrate\` again. ${UNCHANGED}`,
  );
}
