import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { databaseSchema } from '../../src/app/database-schema.js';
import { loadGateway } from '../../src/app/gateway.js';
import { createDataSource } from '../../src/ground/database/data-source.js';
import { NounService } from '../../src/noun/records/noun.service.js';
import type { FilterValue, NounListRequest } from '../../src/noun/records/noun-list.js';
import { callAs } from '../support/call-as.js';
import { databaseKinds } from '../support/databases.js';
import { BOXES_GATEWAY, boxes } from '../support/nouns/boxes.js';
import { startApp, type Tenant, type TestApp } from '../support/start-app.js';

const ROWS = Number(process.env.PLAN_ROWS ?? 10_000);
const PAGE_SIZE = 20;
/** A row of the texts for each record of the page and for the next one, its record, and the end of the range. */
const MOST_ROWS = 2 * (PAGE_SIZE + 1) + 1;
const LISTS_AT_ONCE = 3;
const OTHERS = ['carrier', 'fragile', 'rackId'] as const;
/** Every record has the first text, a thousandth the second, none the third. */
const TEXTS = ['common', 'rare', 'absent'];

interface Statement {
  sql: string;
  parameters: unknown[];
}

const { model } = boxes;
const wholeValuesOf = (values: Readonly<Record<string, FilterValue>>) =>
  model.wholeFilters.map(({ argument }) => values[argument] ?? null);

/** Each text with each combination of the other filters, an order and a page. */
const LISTS: NounListRequest[] = TEXTS.flatMap((tags) =>
  Array.from({ length: 2 ** OTHERS.length }, (_, bits) => {
    const values = { carrier: 'dhl', fragile: true, rackId: 7n };
    const stated = OTHERS.filter((_, at) => bits & (1 << at)).map((name) => [name, values[name]]);
    return (['OLDEST', 'NEWEST'] as const).flatMap((orderBy) =>
      [null, ROWS / 2].map((id) => ({
        ...{ wholeValues: wholeValuesOf({ tags, ...Object.fromEntries(stated) }), start: null, sort: null },
        ...{ ids: null, orderBy, pageSize: PAGE_SIZE },
        after: id === null ? null : { id: BigInt(id), text: '' },
      })),
    );
  }).flat(),
);

/** SQLite's description: one range of an index of the texts, and then each record by its key. */
function planOnSqlite(list: NounListRequest): string {
  const columns = model.wholeFilters
    .filter(({ argument }, at) => list.wholeValues[at] !== null && argument !== 'tags')
    .map(({ field }) => field.column);
  const range = ['project_id', 'tags', ...columns].map((column) => `${column}=?`);
  if (list.after) range.push(list.orderBy === 'OLDEST' ? 'id>?' : 'id<?');
  const index =
    columns.length === 0 ? 'PRIMARY KEY' : `COVERING INDEX ${['has_boxes_tags_', ...columns].join('_')}`;
  return [
    'CO-ROUTINE found',
    `SEARCH has_boxes_tags USING ${index} (${range.join(' AND ')})`,
    'SCAN found',
    'SEARCH boxes USING PRIMARY KEY (project_id=? AND id=?)',
  ].join('; ');
}

