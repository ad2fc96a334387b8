import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import libsql from 'libsql';
import { createConnection } from 'mysql2/promise';
import type { DatabaseTarget } from '../../src/ground/config/config.js';

const KINDS = ['sqlite', 'mysql', 'mariadb'] as const;
export type DatabaseKind = (typeof KINDS)[number];

/** Returns the databases for tests where SQL or its errors differ: `TEST_DATABASES`, by default SQLite and MySQL. */
export function databaseKinds(): DatabaseKind[] {
  const wanted = (process.env.TEST_DATABASES ?? 'sqlite,mysql').split(',');
  const unknown = wanted.filter((kind) => !KINDS.includes(kind as DatabaseKind));
  if (unknown.length > 0) throw new Error(`TEST_DATABASES names ${unknown}; it may name ${KINDS}`);
  return wanted as DatabaseKind[];
}

/** Returns the database for tests where SQL makes no difference: the first of `TEST_DATABASES`, by default SQLite. */
export function anyDatabase(): DatabaseKind {
  const [first = 'sqlite'] = databaseKinds();
  return first;
}

/** Returns the database for tests of several processes: a server's if the run has one. SQLite is for one process. */
export function sharedDatabase(): DatabaseKind {
  return databaseKinds().find((kind) => kind !== 'sqlite') ?? 'sqlite';
}

export interface TestDatabase {
  /** For `DATABASE_URL`. */
  url: string;
  remove(): Promise<void>;
}

/** Creates a new empty database. */
export async function createTestDatabase(kind: DatabaseKind): Promise<TestDatabase> {
  if (kind === 'sqlite') {
    const folder = await mkdtemp(join(tmpdir(), 'petstore-test-'));
    return {
      url: `sqlite:${join(folder, 'test.sqlite')}`,
      remove: () => rm(folder, { recursive: true, force: true }),
    };
  }
  const server = process.env[`TEST_SERVER_${kind.toUpperCase()}`];
  if (!server) throw new Error(`no ${kind} server was started for this run`);
  const name = `petstore_${randomBytes(6).toString('hex')}`;
  await execute(server, `CREATE DATABASE ${name}`);
  return {
    url: `${server.replace(/^mysql:/, `${kind}:`)}/${name}`,
    remove: () => execute(server, `DROP DATABASE ${name}`),
  };
}

async function execute(server: string, sql: string): Promise<void> {
  const connection = await createConnection(server);
  await connection.query(sql);
  await connection.end();
}

/** Another program has what writes of these projects need. Resolves to the function that ends it. */
export async function lockWrites(
  target: DatabaseTarget,
  projectIds: readonly bigint[],
): Promise<() => Promise<void>> {
  if (target.kind === 'sqlite') {
    const other = new libsql(target.path);
    other.exec('BEGIN IMMEDIATE');
    return async () => {
      other.exec('ROLLBACK');
      other.close();
    };
  }
  const other = await createConnection(target.url.replace(/^mariadb:/, 'mysql:'));
  await other.query('START TRANSACTION');
  const ids = projectIds.map(String);
  // The gap behind the newest toy is locked, too.
  await other.query('SELECT * FROM toys WHERE project_id IN (?) FOR UPDATE', [ids]);
  await other.query('SELECT * FROM projects WHERE id IN (?) FOR UPDATE', [ids]);
  return () => other.end();
}
