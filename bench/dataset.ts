import { type Connection, createConnection } from 'mysql2/promise';
import { SCOPES } from '../src/caller.js';
import { loadConfig } from '../src/config.js';
import { Database } from '../src/database/database.js';
import { migrate } from '../src/database/migrate.js';
import { createServices } from '../src/services.js';

/** A project with pets, in a database with the gateway's own schema. */
export interface Tenant {
  databaseUrl: string;
  projectId: string;
  /** An API key whose quota nobody reaches. */
  token: string;
  pets: number;
}

const QUOTA = 1_000_000_000;
/** Ids are far apart, as those the gateway assigns: between two pets are positions enough to ask for a new one each time. */
const FIRST_ID = 100_000_000_000;
const ID_STEP = 1_000;
const BATCH_ROWS = 100_000;

/** The id of the nth pet, from 1 on. */
export const idOf = (nth: number) => FIRST_ID + nth * ID_STEP;

/** Makes the database anew. The projects hold so many pets each; `serverUrl` names no database. */
export async function createDataset(
  serverUrl: string,
  name: string,
  sizes: readonly number[],
): Promise<Tenant[]> {
  const databaseUrl = `${serverUrl}/${name}`;
  const connection = await createConnection({ uri: serverUrl });
  try {
    await connection.query(`DROP DATABASE IF EXISTS ${name}`);
    await connection.query(`CREATE DATABASE ${name}`);
    await connection.query(`USE ${name}`);
    await migrate(loadConfig({ DATABASE_URL: databaseUrl }).database);
    await createNumbers(connection);
    const tenants: Tenant[] = [];
    for (const [index, pets] of sizes.entries()) {
      const tenant = { databaseUrl, pets, ...(await createProject(databaseUrl, `bench-${index}`)) };
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
  const db = await Database.open(loadConfig({ DATABASE_URL: databaseUrl }).database);
  const { projects, apiKeys } = createServices(db, Date.now);
  const actor = { name: 'bench', requestId: null };
  const quota = { plan: 'ENTERPRISE', perMinute: QUOTA, perDay: QUOTA } as const;
  const { id } = await projects.create(actor, { slug, name: null, ...quota });
  const wanted = { projectId: id, name: 'bench', scopes: SCOPES, expiresAtMs: null };
  const { token } = await apiKeys.create(actor, wanted);
  await db.close();
  return { projectId: String(id), token };
}

/** 1 to `BATCH_ROWS`, made by doubling. */
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
