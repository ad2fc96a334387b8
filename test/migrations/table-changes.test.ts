import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { QueryRunner, Table, TableColumnOptions, TableOptions } from 'typeorm';
import { type DatabaseTarget, loadConfig } from '../../src/ground/config/config.js';
import { withDataSource } from '../../src/ground/database/data-source.js';
import { plainDecimal, sortableDecimal } from '../../src/ground/kernel/decimals.js';
import { migrate, revertLastMigration } from '../../src/ground/migrating/migrate.js';
import { differenceOf } from '../../src/ground/migrations/files/compare.js';
import { declaredTables } from '../../src/ground/migrations/files/declared-tables.js';
import { migratedTables } from '../../src/ground/migrations/files/migrated-tables.js';
import { createTestDatabase, databaseKinds, type TestDatabase } from '../support/databases.js';
import { isLongRun } from '../support/long-run.js';
import { books, schemaOf } from '../support/written-schema.js';

const TITLE = { name: 'title', type: 'varchar', length: '20' };
const PAGES = { name: 'pages', type: 'integer', isNullable: true };
const STATE = { name: 'state', type: 'varchar', length: '16', default: "'draft'" };
const PRICE = { name: 'price_cents', type: 'bigint', isNullable: true };
const HUGE = 2n ** 63n - 1n;

