import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { databaseSchema } from '../../src/app/database-schema.js';
import { createGateway, loadGateway } from '../../src/app/gateway.js';
import { createDataSource } from '../../src/ground/database/data-source.js';
import { orderingFieldsOf } from '../../src/noun/definition/lists.js';
import type { ModelField, NounModel } from '../../src/noun/definition/model.js';
import { NounService } from '../../src/noun/records/noun.service.js';
import {
  type FilterValue,
  type NounListRequest,
  orderingFieldOf,
  type Sort,
} from '../../src/noun/records/noun-list.js';
import { callAs } from '../support/call-as.js';
import { type DatabaseKind, databaseKinds } from '../support/databases.js';
import { isLongRun } from '../support/long-run.js';
import { books } from '../support/nouns/books.js';
import { parcels } from '../support/nouns/parcels.js';
import { readings } from '../support/nouns/readings.js';
import { toys } from '../support/nouns/toys.js';
import { startApp, type Tenant, type TestApp } from '../support/start-app.js';

/** The plans of the statements depend on their indexes, and not on the number of rows: `PLAN_ROWS=1000000` shows it. */
const ROWS = Number(process.env.PLAN_ROWS ?? (isLongRun ? 200_000 : 10_000));
const PAGE_SIZE = 20;
/** The row behind the page, and the row behind the range. */
const MOST_ROWS = PAGE_SIZE + 2;
const LISTS_AT_ONCE = 3;
const SCHEMA_WORK = { poolSize: 1, queryTimeoutMs: 600_000 };

/** In the order of the gateway. */
const NOUNS = [toys, books, parcels, readings] as const;
const GATEWAY = createGateway({ name: 'Plans', nouns: [...NOUNS] });

interface Statement {
  sql: string;
  parameters: unknown[];
}

/** A third of the records have the same text, another third have texts behind all others. */
const POSITIONS = { R: 'Rex', Rex: 'Rex', '\u{10ffff}': '\u{10ffff}15' } as const;
const PREFIXES = Object.keys(POSITIONS) as (keyof typeof POSITIONS)[];

/** Of a whole filter: a third of the records has the first value, a thousandth the second, none the third. */
function valuesOf({ kind, options }: ModelField): FilterValue[] {
  if (options.unique) return ['000000000007'];
  return kind.choices ? Object.keys(kind.choices).slice(0, 3) : [1, 2, 3];
}

/** Of a sorted field, in the form of cursors: the first of half of the records that have one, the middle one, and the last. */
function sortedValuesOf({ kind, filter }: ModelField): [first: string, middle: string, last: string] {
  if (filter === 'start') return ['R 1', 'Rex', '\u{10ffff}5'];
  if (kind.name === 'date') return ['2000-01-01', '2000-02-15', '2000-03-31'];
  if (kind.name === 'text') return ['000000000001', '000000005000', '000000009999'];
  return ['1', String(ROWS / 2), String(ROWS - 1)];
}

/** With no bound, one, the other, and both. */
function sortsOf(model: NounModel): Sort[] {
  return orderingFieldsOf(model)
    .filter(({ filter, options }) => filter === 'range' || options.sort)
    .flatMap((field) => {
      const [first, , last] = sortedValuesOf(field);
      const bounds = field.filter === 'range' ? [null, first] : [null];
      return bounds.flatMap((from) =>
        (field.filter === 'range' ? [null, last] : [null]).map((before) => ({ field, from, before })),
      );
    });
}

/** Behind the position are records without a value and with one. */
function hasTwoRanges({ sort, after, orderBy }: NounListRequest): boolean {
  if (!sort || !after || sort.field.isSet || sort.from !== null || sort.before !== null) return false;
  return (after.text === '') === (orderBy === 'OLDEST');
}

/** Every combination of values of the whole filters, a range or an order by a field, an order and a page. */
function sortedListsOf(model: NounModel): NounListRequest[] {
  const [filter] = model.wholeFilters;
  const values = filter ? [null, ...valuesOf(filter.field)] : [null];
  return sortsOf(model).flatMap((sort) => {
    const [, middle, last] = sortedValuesOf(sort.field);
    const isUnsetListed = !sort.field.isSet && sort.from === null && sort.before === null;
    const positions = [null, middle, last, ...(isUnsetListed ? [''] : [])];
    return values.flatMap((value) =>
      (['OLDEST', 'NEWEST'] as const).flatMap((orderBy) =>
        positions.map((text) => ({
          ...{ wholeValues: filter ? [value] : [], start: null, sort, ids: null, orderBy },
          pageSize: PAGE_SIZE,
          after: text === null ? null : { id: BigInt(ROWS / 2), text },
        })),
      ),
    );
  });
}

