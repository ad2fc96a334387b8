import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { createDataSource } from '../../src/ground/database/data-source.js';
import { callAs } from '../support/call-as.js';
import { databaseKinds } from '../support/databases.js';
import { DATABASE_SCHEMA } from '../support/gateway/tested-gateway.js';
import { isLongRun } from '../support/long-run.js';
import { Pet, petList, petServiceOf, type WantedPets } from '../support/nouns/pet.js';
import { startApp, type Tenant, type TestApp } from '../support/start-app.js';

/** A page of a list. */
interface PetPage extends WantedPets {
  pageSize: number;
  after: { id: bigint; text: string } | null;
}

/** The plans of the statements depend on their indexes, and not on the number of rows. */
const PETS = isLongRun ? 200_000 : 30_000;
const PAGE_SIZE = 20;
/** The row behind the page, and the row behind the range. */
const MOST_ROWS = PAGE_SIZE + 2;
const LISTS_AT_ONCE = 3;
const SCHEMA_WORK = { poolSize: 1, queryTimeoutMs: 120_000 };

interface Statement {
  sql: string;
  parameters: unknown[];
}

/** A third of the pets have the same name, another third have names behind all others. */
const POSITIONS = { R: 'Rex', Rex: 'Rex', '\u{10ffff}': '\u{10ffff}15' } as const;
const PREFIXES = [null, ...(Object.keys(POSITIONS) as (keyof typeof POSITIONS)[])];

/** A third of the pets is available, a thousandth is sold, none is pending. */
const STATUSES = [null, 'available', 'sold', 'pending'] as const;
const ORDERS = ['OLDEST', 'NEWEST'] as const;
const PAGES = ['first', 'middle', 'last'] as const;

/** Every combination of a status, a prefix, an order and a page. */
const LISTS = STATUSES.flatMap((status) =>
  PREFIXES.flatMap((nameStartsWith) =>
    ORDERS.flatMap((orderBy) =>
      PAGES.map((page): PetPage => {
        const last = orderBy === 'OLDEST' ? PETS - 5 : 5;
        const id = page === 'first' ? null : BigInt(page === 'middle' ? PETS / 2 : last);
        const after =
          id === null ? null : { id, text: nameStartsWith === null ? '' : POSITIONS[nameStartsWith] };
        return { status, nameStartsWith, orderBy, after, pageSize: PAGE_SIZE };
      }),
    ),
  ),
);

/** SQLite's description of the one range that the list is. */
function rangeOnSqlite({ status, nameStartsWith, orderBy, after }: PetPage): string {
  const isByName = nameStartsWith !== null;
  const index = `${status === null ? '' : '_status'}${isByName ? '_name' : ''}`;
  const byId = after ? [orderBy === 'OLDEST' ? 'id>?' : 'id<?'] : [];
  const byName = orderBy === 'OLDEST' ? ['(name,id)>(?,?)', 'name<?'] : ['name>?', '(name,id)<(?,?)'];
  const conditions = [
    'project_id=?',
    ...(status === null ? [] : ['status=?']),
    ...(isByName ? byName : byId),
  ];
  return `SEARCH pets USING ${index === '' ? 'PRIMARY KEY' : `COVERING INDEX pets${index}`} (${conditions.join(' AND ')})`;
}

