import { statSync } from 'node:fs';
import { type DatabaseTarget, databaseTarget, isInMemory, testDatabaseUrl } from '../ground/config/config.js';
import { withDataSource } from '../ground/database/data-source.js';
import { AppError } from '../ground/kernel/errors.js';

export interface TestDatabase {
  /** As `DATABASE_URL`. */
  readonly url: string;
  /** After the tests. */
  remove(): Promise<void>;
}

const NO_SCHEMA = { entities: [], migrations: [] };
const SETTINGS = { poolSize: 1, queryTimeoutMs: 60_000 };

/** The database that the environment names, or one of SQLite in memory. Afterwards it is empty again. */
export async function databaseOfTests(): Promise<TestDatabase> {
  const url = testDatabaseUrl(process.env);
  return { url, remove: () => dropTables(databaseTarget('TEST_DATABASE_URL', url)) };
}

/** Throws `AppError conflict` if the database has a table: the tests touch no data that they did not create. */
export async function requireEmpty({ url }: TestDatabase): Promise<void> {
  const target = databaseTarget('TEST_DATABASE_URL', url);
  if (isInMemory(target)) return;
  // Even opening a file of SQLite would change it.
  if (target.kind === 'sqlite' && sizeOf(target.path) > 0) throw notEmpty('something in its file');
  await withDataSource(target, NO_SCHEMA, SETTINGS, async (source) => {
    const tables: { name: string }[] = await source.query(
      target.kind === 'sqlite'
        ? 'SELECT name FROM sqlite_master'
        : 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()',
    );
    if (tables.length === 0) return;
    const names = tables.slice(0, 3).map(({ name }) => name);
    throw notEmpty(`the tables ${names.join(', ')}`);
  });
}

function notEmpty(found: string): AppError {
  return new AppError(
    'conflict',
    `The tests need an empty database, and theirs has ${found}. Nothing was changed. Name another one in TEST_DATABASE_URL, and let one test file at a time use it.`,
  );
}

const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

async function dropTables(target: DatabaseTarget): Promise<void> {
  if (isInMemory(target)) return;
  await withDataSource(target, NO_SCHEMA, SETTINGS, async (source) => {
    await source.createQueryRunner().clearDatabase();
  });
}
