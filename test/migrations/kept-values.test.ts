import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { QueryRunner } from 'typeorm';
import { type DatabaseTarget, loadConfig } from '../../src/ground/config/config.js';
import { type DatabaseSchema, withDataSource } from '../../src/ground/database/data-source.js';
import { migrate, revertLastMigration } from '../../src/ground/migrating/migrate.js';
import { createTestDatabase, databaseKinds, type TestDatabase } from '../support/databases.js';
import { books, renamedSchemaOf, schemaOf } from '../support/written-schema.js';

const TITLE = { name: 'title', type: 'varchar', length: '20' };
const NAME = { ...TITLE, name: 'name' };
const ISBN = { name: 'isbn', type: 'varchar', length: '13' };
const STATE = { name: 'state', type: 'varchar', length: '16', isNullable: true };
const RENAMED = [{ table: 'books', from: 'title', to: 'name' }];

describe.each(databaseKinds())('on %s', (kind) => {
  const isSqlite = kind === 'sqlite';
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
  const rows = async (columns: string) =>
    (await query(`SELECT ${columns} FROM books ORDER BY project_id, id`)).map((row) => Object.values(row));
  const indexes = async () =>
    (await inDatabase((runner) => runner.getTable('books')))?.indices.map(({ name }) => name).toSorted();

  /** The first migration has run, with these rows. */
  async function started(schema: DatabaseSchema, columns: string, values: string): Promise<void> {
    await migrate(target, { ...schema, migrations: schema.migrations.slice(0, 1) });
    await query(`INSERT INTO books (project_id, id, ${columns}) VALUES ${values}`);
  }

  test('Migrations-12: a renamed field keeps its values and its indexes, and its old name comes back with them', async () => {
    const schema = await renamedSchemaOf(
      RENAMED,
      books([TITLE, ISBN], ['title', 'isbn'], ['title']),
      books([{ ...NAME, length: '10' }, ISBN], ['name', 'isbn'], ['name']),
    );
    await started(schema, 'title, isbn', "(1, 1, 'Emma', '1'), (1, 2, 'Middlemarch', '2')");
    if (isSqlite) {
      await query('CREATE VIEW titles AS SELECT title FROM books');
      await query('CREATE INDEX report ON books (title, isbn)');
    }
    for (const length of [10, 10]) {
      await migrate(target, schema);
      expect(await rows('name')).toEqual([['Emma'], ['Middlemarch'.slice(0, length)]]);
      expect(await indexes()).toEqual(
        expect.arrayContaining(['books_isbn', 'books_name', 'books_name_unique']),
      );
      if (isSqlite) expect(await query('SELECT * FROM titles')).toHaveLength(2);
      await revertLastMigration(target, schema);
      expect(await rows('title, isbn')).toEqual([
        ['Emma', '1'],
        ['Middlemarc', '2'],
      ]);
      expect(await indexes()).toEqual(
        expect.arrayContaining(['books_isbn', 'books_title', 'books_title_unique']),
      );
    }
    if (isSqlite) expect(await indexes()).toContain('report');
  });

  test('Migrations-13: a field that becomes unique is refused with the number of repeated values and an example', async () => {
    const first = books([TITLE, ISBN]);
    const schema = await schemaOf(first, books([{ ...TITLE, length: '3' }, ISBN], [], ['isbn', 'title']));
    await started(
      schema,
      'title, isbn',
      "(1, 1, 'Emma', '9780142437247'), (1, 2, 'Emmy', '9780142437247'), (2, 1, 'Emma', '9780142437247')",
    );
    const refused = (field: string, example: string) =>
      expect(migrate(target, schema)).rejects.toMatchObject({
        code: 'conflict',
        message: `The migration ${schema.migrations[1]?.name} was not applied. ${field} of books is unique now, and several records have the same value. Such values: 1, for example "${example}". Change or delete all but one record of each value, then run \`petstore migrate\` again. Nothing was changed.`,
      });
    await refused('isbn', '9780142437247');
    await query("UPDATE books SET isbn = '2' WHERE id = 2");
    await refused('title', 'Emm');
    expect(await rows('title')).toEqual([['Emma'], ['Emmy'], ['Emma']]);
    await query("UPDATE books SET title = 'Eva' WHERE id = 2");
    await migrate(target, schema);
    expect(await rows('title')).toEqual([['Emm'], ['Eva'], ['Emm']]);
  });

  test('Migrations-21: a field that becomes unique with another one is refused only for records that have both values', async () => {
    const first = books([TITLE, ISBN]);
    const indices = [
      { name: 'books_title_isbn_unique', columnNames: ['project_id', 'title', 'isbn'], isUnique: true },
    ];
    const schema = await schemaOf(first, { ...first, indices });
    await started(schema, 'title, isbn', "(1, 1, 'Emma', '1'), (1, 2, 'Emma', '1'), (1, 3, 'Eva', '1')");
    await expect(migrate(target, schema)).rejects.toThrow(
      'isbn of books is unique now, and several records have the same value with the same title. Such values: 1, for example "1".',
    );
    await query("UPDATE books SET isbn = '2' WHERE id = 2");
    await migrate(target, schema);
    expect(await indexes()).toEqual(['books_title_isbn_unique']);
  });

  test('Migrations-14: undoing the end of a required unique field works without records, and is refused with them', async () => {
    const schema = await schemaOf(books([TITLE, ISBN], [], ['isbn']), books([TITLE]));
    await started(schema, 'title, isbn', "(1, 1, 'Emma', '1'), (1, 2, 'Eva', '2')");
    await migrate(target, schema);
    await expect(revertLastMigration(target, schema)).rejects.toThrow(
      'isbn of books is required and unique, and the records have no values for it. Delete them first, or restore a backup. Nothing was changed.',
    );
    expect(await rows('title')).toEqual([['Emma'], ['Eva']]);
    await query('DELETE FROM books');
    await revertLastMigration(target, schema);
    expect(await indexes()).toEqual(['books_isbn_unique']);
  });

  test('Migrations-15: no value is cut or filled when the change of the table fails', async () => {
    const filled = { name: 'state', type: 'varchar', length: '16', default: "'draft'" };
    const schema = await schemaOf(
      books([TITLE, STATE, ISBN]),
      books([{ ...TITLE, length: '3' }, filled, ISBN], ['isbn']),
    );
    await started(schema, 'title, state, isbn', "(1, 1, 'Emma', NULL, '1'), (1, 2, 'Eva', 'draft', '2')");
    // The index that the migration creates has this name too.
    await query('CREATE INDEX books_isbn ON books (title, isbn)');
    await expect(migrate(target, schema)).rejects.toThrow(/books_isbn/);
    expect(await rows('title, state')).toEqual([
      ['Emma', null],
      ['Eva', 'draft'],
    ]);
    if (!isSqlite) {
      // As a process leaves it that dies before MySQL changes the table.
      await query('CREATE TABLE books_unfitted LIKE books');
      await query('INSERT INTO books_unfitted SELECT * FROM books WHERE id = 1');
      await query("UPDATE books SET title = 'Emm', state = 'draft' WHERE id = 1");
      await expect(migrate(target, schema)).rejects.toThrow(/books_isbn/);
      expect(await rows('title, state')).toEqual([
        ['Emma', null],
        ['Eva', 'draft'],
      ]);
    }
    await query(isSqlite ? 'DROP INDEX books_isbn' : 'DROP INDEX books_isbn ON books');
    await migrate(target, schema);
    expect(await rows('title, state')).toEqual([
      ['Emm', 'draft'],
      ['Eva', 'draft'],
    ]);
    expect(await inDatabase((runner) => runner.hasTable('books_unfitted'))).toBe(false);
  });

  test('Migrations-16: an index of somebody on a dropped column is named, and nothing is changed', async () => {
    const schema = await schemaOf(books([TITLE, ISBN]), books([TITLE]));
    await started(schema, 'title, isbn', "(1, 1, 'Emma', '1')");
    await query('CREATE INDEX report ON books (title, isbn)');
    await expect(migrate(target, schema)).rejects.toThrow(
      'The index report of books has the column isbn, which is dropped now. Drop the index first. Nothing was changed.',
    );
    expect(await rows('isbn')).toEqual([['1']]);
  });

  if (!isSqlite) {
    test('Migrations-20: a view or trigger of MySQL that names a dropped or renamed column is named, and nothing is changed', async () => {
      const schema = await renamedSchemaOf(RENAMED, books([TITLE, STATE, ISBN]), books([NAME, STATE]));
      await started(schema, 'title, isbn', "(1, 1, 'Emma', '1')");
      await query('CREATE TABLE log (title text, isbn text)');
      await query('CREATE VIEW states AS SELECT books.state, log.isbn FROM books JOIN log');
      await query(
        'CREATE TRIGGER logged AFTER INSERT ON books FOR EACH ROW INSERT INTO log (title) VALUES (NEW.state)',
      );
      for (const [type, name, column, sql] of [
        ['view', 'isbns', 'isbn', 'AS SELECT isbn FROM books'],
        ['view', 'titles', 'title', 'AS SELECT b.title AS t FROM log AS l JOIN books AS b USING (isbn)'],
        ['trigger', 'copied', 'title', 'AFTER UPDATE ON books FOR EACH ROW SET @title = OLD.`title`'],
        ['trigger', 'changed', 'isbn', "AFTER INSERT ON log FOR EACH ROW UPDATE books SET isbn = ''"],
      ]) {
        await query(`CREATE ${type} ${name} ${sql}`);
        await expect(migrate(target, schema)).rejects.toThrow(
          new RegExp(
            `The ${type} ${name} has the column ${column} of books, .* Drop it first.* Nothing was changed`,
          ),
        );
        await query(`DROP ${type} ${name}`);
      }
      expect(await rows('title, isbn')).toEqual([['Emma', '1']]);
      await migrate(target, schema);
      await query("INSERT INTO books (project_id, id, name, state) VALUES (1, 2, 'Eva', 'new')");
      expect(await query('SELECT DISTINCT state FROM states')).toHaveLength(2);
    });
    return;
  }

  test('Migrations-17: views and triggers of SQLite stay, and one that would fail is named', async () => {
    const schema = await schemaOf(books([TITLE, ISBN]), books([{ ...TITLE, length: '30' }]));
    await started(schema, 'title, isbn', "(1, 1, 'Emma', '1')");
    await query('CREATE TABLE log (title text)');
    await query('CREATE VIEW titles AS SELECT title FROM books');
    await query('CREATE TRIGGER logged AFTER INSERT ON books BEGIN INSERT INTO log VALUES (NEW.title); END');
    await query('CREATE TRIGGER cleared AFTER DELETE ON log BEGIN DELETE FROM books; END');
    for (const [type, name, sql] of [
      ['view', 'isbns', 'CREATE VIEW isbns AS SELECT isbn FROM books'],
      [
        'trigger',
        'copied',
        'CREATE TRIGGER copied AFTER UPDATE OF title ON books BEGIN INSERT INTO log VALUES (NEW.isbn); END',
      ],
      [
        'trigger',
        'changed',
        "CREATE TRIGGER changed AFTER INSERT ON log BEGIN UPDATE books SET isbn = ''; END",
      ],
    ]) {
      await query(sql as string);
      await expect(migrate(target, schema)).rejects.toThrow(
        new RegExp(`The ${type} ${name} does not fit the changed table books: .*isbn.* Drop it first`),
      );
      await query(`DROP ${type} ${name}`);
    }
    expect(await rows('isbn')).toEqual([['1']]);
    await migrate(target, schema);
    expect(await query('SELECT * FROM titles')).toEqual([{ title: 'Emma' }]);
    await query("INSERT INTO books (project_id, id, title) VALUES (1, 2, 'Eva')");
    expect(await query('SELECT * FROM log')).toEqual([{ title: 'Eva' }]);
    await query('DELETE FROM log');
    expect(await rows('id')).toEqual([]);
  });
});
