import type { TableColumnOptions, TableOptions } from 'typeorm';
import type { DatabaseSchema } from '../../src/ground/database/data-source.js';
import { differenceOf, type Rename } from '../../src/ground/migrations/files/compare.js';
import { migratedTables } from '../../src/ground/migrations/files/migrated-tables.js';
import { migrationFile } from '../../src/ground/migrations/files/print.js';
import { ChangedTable, NewTable } from '../../src/ground/migrations/table-changes.js';

const STARTED_AT_MS = 1_790_000_000_000;

/** The table of books, with an index for each field that is named. */
export function books(
  fields: TableColumnOptions[],
  indexed: readonly string[] = [],
  unique: readonly string[] = [],
): TableOptions {
  return {
    name: 'books',
    withoutRowid: true,
    columns: [
      { name: 'project_id', type: 'bigint', isPrimary: true },
      { name: 'id', type: 'bigint', isPrimary: true },
      ...fields,
    ],
    indices: [
      ...indexed.map((name) => ({ name: `books_${name}`, columnNames: ['project_id', name, 'id'] })),
      ...unique.map((name) => ({
        name: `books_${name}_unique`,
        columnNames: ['project_id', name],
        isUnique: true,
      })),
    ],
  };
}

/** The migrations that `petstore migrate --write` writes for these definitions, one after the other. */
export function schemaOf(...definitions: TableOptions[]): Promise<DatabaseSchema> {
  return renamedSchemaOf([], ...definitions);
}

/** With these renames after the first definition. */
export async function renamedSchemaOf(
  renames: readonly Rename[],
  ...definitions: TableOptions[]
): Promise<DatabaseSchema> {
  const migrations: DatabaseSchema['migrations'][number][] = [];
  for (const [at, definition] of definitions.entries()) {
    const before = await migratedTables({ entities: [], migrations }, ['books']);
    const difference = differenceOf(before.get('books'), definition, at === 0 ? [] : renames);
    if (!difference) throw new Error(`definition ${at} changes nothing`);
    migrations.push(classIn(migrationFile(difference, STARTED_AT_MS + at, false).text));
  }
  return { entities: [], migrations };
}

function classIn(text: string): DatabaseSchema['migrations'][number] {
  const body = text.replace(/^import .*$/m, '').replace('export class', 'return class');
  return new Function('NewTable', 'ChangedTable', body)(NewTable, ChangedTable);
}
