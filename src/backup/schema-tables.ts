import type { DataSource } from 'typeorm';
import type { BackupTable } from './backup-format.js';

/** The tables of the newest schema, by name. */
export function tablesOf({ entityMetadatas }: DataSource): BackupTable[] {
  return entityMetadatas
    .map(({ tableName, columns }) => ({
      table: tableName,
      columns: columns.map(({ databaseName }) => databaseName),
    }))
    .sort((a, b) => (a.table < b.table ? -1 : 1));
}