/** Every combination of values of the filters, a prefix, an order and a page. */
function listsOf({ wholeFilters, startFilters }: NounModel): NounListRequest[] {
  let combinations: (FilterValue | null)[][] = [[]];
  for (const { field } of wholeFilters)
    combinations = combinations.flatMap((values) =>
      [null, ...valuesOf(field)].map((value) => [...values, value]),
    );
  const prefixes = startFilters.flatMap((filter) => PREFIXES.map((prefix) => ({ filter, prefix })));
  return combinations.flatMap((values) =>
    [null, ...prefixes].flatMap((start) =>
      (['OLDEST', 'NEWEST'] as const).flatMap((orderBy) => {
        const text = start === null ? '' : POSITIONS[start.prefix];
        return [null, ROWS / 2, orderBy === 'OLDEST' ? ROWS - 5 : 5].map((id) => ({
          ...{ wholeValues: values, start, sort: null, ids: null, orderBy, pageSize: PAGE_SIZE },
          after: id === null ? null : { id: BigInt(id), text },
        }));
      }),
    ),
  );
}

/** The filters of the list; `start` is the text that orders it. */
const filtersOf = ({ wholeFilters, startFilters }: NounModel, list: NounListRequest) => ({
  fields: wholeFilters.flatMap(({ field }, at) => (list.wholeValues[at] === null ? [] : [field])),
  start: list.start && (startFilters[0] as (typeof startFilters)[0]).field,
});

/** SQLite's description of the one range of an ordered list: the first columns of its index have one value each. */
function sortedRangesOnSqlite(model: NounModel, list: NounListRequest): RegExp {
  const { fields } = filtersOf(model, list);
  const { column } = orderingFieldOf(list) as ModelField;
  const index = [model.table, ...fields.map((field) => field.column), column].join('_');
  const conditions = ['project_id', ...fields.map((field) => field.column)].map((each) => `${each}=\\?`);
  const more = `( AND (${column}[<=>]\\?|id[<>]\\?|\\(${column},id\\)[<>]\\(\\?,\\?\\)))*`;
  const range = `SEARCH ${model.table} USING (COVERING )?INDEX ${index} \\(${conditions.join(' AND ')}${more}\\)`;
  return new RegExp(`^${range}(;${range})?$`);
}

/** SQLite's description of the one range that the list is. */
function rangeOnSqlite(model: NounModel, list: NounListRequest): string {
  const { table } = model;
  const { fields, start } = filtersOf(model, list);
  const columns = [...fields, ...(start ? [start] : [])].map(({ column }) => column);
  const [text] = columns.slice(-1);
  const byId = list.after ? [list.orderBy === 'OLDEST' ? 'id>?' : 'id<?'] : [];
  const byText =
    list.orderBy === 'OLDEST' ? [`(${text},id)>(?,?)`, `${text}<?`] : [`${text}>?`, `(${text},id)<(?,?)`];
  const conditions = ['project_id', ...fields.map(({ column }) => column)].map((column) => `${column}=?`);
  const index = columns.length === 0 ? 'PRIMARY KEY' : `COVERING INDEX ${[table, ...columns].join('_')}`;
  return `SEARCH ${table} USING ${index} (${[...conditions, ...(start ? byText : byId)].join(' AND ')})`;
}