describe.each(databaseKinds())('on %s', (kind) => {
  const statements: Statement[] = [];
  let app: TestApp;
  let owner: Tenant;
  beforeAll(async () => {
    app = await startApp({ kind, onQuery: (sql, parameters) => statements.push({ sql, parameters }) });
    owner = await app.tenant();
    const source = await createDataSource(app.config.database, DATABASE_SCHEMA, SCHEMA_WORK).then((made) =>
      made.initialize(),
    );
    await fill((sql) => source.query(sql), owner.projectId, kind === 'sqlite');
    await source.destroy();
  });
  afterAll(() => app.stop());

  /** The statements of three equal lists at the same time: MySQL joins two of them. */
  async function statementsOf(list: PetPage): Promise<Statement[]> {
    statements.length = 0;
    const ask = () =>
      petServiceOf(app).list(callAs(owner), { ...petList(list), pageSize: list.pageSize, after: list.after });
    await Promise.all([ask(), ask(), ask()]);
    return statements.filter(({ sql }) => sql.includes('FROM pets'));
  }

  async function plansOf(list: PetPage): Promise<string[]> {
    const plans = (await statementsOf(list)).map(async ({ sql, parameters }) => {
      const steps = await app.db.repository(Pet).query(`EXPLAIN QUERY PLAN ${sql}`, parameters);
      return steps.map(({ detail }: { detail: string }) => detail).join();
    });
    return Promise.all(plans);
  }

  /** Counts the rows that the server reads and sorts for each list, which three clients ask for at the same time. */
  async function rowsOf(lists: readonly PetPage[]): Promise<number[]> {
    const { database } = app.config;
    if (database.kind === 'sqlite') throw new Error('SQLite counts no rows');
    const connection = await createConnection(database.url);
    const total = async () => {
      const [counters] = await connection.query<RowDataPacket[]>(
        "SHOW SESSION STATUS WHERE Variable_name REGEXP '^(Handler_read_(first|last|key|next|prev)|Sort_.*)$'",
      );
      return counters.reduce((sum, { Value }) => sum + Number(Value), 0);
    };
    try {
      // SHOW itself may read rows.
      const [first, second] = [await total(), await total()];
      const rows: number[] = [];
      for (const list of lists) {
        const asked = await statementsOf(list);
        const before = await total();
        for (const { sql, parameters } of asked) await connection.execute(sql, parameters.map(String));
        rows.push((await total()) - before - (second - first));
      }
      return rows;
    } finally {
      await connection.end();
    }
  }

  /** MySQL's notes on the parts of the joined statement. */
  async function notesOf(list: PetPage): Promise<string[]> {
    const joined = (await statementsOf(list)).find(({ sql }) => sql.includes('UNION ALL'));
    const parts: { table: string | null; Extra: string }[] = await app.db
      .repository(Pet)
      .query(`EXPLAIN ${kind === 'mysql' ? 'FORMAT=TRADITIONAL ' : ''}${joined?.sql}`, joined?.parameters);
    return parts.filter(({ table }) => table === 'pets').map(({ Extra }) => Extra);
  }

  test(`PetList-14: of ${PETS} pets, every order and filter is one range of one index: a page reads at most ${MOST_ROWS} rows and sorts none`, async () => {
    if (kind === 'sqlite') {
      for (const list of LISTS)
        expect(await plansOf(list)).toEqual(Array(LISTS_AT_ONCE).fill(rangeOnSqlite(list)));
      return;
    }
    const rows = await rowsOf(LISTS);
    for (const [at, list] of LISTS.entries()) {
      const read = rows[at] ?? 0;
      expect([list, read, read > 0 && read <= LISTS_AT_ONCE * MOST_ROWS]).toEqual([list, read, true]);
    }
  });

  test('PetList-18: a list by status or by name reads one index and no row of the table', async () => {
    // SQLite's plan says so in PetList-14.
    if (kind === 'sqlite') return;
    for (const list of LISTS) {
      if (list.status === null && list.nameStartsWith === null) continue;
      const notes = await notesOf(list);
      expect([list, notes]).toEqual([list, Array(2).fill(expect.stringContaining('Using index'))]);
      expect(notes.join()).not.toMatch(/filesort|temporary/i);
    }
  });

  test('PetList-15: ids reads the rows of these ids alone', async () => {
    const ids = Array.from({ length: 10 }, (_, at) => BigInt(1 + at * 7));
    const list = { status: 'sold' as const, ids, pageSize: PAGE_SIZE, after: null };
    if (kind === 'sqlite') {
      const search = 'SEARCH pets USING PRIMARY KEY (project_id=? AND id=?)';
      expect(await plansOf(list)).toEqual(Array(LISTS_AT_ONCE).fill(search));
      return;
    }
    const [read = 0] = await rowsOf([list]);
    expect([read, read <= LISTS_AT_ONCE * 2 * ids.length]).toEqual([read, true]);
  });
});

/** Every tenth pet belongs to another project. */
async function fill(
  query: (sql: string) => Promise<unknown>,
  projectId: bigint,
  onSqlite: boolean,
): Promise<void> {
  const columns = 'pets (project_id, id, name, category_id, status, created_at_ms)';
  const text = (first: string) => (onSqlite ? `'${first}' || n` : `CONCAT('${first}', n)`);
  const rows = `SELECT CASE WHEN n % 10 = 0 THEN 1 ELSE ${projectId} END, n,
    CASE n % 3 WHEN 0 THEN 'Rex' WHEN 1 THEN ${text('R ')} ELSE ${text('\u{10ffff}')} END, 1,
    CASE WHEN n % 1000 = 1 THEN 'sold' WHEN n % 9 < 3 THEN 'available' END, 1`;
  if (onSqlite) {
    await query(
      `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${PETS}) INSERT INTO ${columns} ${rows} FROM numbers`,
    );
    await query('ANALYZE');
    return;
  }
  await query('CREATE TABLE thousand (n INT PRIMARY KEY)');
  await query(`INSERT INTO thousand VALUES ${Array.from({ length: 1_000 }, (_, n) => `(${n})`)}`);
  const numbers = `(SELECT a.n * 1000 + b.n + 1 AS n FROM thousand a, thousand b WHERE a.n < ${PETS / 1_000}) numbers`;
  await query(`INSERT INTO ${columns} ${rows} FROM ${numbers} ORDER BY 1, 2`);
  await query('ANALYZE TABLE pets');
}
