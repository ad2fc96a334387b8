import type { EntityMetadata, ObjectLiteral } from 'typeorm';

export interface Additions<E extends ObjectLiteral> {
  /** Whole rows, each primary key once, in the order of their keys: writers that lock in one order can't block each other for ever. */
  rows: readonly E[];
  counters: readonly (keyof E & string)[];
}

/** The SQL, with its parameters, that adds to counters. TypeORM's own upsert can only overwrite, and loses what others add. */
export function additionStatement<E extends ObjectLiteral>(
  { columns, primaryColumns, connection, tablePath }: EntityMetadata,
  { rows, counters }: Additions<E>,
): [sql: string, parameters: unknown[]] {
  const quoted = (name: string) => connection.driver.escape(name);
  const names = (of: EntityMetadata['columns']) =>
    of.map(({ databaseName }) => quoted(databaseName)).join(', ');
  const onSqlite = connection.options.type === 'better-sqlite3';
  const added = columns
    .filter(({ propertyName }) => counters.includes(propertyName))
    .map(({ databaseName }) => {
      const name = quoted(databaseName);
      return `${name} = ${quoted(tablePath)}.${name} + ${onSqlite ? `excluded.${name}` : `VALUES(${name})`}`;
    });
  const conflict = onSqlite
    ? `ON CONFLICT (${names(primaryColumns)}) DO UPDATE SET`
    : 'ON DUPLICATE KEY UPDATE';
  const row = `(${columns.map(() => '?').join(', ')})`;
  return [
    `INSERT INTO ${quoted(tablePath)} (${names(columns)}) VALUES ${rows.map(() => row).join(', ')} ${conflict} ${added.join(', ')}`,
    rows.flatMap((values) => columns.map(({ propertyName }) => values[propertyName])),
  ];
}
