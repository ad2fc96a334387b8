import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { createGateway } from '../../src/app/gateway.js';
import { type DatabaseTarget, loadConfig } from '../../src/ground/config/config.js';
import { type DatabaseSchema, withDataSource } from '../../src/ground/database/data-source.js';
import { migrate, revertLastMigration } from '../../src/ground/migrating/migrate.js';
import { requireMigrations } from '../../src/ground/migrations/files/migrated-tables.js';
import { writeMigrations } from '../../src/ground/migrations/files/write.js';
import * as migrationsPackage from '../../src/ground/migrations/table-changes.js';
import { defineNoun } from '../../src/noun/define-noun.js';
import { boolean } from '../../src/noun/kinds/boolean.js';
import { choice } from '../../src/noun/kinds/choice.js';
import { decimal } from '../../src/noun/kinds/decimal.js';
import type { Fields } from '../../src/noun/kinds/kind.js';
import { text } from '../../src/noun/kinds/text.js';
import { texts } from '../../src/noun/kinds/texts.js';
import { createTestDatabase, databaseKinds, type TestDatabase } from '../support/databases.js';

const SETTINGS = { poolSize: 1, queryTimeoutMs: 60_000 };
const LARGEST = '9223372036854775807';
const title = text({ max: 20 });
const tags = texts({ most: 3, max: 10, default: [] });
const having = texts({ most: 3, max: 10, default: [], filter: 'has' });
const carrier = choice({ dhl: 'DHL.', ups: 'UPS.' }, { optional: true, filter: true });
const define = (fields: Fields) => defineNoun({ name: 'parcel', fields: { title, ...fields } });
const definitionsOf = (fields: Fields) => {
  const { table } = define(fields);
  return [table.table, ...table.entries.map((each) => each.table)];
};

describe('what is written', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'petstore-migrations-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('Filled-1: the table of a filter by a text is one short file, which says from where it is filled', async () => {
    const before = await written(folder, [], { tags });
    await written(folder, before, { tags: having });
    const file = (await readdir(folder)).find((name) => name.includes('has-parcels-tags'));
    expect(
      await readFile(join(folder, file as string), 'utf8'),
    ).toBe(`import { NewFilledTable } from 'petstore-gateway/migrations';

/** Creates the table has_parcels_tags, and fills it from parcels. */
export class HasParcelsTags1790000000001 extends NewFilledTable {
  table = {
    name: 'has_parcels_tags',
    withoutRowid: true,
    columns: [
      { name: 'project_id', type: 'bigint', isPrimary: true },
      { name: 'tags', type: 'varchar', length: '10', isPrimary: true },
      { name: 'id', type: 'bigint', isPrimary: true },
    ],
    filledFrom: 'parcels',
  };
}
`);
  });

  test('Filled-2: without the option the table is dropped; with another column it is made again around the change', async () => {
    const first = await written(folder, [], { tags: having });
    const names = (all: Migrations) => all.slice(first.length).map(({ name }) => name.replace(/\d+$/, ''));
    expect(names(await written(join(folder, '1'), first, { tags }))).toEqual(['HasParcelsTagsDropped']);
    expect(names(await written(join(folder, '2'), first, { tags: having, carrier }))).toEqual([
      'HasParcelsTagsDropped',
      'ParcelsCarrier',
      'HasParcelsTags',
    ]);
    // Only the list in the other table changes.
    const fewer = texts({ most: 2, max: 10, default: [], filter: 'has' });
    expect(names(await written(join(folder, '3'), first, { tags: fewer }))).toEqual([
      'HasParcelsTagsDropped',
      'ParcelsTags',
      'HasParcelsTags',
    ]);
    expect(
      names(await written(join(folder, '4'), first, { tags: having, weight: boolean({ optional: true }) })),
    ).toEqual(['ParcelsWeight']);
  });

  test('Filled-3: a start is refused while the table is missing, and while it is left', async () => {
    const without = await written(folder, [], { tags });
    const has = { entities: [], definitions: definitionsOf({ tags: having }) };
    await expect(requireMigrations({ ...has, migrations: without })).rejects.toThrow(
      'The table has_parcels_tags has no migration.',
    );
    const made = await written(folder, without, { tags: having });
    await requireMigrations({ ...has, migrations: made });
    const left = { entities: [], migrations: made, definitions: definitionsOf({ tags }) };
    await expect(requireMigrations(left)).rejects.toThrow(
      'The table has_parcels_tags follows from another definition.',
    );
    await requireMigrations({ ...left, migrations: await written(folder, made, { tags }) });
  });
});

