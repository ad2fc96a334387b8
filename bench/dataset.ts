import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Connection, createConnection, type RowDataPacket } from 'mysql2/promise';
import { digestOf, newToken, prefixOf } from '../src/tenants/api-keys/token.js';

const runFile = promisify(execFile);

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
/** A third of the pets is available, a third is pending, and a third has no status. */
export const SOLD_EVERY = 1_000;
const BATCH_ROWS = 100_000;

/** The id of the nth pet; n starts at 1. */
export const idOf = (nth: number) => FIRST_ID + nth * ID_STEP;

/** The name of the pet with this id or the nearest lower one. */
export const nameOf = (id: number) => `Pet ${Math.floor((id - FIRST_ID) / ID_STEP)}`;

/** Replaces the database. `serverUrl` names no database. Only ENTERPRISE has a quota that no run reaches. */
export async function createDataset(
  serverUrl: string,
  name: string,
  projects: readonly { pets: number; plan?: string }[],
  folder = '.',
): Promise<Tenant[]> {
  const databaseUrl = `${serverUrl}/${name}`;
  const connection = await createConnection({ uri: serverUrl });
  try {
    await connection.query(`DROP DATABASE IF EXISTS ${name}`);
    await connection.query(`CREATE DATABASE ${name}`);
    await connection.query(`USE ${name}`);
    await createNumbers(connection);
    const tenants: Tenant[] = [];
    for (const [index, { pets, plan = 'ENTERPRISE' }] of projects.entries()) {
      const tenant = { databaseUrl, pets, ...(await createProject(folder, databaseUrl, `bench-${index}`)) };
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

/** Further projects like this one, without pets. Each has a key with the scopes of the first one's. */
export async function copiesOf(tenant: Tenant, count: number): Promise<Tenant[]> {
  const numbers = { supportBigNumbers: true, bigNumberStrings: true };
  const connection = await createConnection({ uri: tenant.databaseUrl, ...numbers });
  const one = async (query: string) =>
    (await connection.query<RowDataPacket[]>(query, [tenant.projectId]))[0][0] as RowDataPacket;
  const project = await one('SELECT * FROM projects WHERE id = ?');
  const key = await one('SELECT * FROM api_keys WHERE project_id = ?');
  const copies: Tenant[] = [];
  for (let nth = 1; nth <= count; nth += 1) {
    const copy = {
      ...tenant,
      projectId: String(BigInt(project.id) + BigInt(nth)),
      token: newToken(),
      pets: 0,
    };
    await connection.query('INSERT INTO projects SET ?', {
      ...project,
      id: copy.projectId,
      slug: `copy-${nth}`,
    });
    await connection.query('INSERT INTO api_keys SET ?', {
      ...key,
      id: String(BigInt(key.id) + BigInt(nth)),
      project_id: copy.projectId,
      prefix: prefixOf(copy.token),
      digest: digestOf(copy.token),
    });
    copies.push(copy);
  }
  await connection.end();
  return copies;
}

export async function dropDataset(serverUrl: string, name: string): Promise<void> {
  const connection = await createConnection({ uri: serverUrl });
  await connection.query(`DROP DATABASE IF EXISTS ${name}`);
  await connection.end();
}

async function createProject(
  folder: string,
  databaseUrl: string,
  slug: string,
): Promise<Pick<Tenant, 'projectId' | 'token'>> {
  const petstore = async (...args: string[]) => {
    const command = ['dist/src/cli/main.js', ...args, '--json'];
    const env = { ...process.env, DATABASE_URL: databaseUrl };
    return JSON.parse((await runFile(process.execPath, command, { cwd: folder, env })).stdout);
  };
  await petstore('migrate');
  const quota = ['--per-minute', String(QUOTA), '--per-day', String(QUOTA)];
  const { id } = await petstore('projects', 'create', slug, '--plan', 'enterprise', ...quota);
  const { key } = await petstore('keys', 'create', slug);
  return { projectId: String(id), token: key };
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
       SELECT ?, ? + n * ?, CONCAT('Pet ', ? + n), 1 + n % 5, IF(n % ? = 0, 'sold', ELT(1 + n % 3, 'available', 'pending')), ?
       FROM numbers WHERE n <= ? ORDER BY n`,
      [projectId, idOf(done), ID_STEP, done, SOLD_EVERY, Date.now(), pets - done],
    );
  }
}
