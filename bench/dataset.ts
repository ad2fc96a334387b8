import { type Connection, createConnection } from 'mysql2/promise';
import { DATABASE_SCHEMA } from '../src/app/database-schema.js';
import { createServices } from '../src/app/services.js';
import { loadConfig } from '../src/config/config.js';
import { Database } from '../src/database/database.js';
import { migrate } from '../src/database/migrate.js';
import { SCOPES } from '../src/kernel/caller.js';
import type { Plan } from '../src/projects/plans.js';

/** A project with pets, in a database with the gateway's own schema. */
export interface Tenant {
  databaseUrl: string;
  projectId: string;
  token: string;
  pets: number;
}

const QUOTA = 1_000_000_000;
/** Ids are far apart, as the gateway's own are, so that each request can ask for another position between two pets. */
const FIRST_ID = 100_000_000_000;
const ID_STEP = 1_000;
const BATCH_ROWS = 100_000;

/** The id of the nth pet; n starts at 1. */
export const idOf = (nth: number) => FIRST_ID + nth * ID_STEP;

/** Replaces the database. `serverUrl` names no database. Only ENTERPRISE has a quota that no run reaches. */
export async function createDataset(
  serverUrl: string,
  name: string,
  projects: readonly { pets: number; plan?: Plan }[],
): Promise<Tenant[]> {
  const databaseUrl = `${serverUrl}/${name}`;
  const connection = await createConnection({ uri: serverUrl });
  try {
    await connection.query(`DROP DATABASE IF EXISTS ${name}`);
    await connection.query(`CREATE DATABASE ${name}`);
    await connection.query(`USE ${name}`);
    await migrate(loadConfig({ DATABASE_URL: databaseUrl }).database, DATABASE_SCHEMA);
    await createNumbers(connection);
    const tenants: Tenant[] = [];
    for (const [index, { pets, plan = 'ENTERPRISE' }] of projects.entries()) {
      const tenant = { databaseUrl, pets, ...(await createProject(databaseUrl, `bench-${index}`)) };
      // The service refuses own quotas with another plan than ENTERPRISE.
      await connection.query('UPDATE projects SET plan = ? WHERE id = ?', [plan, tenant.projectId]);
      await fill(connection, tenant);
      tenants.push(tenant);
    }
    await connection.query('DROP TABLE numbers');
    await connection.query('ANALYZE TABLE pets');
    return tenants;
  } finally {
    await connection.end();
  }
}

export async function dropDataset(serverUrl: string, name: string): Promise<void> {
  const connection = await createConnection({ uri: serverUrl });
  await connection.query(`DROP DATABASE IF EXISTS ${name}`);
  await connection.end();
}

async function createProject(
  databaseUrl: string,
  slug: string,
): Promise<Pick<Tenant, 'projectId' | 'token'>> {
  const db = await Database.open(loadConfig({ DATABASE_URL: databaseUrl }).database, DATABASE_SCHEMA);
  const { projects, apiKeys } = createServices(db, Date.now);
  const actor = { name: 'bench', requestId: null };
  const quota = { plan: 'ENTERPRISE', perMinute: QUOTA, perDay: QUOTA } as const;
  const { id } = await projects.create(actor, { slug, name: null, ...quota });
  const wanted = { projectId: id, name: 'bench', scopes: SCOPES, expiresAtMs: null };
  const { token } = await apiKeys.create(actor, wanted);
  await db.close();
  return { projectId: String(id), token };
}

/** Fills a table with 1 to `BATCH_ROWS`, by doubling. */
async function createNumbers(connection: Connection): Promise<void> {
  await connection.query('CREATE TABLE numbers (n INT PRIMARY KEY)');
  await connection.query('INSERT INTO numbers VALUES (1)');
  for (let rows = 1; rows < BATCH_ROWS; rows *= 2) {
    await connection.query('INSERT INTO numbers SELECT n + ? FROM numbers WHERE n + ? <= ?', [
      rows,
      rows,
      BATCH_ROWS,
    ]);
  }
}

async function fill(connection: Connection, { projectId, pets }: Tenant): Promise<void> {
  for (let done = 0; done < pets; done += BATCH_ROWS) {
    await connection.query(
      `INSERT INTO pets (project_id, id, name, category_id, status, created_at_ms)
       SELECT ?, ? + n * ?, CONCAT('Pet ', ? + n), 1 + n % 5, ELT(1 + n % 4, 'available', 'pending', 'sold'), ?
       FROM numbers WHERE n <= ? ORDER BY n`,
      [projectId, idOf(done), ID_STEP, done, Date.now(), pets - done],
    );
  }
}
