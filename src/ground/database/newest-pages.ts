import { INT64_MAX } from '../kernel/int64.js';
import type { Database } from './database.js';
import type { SqlPart } from './sql-dialect.js';

/** A page of the newest rows, or of those before the row `beforeId`. */
export interface WantedPage {
  pageSize: number;
  beforeId: bigint | null;
}

export interface NewestPage<Row> {
  /** Newest first. */
  rows: Row[];
  hasNextPage: boolean;
}

/** The wanted pages of a project's rows, in their order: one statement. What pages promise: D-242. */
export async function newestPages<Row extends { id: bigint }>(
  db: Database,
  entity: new () => Row,
  projectId: bigint,
  /** A row meets all conditions. */
  wanted: readonly (WantedPage & { conditions: readonly SqlPart[] })[],
): Promise<NewestPage<Row>[]> {
  const { tableName } = db.repository(entity).metadata;
  const selects = wanted.map(({ pageSize, beforeId, conditions }) => {
    const further = conditions.map(({ sql }) => ` AND ${sql}`).join('');
    const values = conditions.flatMap((condition) => condition.values);
    return {
      sql: `WHERE project_id = ? AND id < ?${further} ORDER BY ${tableName}.id DESC LIMIT ?`,
      values: [projectId, beforeId ?? INT64_MAX, ...values, pageSize + 1],
    };
  });
  const found = await newestRows(db, entity, selects);
  return wanted.map(({ pageSize }, at) => {
    const rows = found[at] ?? [];
    return { rows: rows.slice(0, pageSize), hasNextPage: rows.length > pageSize };
  });
}

/**
 * The rows of each select, newest first: one statement. A select is what follows the name of the table. Ids are drawn in the
 * order of time.
 */
export async function newestRows<Row extends { id: bigint }>(
  db: Database,
  entity: new () => Row,
  selects: readonly SqlPart[],
): Promise<Row[][]> {
  const { columns, connection, tableName } = db.repository(entity).metadata;
  const names = columns.map(({ databaseName, propertyName }) => `${databaseName} AS ${propertyName}`);
  const found = await db.union<Record<string, unknown>>(
    selects.map(({ sql, values }, at) => ({
      sql: `SELECT ${at} AS select_number, ${names.join(', ')} FROM ${tableName} ${sql}`,
      values,
    })),
  );
  const read = (row: Record<string, unknown>) =>
    Object.fromEntries(
      columns.map((column) => {
        const { propertyName } = column;
        return [propertyName, connection.driver.prepareHydratedValue(row[propertyName], column)];
      }),
    ) as Row;
  const results: Row[][] = selects.map(() => []);
  for (const row of found) results[Number(row.select_number)]?.push(read(row));
  for (const rows of results) rows.sort((a, b) => (a.id < b.id ? 1 : -1));
  return results;
}