describe.each(databaseKinds())('on %s', (kind) => {
  const statements: Statement[] = [];
  let app: TestApp;
  let owner: Tenant;
  beforeAll(async () => {
    const onQuery = (sql: string, parameters: unknown[]) => statements.push({ sql, parameters });
    const gateway = await loadGateway(GATEWAY);
    app = await startApp({ kind, gateway, onQuery });
    owner = await app.tenant();
    const schema = databaseSchema(gateway);
    const source = await createDataSource(app.config.database, schema, SCHEMA_WORK);
    await source.initialize();
    for (const { model } of NOUNS)
      await fill((sql) => source.query(sql), model, { projectId: owner.projectId, kind });
    await source.destroy();
  });
  afterAll(() => app.stop());

  describe.each(NOUNS)('$description.plural', ({ model }) => {
    const lists = listsOf(model);
    const [unique] = model.fields.filter(({ options }) => options.unique);
    const byUnique = new RegExp(`INDEX ${model.table}_${unique?.column} .*${unique?.column}=`);
    /** The index of the unique field is enough: one record has the value. */
    const isOfOne = (list: NounListRequest) =>
      filtersOf(model, list).fields.some(({ options }) => options.unique);

    /** The statements of three equal lists at the same time: MySQL joins two of them. */
    async function statementsOf(list: NounListRequest): Promise<Statement[]> {
      const service = app.app.services.nouns[NOUNS.findIndex((noun) => noun.model === model)]?.service;
      if (!(service instanceof NounService)) throw new Error('the app does not serve the noun');
      statements.length = 0;
      const ask = () => service.list(callAs(owner, GATEWAY.scopes.all), list);
      await Promise.all([ask(), ask(), ask()]);
      return statements.filter(({ sql }) => sql.includes(`FROM ${model.table}`));
    }
    const explained = async ({ sql, parameters }: Statement, how: string) =>
      app.db.repository(model.description.singular).query(`EXPLAIN ${how} ${sql}`, parameters);

    async function plansOf(list: NounListRequest): Promise<string[]> {
      const plans = (await statementsOf(list)).map(async (statement) => {
        const steps = await explained(statement, 'QUERY PLAN');
        return steps.map(({ detail }: { detail: string }) => detail).join();
      });
      return Promise.all(plans);
    }

    /** Counts the rows that the server reads and sorts for each list, which three clients ask for at the same time. */
    async function rowsOf(lists: readonly NounListRequest[]): Promise<number[]> {
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
    async function notesOf(list: NounListRequest): Promise<string[]> {
      const joined = (await statementsOf(list)).find(({ sql }) => sql.includes('UNION ALL'));
      const parts: { table: string | null; Extra: string }[] = await explained(
        joined as Statement,
        kind === 'mysql' ? 'FORMAT=TRADITIONAL' : '',
      );
      return parts.filter(({ table }) => table === model.table).map(({ Extra }) => Extra);
    }

    test(`RecordList-14: of ${ROWS} records, every order and filter is one range of one index: a page reads at most ${MOST_ROWS} rows and sorts none`, async () => {
      if (kind === 'sqlite') {
        for (const list of lists) {
          const plans = await plansOf(list);
          if (isOfOne(list)) expect([list, plans.join()]).toEqual([list, expect.stringMatching(byUnique)]);
          else expect(plans).toEqual(Array(LISTS_AT_ONCE).fill(rangeOnSqlite(model, list)));
        }
        return;
      }
      const rows = await rowsOf(lists);
      for (const [at, list] of lists.entries()) {
        const read = rows[at] ?? 0;
        expect([list, read, read > 0 && read <= LISTS_AT_ONCE * MOST_ROWS]).toEqual([list, read, true]);
      }
    });

    const sorted = sortedListsOf(model);
    if (sorted.length > 0)
      test('Sort-1: every order by a field, with and without a range, is one range of one index, or two where records without a value follow: a page sorts none', async () => {
        if (kind === 'sqlite') {
          for (const list of sorted) {
            const [plan = ''] = await plansOf(list);
            const steps = plan.split(/,(?=[A-Z])/).filter((step) => /^(SEARCH|USE)/.test(step));
            const ranges = expect.stringMatching(sortedRangesOnSqlite(model, list));
            expect([list, steps.join(';')]).toEqual([list, ranges]);
          }
          return;
        }
        const rows = await rowsOf(sorted);
        for (const [at, list] of sorted.entries()) {
          const read = rows[at] ?? 0;
          const most = LISTS_AT_ONCE * MOST_ROWS * (hasTwoRanges(list) ? 2 : 1);
          expect([list, read, read <= most]).toEqual([list, read, true]);
        }
      });

    test('RecordList-18: a list with a filter reads one index and no row of the table', async () => {
      // SQLite's plan says so in RecordList-14.
      if (kind === 'sqlite') return;
      for (const list of lists) {
        const { fields, start } = filtersOf(model, list);
        if (isOfOne(list) || (fields.length === 0 && start === null)) continue;
        const notes = await notesOf(list);
        expect([list, notes]).toEqual([list, Array(2).fill(expect.stringContaining('Using index'))]);
        expect(notes.join()).not.toMatch(/filesort|temporary/i);
      }
    });

    test('RecordList-15: ids reads the rows of these ids alone', async () => {
      const ids = Array.from({ length: 10 }, (_, at) => BigInt(1 + at * 7));
      const wholeValues = model.wholeFilters.map(({ field }) =>
        field.kind.choices ? (valuesOf(field)[1] ?? null) : null,
      );
      const list: NounListRequest = {
        ...{ wholeValues, start: null, sort: null, ids, orderBy: 'OLDEST' },
        pageSize: PAGE_SIZE,
        after: null,
      };
      if (kind === 'sqlite') {
        const search = `SEARCH ${model.table} USING PRIMARY KEY (project_id=? AND id=?)`;
        expect(await plansOf(list)).toEqual(Array(LISTS_AT_ONCE).fill(search));
        return;
      }
      const [read = 0] = await rowsOf([list]);
      expect([read, read <= LISTS_AT_ONCE * 2 * ids.length]).toEqual([read, true]);
    });
  });
});

interface Filling {
  projectId: bigint;
  kind: DatabaseKind;
}

/** Every tenth record belongs to another project. */
async function fill(
  query: (sql: string) => Promise<unknown>,
  model: NounModel,
  filling: Filling,
): Promise<void> {
  const { table, fields } = model;
  const columns = fields.map(({ column }) =>
    column === 'order' ? (filling.kind === 'sqlite' ? '"order"' : '`order`') : column,
  );
  const into = `${table} (project_id, id, ${columns}, created_at_ms)`;
  const values = fields.map((field) => valueInSql(field, filling.kind === 'sqlite'));
  const rows = `SELECT CASE WHEN n % 10 = 0 THEN 1 ELSE ${filling.projectId} END, n, ${values}, 1`;
  if (filling.kind === 'sqlite') {
    const numbers = `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${ROWS})`;
    await query(`${numbers} INSERT INTO ${into} ${rows} FROM numbers`);
    await query('ANALYZE');
    return;
  }
  await query('CREATE TABLE IF NOT EXISTS thousand (n INT PRIMARY KEY)');
  await query(`INSERT IGNORE INTO thousand VALUES ${Array.from({ length: 1_000 }, (_, n) => `(${n})`)}`);
  const numbers = `(SELECT a.n * 1000 + b.n + 1 AS n FROM thousand a, thousand b WHERE a.n < ${ROWS / 1_000}) numbers`;
  await query(`INSERT INTO ${into} ${rows} FROM ${numbers} ORDER BY 1, 2`);
  await query(`ANALYZE TABLE ${table}`);
}

/** The value of a sorted field of record number `n`: its number. */
function sortedInSql({ kind, filter }: ModelField, isSqlite: boolean): string | null {
  if (filter === 'start') return null;
  if (kind.name === 'date') {
    return isSqlite
      ? "date('2000-01-01', '+' || (n % 90) || ' days')"
      : "DATE_ADD('2000-01-01', INTERVAL n % 90 DAY)";
  }
  if (kind.name === 'text') return isSqlite ? "printf('%012d', n)" : "LPAD(n, 12, '0')";
  if (kind.name === 'decimal') return isSqlite ? "'p' || printf('%038d', n) || '.'" : 'n';
  return 'n';
}

/** The value of record number `n`, in SQL. */
function valueInSql(field: ModelField, isSqlite: boolean): string {
  const { kind, filter, options, example, isSet } = field;
  const text = (first: string) => (isSqlite ? `'${first}' || n` : `CONCAT('${first}', n)`);
  const literal = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value));
  if (options.unique) return isSqlite ? "printf('%012d', n)" : "LPAD(n, 12, '0')";
  if (filter === 'start') {
    return `CASE n % 3 WHEN 0 THEN 'Rex' WHEN 1 THEN ${text('R ')} ELSE ${text('\u{10ffff}')} END`;
  }
  const share = options.sort || filter === 'range' ? sortedInSql(field, isSqlite) : null;
  if (share !== null) return isSet ? share : `CASE WHEN n % 3 = 0 THEN NULL ELSE ${share} END`;
  if (filter === null) return kind.isDigits ? example : literal(example);
  const [first, second] = valuesOf(field).map(literal);
  return `CASE WHEN n % 1000 = 1 THEN ${second} WHEN n % 9 < 3 THEN ${first} ELSE ${isSet ? second : 'NULL'} END`;
}