describe.each(databaseKinds())('on %s', (kind) => {
  const statements: Statement[] = [];
  let app: TestApp;
  let owner: Tenant;
  beforeAll(async () => {
    const onQuery = (sql: string, parameters: unknown[]) => statements.push({ sql, parameters });
    const gateway = await loadGateway(BOXES_GATEWAY);
    app = await startApp({ kind, gateway, onQuery });
    owner = await app.tenant();
    const settings = { poolSize: 1, queryTimeoutMs: 600_000 };
    const source = await createDataSource(app.config.database, databaseSchema(gateway), settings);
    await source.initialize();
    const isSqlite = kind === 'sqlite';
    const numbers = isSqlite
      ? `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${ROWS})`
      : '';
    const from = isSqlite
      ? 'numbers'
      : '(SELECT a.n * 1000 + b.n + 1 AS n FROM thousand a, thousand b) numbers';
    if (!isSqlite) {
      await source.query('CREATE TABLE thousand (n INT PRIMARY KEY)');
      await source.query(`INSERT INTO thousand VALUES ${Array.from({ length: 1_000 }, (_, n) => `(${n})`)}`);
    }
    const code = isSqlite ? "'C' || n" : "CONCAT('C', n)";
    // Of every ten records, one belongs to another project.
    await source.query(
      `${isSqlite ? `${numbers} ` : ''}INSERT INTO boxes (project_id, id, title, code, tags, carrier, fragile, rack_id, weight, created_at_ms)
       SELECT CASE WHEN n % 10 = 0 THEN 1 ELSE ${owner.projectId} END, n, 'Box', ${code}, '[]', CASE WHEN n % 3 = 1 THEN 'dhl' ELSE 'ups' END, n % 2, n % 30, 1, 1 FROM ${from} WHERE n <= ${ROWS}`,
    );
    for (const [tag, condition] of [
      ['common', 'TRUE'],
      ['rare', 'id % 1000 = 1'],
    ])
      await source.query(
        `INSERT INTO has_boxes_tags (project_id, tags, id, carrier, fragile, rack_id) SELECT project_id, '${tag}', id, carrier, fragile, rack_id FROM boxes WHERE ${condition}`,
      );
    await source.query(isSqlite ? 'ANALYZE' : 'ANALYZE TABLE boxes, has_boxes_tags');
    await source.destroy();
  }, 300_000);
  afterAll(() => app.stop());

  const service = () => {
    const [noun] = app.app.services.nouns;
    if (!(noun?.service instanceof NounService)) throw new Error('the app does not serve the noun');
    return noun.service;
  };
  /** Three clients ask for the list at the same time: MySQL joins two of them. */
  async function statementsOf(list: NounListRequest): Promise<Statement[]> {
    statements.length = 0;
    const ask = () => service().list(callAs(owner, BOXES_GATEWAY.scopes.all), list);
    await Promise.all(Array.from({ length: LISTS_AT_ONCE }, ask));
    return statements.filter(({ sql }) => sql.includes('has_boxes_tags'));
  }
  async function countOf(list: NounListRequest): Promise<Statement[]> {
    statements.length = 0;
    await service().count(callAs(owner, BOXES_GATEWAY.scopes.all), { ...list, after: null });
    return statements.filter(({ sql }) => sql.includes('has_boxes_tags'));
  }
  const planOf = async ({ sql, parameters }: Statement) => {
    const steps = await app.db.repository('Box').query(`EXPLAIN QUERY PLAN ${sql}`, parameters);
    return steps.map(({ detail }: { detail: string }) => detail).join('; ');
  };

  /** The rows that the server reads, sorts and writes into temporary tables for the statements. */
  async function rowsOf(all: readonly Statement[][]): Promise<number[]> {
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
      const [first, second] = [await total(), await total()];
      const rows: number[] = [];
      for (const each of all) {
        const before = await total();
        for (const { sql, parameters } of each) await connection.execute(sql, parameters.map(String));
        rows.push((await total()) - before - (second - first));
      }
      return rows;
    } finally {
      await connection.end();
    }
  }

  test(`Has-13: of ${ROWS} records, a list of a text with each combination of filters is one range of one index: a page reads its records alone, and sorts none`, async () => {
    const all: Statement[][] = [];
    for (const list of LISTS) all.push(await statementsOf(list));
    if (kind === 'sqlite') {
      for (const [at, list] of LISTS.entries())
        expect([list, await planOf(all[at]?.[0] as Statement)]).toEqual([list, planOnSqlite(list)]);
      return;
    }
    const rows = await rowsOf(all);
    for (const [at, list] of LISTS.entries()) {
      const read = rows[at] ?? 0;
      expect([list, read, read > 0 && read <= LISTS_AT_ONCE * MOST_ROWS]).toEqual([list, read, true]);
    }
  });

  test('Has-14: a count reads the range of the text and no record; a unique value beside it reads one record', async () => {
    const all: Statement[][] = [];
    for (const list of LISTS) all.push(await countOf(list));
    const wholeValues = wholeValuesOf({ tags: 'common', code: 'C7', carrier: 'dhl' });
    const one = await statementsOf({ ...(LISTS[0] as NounListRequest), wholeValues });
    if (kind === 'sqlite') {
      for (const [at] of LISTS.entries())
        expect(await planOf(all[at]?.[0] as Statement)).not.toMatch(/TEMP|\bboxes\b/);
      expect(await planOf(one[0] as Statement)).toMatch(
        /^SEARCH boxes USING INDEX boxes_code \(.*code=\?.*\).*SEARCH has_boxes_tags USING PRIMARY KEY \(project_id=\? AND tags=\? AND id=\?\)$/,
      );
      return;
    }
    for (const [at, read] of (await rowsOf(all)).entries())
      expect([LISTS[at], read, read <= PAGE_SIZE + 2]).toEqual([LISTS[at], read, true]);
    const [read = 0] = await rowsOf([one]);
    expect([read, read <= LISTS_AT_ONCE * 4]).toEqual([read, true]);
  });
});