describe.each(databaseKinds())('on %s', (kind) => {
  let database: TestDatabase;
  let target: DatabaseTarget;
  beforeEach(async () => {
    database = await createTestDatabase(kind);
    target = loadConfig({ DATABASE_URL: database.url }).database;
  });
  afterEach(() => database.remove());

  const inDatabase = <T>(work: (runner: QueryRunner) => Promise<T>) =>
    withDataSource(
      target,
      { entities: [], migrations: [] },
      { poolSize: 1, queryTimeoutMs: 10_000 },
      (source) => work(source.createQueryRunner()),
    );
  const query = (sql: string): Promise<Record<string, unknown>[]> =>
    inDatabase((runner) => runner.query(sql));
  /** Numbers as digits, as both drivers can give them. */
  const rows = async (columns: string) =>
    (await query(`SELECT ${columns} FROM books ORDER BY id`)).map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([key, value]) => [key, value === null ? null : String(value)]),
      ),
    );
  const isTable = async (definition: TableOptions) => {
    const table = await inDatabase((runner) => runner.getTable('books'));
    if (table && kind !== 'sqlite') await orderIndexes(table);
    expect(differenceOf(table, definition)).toBeNull();
    if (kind === 'sqlite') expect(table?.withoutRowid).toBe(true);
  };

  /** TypeORM reads the columns of MySQL's indexes in any order. */
  const orderIndexes = async ({ indices }: Table) => {
    const columns = await query(
      "SELECT index_name AS name, column_name AS part FROM information_schema.statistics WHERE table_schema = DATABASE() AND table_name = 'books' ORDER BY seq_in_index",
    );
    for (const index of indices) {
      index.columnNames = columns.flatMap(({ name, part }) => (name === index.name ? [String(part)] : []));
    }
  };

  test('Migrations-1: fields, filters and longer texts come and go, and no row is lost', async () => {
    const [first, second] = [
      books([TITLE, PRICE], ['title']),
      books([{ ...TITLE, length: '300' }, PRICE, PAGES, STATE], ['state', 'title'], ['title']),
    ];
    const { migrations } = await schemaOf(first, second);
    await migrate(target, { entities: [], migrations: migrations.slice(0, 1) });
    await query(
      `INSERT INTO books (project_id, id, title, price_cents) VALUES (1, 1, 'Rex ☃ 😀', ${HUGE}), (1, 2, 'rex', NULL), (1, 3, 'rex ', -1)`,
    );
    const before = await rows('id, title, price_cents');
    expect(before).toEqual([
      { id: '1', title: 'Rex ☃ 😀', price_cents: String(HUGE) },
      { id: '2', title: 'rex', price_cents: null },
      { id: '3', title: 'rex ', price_cents: '-1' },
    ]);
    for (const _ of [1, 2]) {
      await migrate(target, { entities: [], migrations });
      await isTable(second);
      expect(await rows('id, title, price_cents')).toEqual(before);
      expect(await rows('pages, state')).toEqual(before.map(() => ({ pages: null, state: 'draft' })));
      await revertLastMigration(target, { entities: [], migrations });
      await isTable(first);
      expect(await rows('id, title, price_cents')).toEqual(before);
    }
  });

  test('Migrations-2: any definition becomes any other one, and this one again', async () => {
    const column = (name: string) =>
      fc
        .record({
          type: fc.constantFrom('varchar 5', 'varchar 200', 'bigint', 'integer'),
          isNullable: fc.boolean(),
        })
        .map(({ type: typeAndLength, isNullable }): TableColumnOptions => {
          const [type = '', length] = typeAndLength.split(' ');
          return {
            name,
            type,
            ...(length ? { length } : {}),
            ...(isNullable ? { isNullable } : { default: type === 'varchar' ? "'none'" : 7 }),
          };
        });
    const definition = fc
      .record({ a: column('a'), b: column('b'), c: column('c') }, { requiredKeys: [] })
      .chain((fields) =>
        fc.record({
          fields: fc.constant(Object.values(fields)),
          indexed: fc.subarray(Object.keys(fields)),
        }),
      )
      .map(({ fields, indexed }) => books(fields, indexed));
    await fc.assert(
      fc.asyncProperty(definition, definition, async (from, to) => {
        if (differenceOf((await migratedTables(await schemaOf(from), ['books'])).get('books'), to) === null)
          return;
        const schema = await schemaOf(from, to);
        const { migrations } = schema;
        // The migrations make what they declare.
        const ran = (await migratedTables(schema, ['books'])).get('books');
        expect(differenceOf(declaredTables(schema)?.get('books'), to)).toBeNull();
        expect(differenceOf(ran, to)).toBeNull();
        await migrate(target, { entities: [], migrations: migrations.slice(0, 1) });
        const texts = (from.columns ?? []).filter(({ type }) => type === 'varchar');
        await query('INSERT INTO books (project_id, id) VALUES (1, 1), (1, 2)');
        for (const { name, length } of texts) {
          await query(`UPDATE books SET ${name} = '${'é'.repeat(Number(length))}' WHERE id = 2`);
        }
        await migrate(target, { entities: [], migrations });
        await isTable(to);
        expect(await rows('id')).toEqual([{ id: '1' }, { id: '2' }]);
        await revertLastMigration(target, { entities: [], migrations });
        await isTable(from);
        expect(await rows('id')).toEqual([{ id: '1' }, { id: '2' }]);
        await revertLastMigration(target, { entities: [], migrations });
      }),
      { numRuns: (kind === 'sqlite' ? 12 : 4) * (isLongRun ? 4 : 1) },
    );
  });

  test('Migrations-3: a field becomes required: its default is stored, or the migration stops and changes nothing', async () => {
    const first = books([TITLE, PAGES, { ...STATE, isNullable: true }]);
    const start = async (second: TableOptions) => {
      const { migrations } = await schemaOf(first, second);
      await migrate(target, { entities: [], migrations: migrations.slice(0, 1) });
      return { entities: [], migrations };
    };
    const strict = await start(books([TITLE, { name: 'pages', type: 'integer' }, STATE]));
    await query("INSERT INTO books (project_id, id, title, pages, state) VALUES (1, 1, 'Rex', NULL, NULL)");
    await expect(migrate(target, strict)).rejects.toThrow('1 rows of books have no pages');
    await isTable(first);

    await query('UPDATE books SET pages = 12');
    await migrate(target, strict);
    expect(await rows('pages, state')).toEqual([{ pages: '12', state: 'draft' }]);
    const incomplete = query("INSERT INTO books (project_id, id, title, pages) VALUES (1, 2, 'Rex', NULL)");
    await expect(incomplete).rejects.toThrow(/null/i);
  });

  test('Migrations-4: a shorter text is cut, and an index of somebody stays', async () => {
    const first = books([TITLE, PAGES], ['title']);
    const schema = await schemaOf(first, books([{ ...TITLE, length: '3' }], ['title']));
    await migrate(target, { ...schema, migrations: schema.migrations.slice(0, 1) });
    await query(
      "INSERT INTO books (project_id, id, title, pages) VALUES (1, 1, '😀ééé', 5), (1, 2, 'no', 6)",
    );
    await query('CREATE INDEX report_titles ON books (title, id)');
    await isTable(first);
    await migrate(target, schema);
    expect(await rows('title')).toEqual([{ title: '😀éé' }, { title: 'no' }]);
    const table = await inDatabase((runner) => runner.getTable('books'));
    expect(table?.indices.map(({ name }) => name).toSorted()).toEqual(['books_title', 'report_titles']);
  });

  test('Migrations-5: texts that end in a blank, or differ in case, are different values', async () => {
    const schema = await schemaOf(
      books([TITLE]),
      books([TITLE, { ...STATE, length: '20' }], [], ['title', 'state']),
    );
    await migrate(target, schema);
    await query(
      "INSERT INTO books (project_id, id, title, state) VALUES (1, 1, 'Rex', 'a'), (1, 2, 'rex', 'a '), (1, 3, 'Rex ', 'A')",
    );
    for (const column of ['title', 'state']) {
      const [{ value } = {}] = await rows(`${column} AS value`);
      const again = query(
        `INSERT INTO books (project_id, id, title, state) SELECT 1, 9, ${column === 'title' ? `'${value}', 'z'` : `'z', '${value}'`}`,
      );
      await expect(again).rejects.toThrow(/unique|duplicate/i);
    }
  });

  test('Migrations-19: a decimal gets more digits and keeps its values, and records without one get its default', async () => {
    const weight = { name: 'weight', type: 'decimal', precision: 9, scale: 3 };
    const cost = { name: 'cost', type: 'decimal', precision: 38, scale: 10 };
    const first = books([{ ...weight, isNullable: true }]);
    const second = books([
      { ...weight, precision: 14, scale: 5, default: '-12.5' },
      { ...cost, default: '0.1' },
    ]);
    const schema = await schemaOf(first, second);
    await migrate(target, { ...schema, migrations: schema.migrations.slice(0, 1) });
    const stored = (number: string) => (kind === 'sqlite' ? `'${sortableDecimal(number)}'` : number);
    await query(
      `INSERT INTO books (project_id, id, weight) VALUES (1, 1, ${stored('-999999.999')}), (1, 2, NULL)`,
    );
    await migrate(target, schema);
    await isTable(second);
    const numbers = (await rows('weight, cost')).map(({ weight, cost }) => [
      plainDecimal(weight as string, 5),
      plainDecimal(cost as string, 10),
    ]);
    expect(numbers).toEqual([
      ['-999999.99900', '0.1000000000'],
      ['-12.50000', '0.1000000000'],
    ]);
    // Both forms sort as the numbers do.
    const [lowest] = await rows('id, weight');
    expect((await query('SELECT id FROM books ORDER BY weight LIMIT 1')).map(({ id }) => String(id))).toEqual(
      [lowest?.id],
    );
    const fewer = differenceOf(await inDatabase((runner) => runner.getTable('books')), first);
    expect(fewer?.problems).toEqual([expect.stringContaining('weight of books gets fewer digits')]);
  });
});