describe.each(databaseKinds())('on %s', (kind) => {
  let database: TestDatabase;
  let target: DatabaseTarget;
  let folder: string;
  beforeEach(async () => {
    database = await createTestDatabase(kind);
    target = loadConfig({ DATABASE_URL: database.url }).database;
    folder = await mkdtemp(join(tmpdir(), 'petstore-migrations-'));
  });
  afterEach(async () => {
    await database.remove();
    await rm(folder, { recursive: true, force: true });
  });
  const ask = <T>(work: (source: DataSource) => Promise<T>) =>
    withDataSource(target, { entities: [], migrations: [] }, SETTINGS, work);
  const apply = (migrations: Migrations) => migrate(target, { entities: [], migrations });

  test('Filled-4: the table is filled from the stored lists with the other filters, step by step, and a revert undoes it', async () => {
    const weight = decimal({ digits: 20, places: 3, optional: true });
    const fields = { carrier, weight };
    const before = await written(folder, [], { tags, ...fields });
    await apply(before);
    const rows = Array.from({ length: 2_500 }, (_, at) => [
      at % 2 ? 1 : 2,
      at,
      JSON.stringify([`t${at % 5}`, 'all']),
    ]);
    rows.push(
      [1, LARGEST, '["é","É","e "]'],
      [LARGEST, '1', 'an old text'],
      [LARGEST, '2', 'old'],
      [LARGEST, '3', '["a","a"]'],
      [LARGEST, '4', '[]'],
    );
    await ask(async (source) => {
      for (let at = 0; at < rows.length; at += 500) {
        const part = rows.slice(at, at + 500);
        await source.query(
          `INSERT INTO parcels (project_id, id, title, tags, carrier, created_at_ms) VALUES ${part.map(() => "(?, ?, 'P', ?, ?, 1)").join(', ')}`,
          part.flatMap((row) => [...row, Number(row[1]) % 2 ? 'dhl' : null]),
        );
      }
    });
    const after = await written(folder, before, { tags: having, ...fields });
    await apply(after);
    const entries = () =>
      ask(async (source) => {
        const sql = (condition: string) =>
          `SELECT CAST(project_id AS CHAR) AS project, tags, CAST(id AS CHAR) AS id, carrier FROM has_parcels_tags WHERE ${condition} ORDER BY has_parcels_tags.project_id, has_parcels_tags.tags, has_parcels_tags.id`;
        const [{ count }] = await source.query(`SELECT COUNT(*) AS count FROM has_parcels_tags`);
        return {
          count: Number(count),
          some: (await source.query(sql("tags = 't3' AND id < 20"))).map(Object.values),
          large: (await source.query(sql(`project_id = ${LARGEST} OR id = ${LARGEST}`))).map(Object.values),
        };
      });
    const filled = {
      count: 5_000 + 5,
      some: [
        ['1', 't3', '3', 'dhl'],
        ['1', 't3', '13', 'dhl'],
        ['2', 't3', '8', null],
        ['2', 't3', '18', null],
      ],
      // A text that is longer than the rule allows is in no list.
      large: [
        ['1', 'e ', LARGEST, null],
        ['1', 'É', LARGEST, null],
        ['1', 'é', LARGEST, null],
        [LARGEST, 'a', '3', 'dhl'],
        [LARGEST, 'old', '2', null],
      ],
    };
    expect(await entries()).toEqual(filled);
    // The other order of the migrations, and back.
    const dropped = await written(folder, after, { tags, ...fields });
    await apply(dropped);
    await expect(entries()).rejects.toThrow();
    await revertLastMigration(target, { entities: [], migrations: dropped });
    expect(await entries()).toEqual(filled);
    await revertLastMigration(target, { entities: [], migrations: after });
    await expect(entries()).rejects.toThrow();
    expect(await tablesOf(ask)).not.toContain('unfilled_entries');
  });

  test('Filled-5: a fill that fails leaves no table, and the next run makes it', async () => {
    const before = await written(folder, [], { tags });
    await apply(before);
    const add = (id: number, title: string) =>
      ask((source) =>
        source.query(
          'INSERT INTO parcels (project_id, id, title, tags, created_at_ms) VALUES (1, ?, ?, ?, 1)',
          [id, title, '["a"]'],
        ),
      );
    await add(1, 'P');
    const after = await written(folder, before, { tags: having });
    // The other table is not there for a moment.
    const renamed = (from: string, to: string) =>
      ask((source) => source.query(`ALTER TABLE ${from} RENAME TO ${to}`));
    await renamed('parcels', 'hidden');
    await expect(apply(after)).rejects.toThrow(/HasParcelsTags\d+ failed/);
    await renamed('hidden', 'parcels');
    expect(await tablesOf(ask)).not.toContain('has_parcels_tags');
    await add(2, 'P');
    await apply(after);
    const [{ count }] = await ask((source) => source.query('SELECT COUNT(*) AS count FROM has_parcels_tags'));
    expect(Number(count)).toBe(2);
  });
});

type Migrations = DatabaseSchema['migrations'];
type Ask = <T>(work: (source: DataSource) => Promise<T>) => Promise<T>;

const tablesOf = (ask: Ask) =>
  ask(async (source) => {
    const isSqlite = source.options.type === 'better-sqlite3';
    const tables: { name: string }[] = await source.query(
      isSqlite
        ? "SELECT name FROM sqlite_master WHERE type = 'table'"
        : 'SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()',
    );
    return tables.map(({ name }) => name);
  });

/** The migrations, and behind them those that `petstore migrate --write` writes for these fields. */
async function written(folder: string, migrations: Migrations, fields: Fields): Promise<Migrations> {
  const schema = { entities: [], migrations, definitions: definitionsOf(fields) };
  const atMs = 1_790_000_000_000;
  const files = await writeMigrations(schema, { folder, isTypeScript: false, allowsLoss: true, atMs });
  const classes = await Promise.all(files.map(({ file }) => classIn(file)));
  return [...migrations, ...classes];
}

async function classIn(file: string): Promise<Migrations[number]> {
  const text = await readFile(file, 'utf8');
  const body = text.replace(/^import .*$/m, '').replace('export class', 'return class');
  const names = Object.keys(migrationsPackage);
  return new Function(...names, body)(...Object.values(migrationsPackage));
}

test('Filled-6: two tables of one name are refused by their nouns', () => {
  const noun = (name: string, fields: Fields) => defineNoun({ name, fields: { title, ...fields } });
  const boxes = noun('box', { tags: having });
  const other = noun('other', { hasBoxesTags: having });
  expect(() => createGateway({ name: 'A', nouns: [boxes, noun('hasBoxesTag', {})] })).toThrow(
    'hasBoxesTags is a name of the noun',
  );
  expect(() => createGateway({ name: 'A', nouns: [boxes, other] })).not.toThrow();
});
