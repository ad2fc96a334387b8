import type { Table } from 'typeorm';
import { type DatabaseSchema, withDataSource } from '../../database/data-source.js';
import { AppError } from '../../kernel/errors.js';
import { differenceOf, fieldName, type Rename, type TableDifference } from './compare.js';
import { declaredTables, filledTables } from './declared-tables.js';

const SETTINGS = { poolSize: 1, queryTimeoutMs: 10_000 };

/**
 * Where the definitions of tables and the migrations differ: by what the migrations declare, or as they make the tables of an
 * empty SQLite database in memory. Throws `AppError conflict` that names a migration which cannot run there. D-282.
 */
export async function differences(
  schema: DatabaseSchema,
  renames: readonly Rename[] = [],
): Promise<TableDifference[]> {
  const { definitions = [] } = schema;
  if (definitions.length === 0 && filledTables(schema).size === 0) return [];
  const names = definitions.map(({ name }) => name);
  const tables = declaredTables(schema) ?? (await migratedTables(schema, names));
  const found = definitions.flatMap((definition) => {
    const { name } = definition;
    const ofTable = renames.filter(({ table }) => table === name);
    return differenceOf(tables.get(name), definition, ofTable) ?? [];
  });
  return withFilledAgain(schema, found);
}

/**
 * A table that is filled from another one is made again if a column of it changes in either. It is dropped before the other
 * table changes, so that each migration can be undone: the older table is filled from the older columns.
 */
function withFilledAgain(schema: DatabaseSchema, found: readonly TableDifference[]): TableDifference[] {
  const { definitions = [] } = schema;
  const isAgain = ({ name, filledFrom, columns = [] }: (typeof definitions)[number]) =>
    found.some(({ table }) => table.name === name) ||
    found.some(
      (each) =>
        each.table.name === filledFrom && columns.some((column) => each.columns.includes(column.name)),
    );
  const made = filledTables(schema);
  const kept = definitions.filter(({ name }) => made.has(name));
  const again = kept.filter(isAgain);
  const names = kept.filter((each) => !isAgain(each)).map(({ name }) => name);
  const dropped = [...made.values()].filter(({ name }) => !names.includes(name));
  return [
    ...dropped.flatMap((table) => {
      const old = differenceOf(undefined, table);
      return old ? [{ ...old, isDropped: true }] : [];
    }),
    ...found.filter(({ table }) => !again.some(({ name }) => name === table.name)),
    ...again.flatMap((definition) => differenceOf(undefined, definition) ?? []),
  ];
}

/** Throws `AppError conflict` that says where a definition and its migrations differ, and which command writes the missing one. */
export async function requireMigrations(schema: DatabaseSchema): Promise<void> {
  const [first] = await differences(schema);
  if (!first) return;
  throw new AppError('conflict', `${differenceIn(first)}. ${WRITE}.`);
}

export const WRITE = 'Run `petstore migrate --write`, and read the file that it writes';

/** Which table and fields differ. */
export function differenceIn({ table, columns, changes, isDropped }: TableDifference): string {
  if (isDropped) return `The table ${table.name} follows from another definition`;
  if (changes === null) return `The table ${table.name} has no migration`;
  const fields = columns.map(fieldName).join(', ') || 'indexes';
  return `The definition of ${table.name} and its migrations differ in ${fields}`;
}

export async function migratedTables(
  schema: DatabaseSchema,
  names: readonly string[],
): Promise<Map<string, Table>> {
  const target = { kind: 'sqlite', path: ':memory:' } as const;
  return withDataSource(target, { entities: [], migrations: [] }, SETTINGS, async (source) => {
    const runner = source.createQueryRunner();
    for (const Migration of schema.migrations) {
      await new Migration().up(runner).catch((error: Error) => {
        throw new AppError(
          'conflict',
          `The migration ${Migration.name} fails on an empty SQLite database: ${error.message}. Let statements for MySQL run only if \`isSqlite(runner)\` is false.`,
        );
      });
    }
    const tables = await runner.getTables([...names]);
    return new Map(tables.map((table) => [table.name, table]));
  });
}
