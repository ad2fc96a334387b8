import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { Pet } from '../../src/pets/pet.entity.js';
import { oldestFirst, type PetListRequest } from '../../src/pets/pet-list.js';
import { callAs } from '../support/call-as.js';
import { databaseKinds } from '../support/databases.js';
import { startApp, type Tenant, type TestApp } from '../support/start-app.js';

const PETS = 3_000;
const PAGE_SIZE = 20;
/** The row behind the page, and the row behind the range. */
const MOST_ROWS = PAGE_SIZE + 2;

interface Statement {
  sql: string;
  parameters: unknown[];
}

/** A third of the pets have the same name, another third have names behind all others. */
const POSITIONS = { R: 'Rex', Rex: 'Rex', '\u{10ffff}': '\u{10ffff}15' } as const;
const PREFIXES = [null, ...(Object.keys(POSITIONS) as (keyof typeof POSITIONS)[])];

/** Every combination of a status, a prefix, an order and a position. */
const LISTS = ([null, 'sold'] as const).flatMap((status) =>
  PREFIXES.flatMap((nameStartsWith) =>
    (['OLDEST', 'NEWEST'] as const).flatMap((orderBy) =>
      [false, true].map((isLate): PetListRequest => {
        const name = nameStartsWith && POSITIONS[nameStartsWith];
        const after = isLate ? { id: BigInt(PETS / 2), name } : null;
        return { ...oldestFirst(status), nameStartsWith, orderBy, after, pageSize: PAGE_SIZE };
      }),
    ),
  ),
);

/** SQLite's description of the one range that the list is. */
function rangeOnSqlite({ status, nameStartsWith, orderBy, after }: PetListRequest): string {
  const isByName = nameStartsWith !== null;
  const index = `${status === null ? '' : '_status'}${isByName ? '_name' : ''}`;
  const byId = after ? [orderBy === 'OLDEST' ? 'id>?' : 'id<?'] : [];
  const byName = orderBy === 'OLDEST' ? ['(name,id)>(?,?)', 'name<?'] : ['name>?', '(name,id)<(?,?)'];
  const conditions = [
    'project_id=?',
    ...(status === null ? [] : ['status=?']),
    ...(isByName ? byName : byId),
  ];
  return `SEARCH pets USING ${index === '' ? 'PRIMARY KEY' : `INDEX pets${index}`} (${conditions.join(' AND ')})`;
}

describe.each(databaseKinds())('on %s', (kind) => {
  const statements: Statement[] = [];
  let app: TestApp;
  let owner: Tenant;
  beforeAll(async () => {
    app = await startApp({ kind, onQuery: (sql, parameters) => statements.push({ sql, parameters }) });
    owner = await app.tenant();
    const pets = Array.from({ length: PETS }, (_, at) => ({
      projectId: owner.projectId,
      id: BigInt(at + 1),
      name: ['Rex', `R ${at}`, `\u{10ffff}${at}`][at % 3] ?? '',
      categoryId: 1n,
      status: at % 2 ? ('sold' as const) : null,
      createdAtMs: 0,
    }));
    for (let at = 0; at < PETS; at += 500) await app.db.repository(Pet).insert(pets.slice(at, at + 500));
  });
  afterAll(() => app.stop());

  /** The only statement of a page. */
  async function statementOf(list: PetListRequest): Promise<Statement> {
    statements.length = 0;
    const { pets } = await app.app.services.pets.list(callAs(owner), list);
    expect(pets.length).toBeGreaterThan(0);
    const [statement, ...others] = statements.filter(({ sql }) => sql.includes('FROM pets'));
    if (!statement || others.length > 0) throw new Error(`${statements.length} statements`);
    return statement;
  }

  async function planOf(list: PetListRequest): Promise<string[]> {
    const { sql, parameters } = await statementOf(list);
    const steps = await app.db.repository(Pet).query(`EXPLAIN QUERY PLAN ${sql}`, parameters);
    return steps.map(({ detail }: { detail: string }) => detail);
  }

  /** Counts the rows that the server reads and sorts for a list. */
  async function rowsOf(lists: readonly PetListRequest[]): Promise<number[]> {
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
        const { sql, parameters } = await statementOf(list);
        const before = await total();
        await connection.execute(sql, parameters.map(String));
        rows.push((await total()) - before - (second - first));
      }
      return rows;
    } finally {
      await connection.end();
    }
  }

  test(`PetList-14: every order and filter is one range of one index: a page reads at most ${MOST_ROWS} rows and sorts none`, async () => {
    if (kind === 'sqlite') {
      for (const list of LISTS) expect(await planOf(list)).toEqual([rangeOnSqlite(list)]);
      return;
    }
    const rows = await rowsOf(LISTS);
    for (const [at, list] of LISTS.entries()) {
      const read = rows[at] ?? 0;
      expect([list, read, read > 0 && read <= MOST_ROWS]).toEqual([list, read, true]);
    }
  });

  test('PetList-15: ids reads the rows of these ids alone', async () => {
    const ids = Array.from({ length: 10 }, (_, at) => BigInt(1 + at * 7));
    const list = { ...oldestFirst('sold'), ids, pageSize: PAGE_SIZE, after: null };
    if (kind === 'sqlite') {
      expect(await planOf(list)).toEqual(['SEARCH pets USING PRIMARY KEY (project_id=? AND id=?)']);
      return;
    }
    const [read = 0] = await rowsOf([list]);
    expect([read, read <= 2 * ids.length]).toEqual([read, true]);
  });
});
