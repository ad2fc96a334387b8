import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { TableOptions } from 'typeorm';
import type { DatabaseSchema } from '../../src/ground/database/data-source.js';
import type { Rename } from '../../src/ground/migrations/files/compare.js';
import { requireMigrations } from '../../src/ground/migrations/files/migrated-tables.js';
import { writeMigrations } from '../../src/ground/migrations/files/write.js';
import { ChangedTable, type TableChange } from '../../src/ground/migrations/table-changes.js';
import { petstoreHere } from '../support/command-line.js';
import { DATABASE_SCHEMA } from '../support/gateway/tested-gateway.js';

const TOY_COLUMNS = [
  { name: 'project_id', type: 'bigint', isPrimary: true },
  { name: 'id', type: 'bigint', isPrimary: true },
  { name: 'name', type: 'varchar', length: '255' },
  { name: 'category_id', type: 'bigint' },
  { name: 'status', type: 'varchar', length: '16', isNullable: true },
  { name: 'created_at_ms', type: 'bigint' },
];
const BY_NAME = { name: 'toys_name', columnNames: ['project_id', 'name', 'id'] };
const AT_MS = 1_795_842_890_411;

/** The columns of toys, with these in place of those that have their names. */
function toys(...columns: NonNullable<TableOptions['columns']>): TableOptions {
  const others = TOY_COLUMNS.filter(({ name }) => !columns.some((column) => column.name === name));
  return { name: 'toys', withoutRowid: true, columns: [...others, ...columns], indices: [BY_NAME] };
}

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-migrations-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const write = (
  definitions: TableOptions[],
  {
    schema = DATABASE_SCHEMA,
    ...options
  }: { allowsLoss?: boolean; isTypeScript?: boolean; renames?: Rename[]; schema?: DatabaseSchema } = {},
) =>
  writeMigrations(
    { ...schema, definitions },
    {
      folder: join(folder, 'migrations'),
      isTypeScript: false,
      allowsLoss: false,
      atMs: AT_MS,
      ...options,
    },
  );

test('Migrations-6: a migration is a short file that a person can read, in the language of the folder', async () => {
  const softToys: TableOptions = { name: 'soft_toys', columns: TOY_COLUMNS.slice(0, 3) };
  const written = await write([
    toys({ name: 'born_on', type: 'varchar', length: '10', isNullable: true }),
    softToys,
  ]);
  expect(written.map(({ name }) => name)).toEqual(['ToysBornOn1795842890411', 'SoftToys1795842890412']);
  expect(await readdir(join(folder, 'migrations'))).toEqual([
    '1795842890411-toys-born-on.js',
    '1795842890412-soft-toys.js',
  ]);
  expect(
    await readFile(written[1]?.file as string, 'utf8'),
  ).toBe(`import { NewTable } from 'petstore-gateway/migrations';

/** Creates the table soft_toys. */
export class SoftToys1795842890412 extends NewTable {
  table = {
    name: 'soft_toys',
    columns: [
      { name: 'project_id', type: 'bigint', isPrimary: true },
      { name: 'id', type: 'bigint', isPrimary: true },
      { name: 'name', type: 'varchar', length: '255' },
    ],
  };
}
`);
  const [typed] = await write([toys({ name: 'age', type: 'integer', default: 0 })], { isTypeScript: true });
  const text = await readFile(typed?.file as string, 'utf8');
  expect(typed?.file).toMatch(/\d{13}-toys-age\.ts$/);
  expect(text).toContain("import { ChangedTable, type TableChange } from 'petstore-gateway/migrations';");
  expect(text).toContain('  changes: TableChange[] = [\n');
  expect(text).toContain("    { addColumn: { name: 'age', type: 'integer', default: 0 } },\n");
});

test('Migrations-7: what deletes values is refused in one sentence for each, unless it is allowed', async () => {
  const { columns = [], ...rest } = toys(
    { name: 'name', type: 'varchar', length: '100' },
    { name: 'category_id', type: 'varchar', length: '20', isNullable: true },
  );
  const shorter = { ...rest, columns: columns.filter(({ name }) => name !== 'status') };
  await expect(write([shorter])).rejects.toMatchObject({
    code: 'conflict',
    message: [
      'name of toys gets shorter, from 255 to 100 characters: longer values are cut.',
      'categoryId of toys changes from bigint to varchar: its values are deleted. A revert gives each record 0.',
      'status of toys is no longer defined: its values are deleted. A revert adds it without values.',
      'If you mean that, repeat the command with --allow-loss.',
    ].join('\n'),
  });
  expect(await readdir(folder)).toEqual([]);
  const [written] = await write([shorter], { allowsLoss: true });
  expect(written?.losses).toHaveLength(3);
});

test('Migrations-8: a new field that is required needs a default, with --allow-loss too', async () => {
  for (const allowsLoss of [false, true]) {
    await expect(
      write([toys({ name: 'born_on', type: 'varchar', length: '10' })], { allowsLoss }),
    ).rejects.toThrow(
      'bornOn of toys is required, and records that exist have no value for it. Make it optional, or give it a `default`.',
    );
  }
});

test('Migrations-18: a drop beside an addition says how a renamed field keeps its values', async () => {
  const { columns = [], ...rest } = toys({ name: 'title', type: 'varchar', length: '100' });
  const renamed = { ...rest, columns: columns.filter(({ name }) => name !== 'name') };
  const hint = 'If name of toys is called title now, repeat the command with --rename toys.name=title.';
  await expect(write([renamed], { allowsLoss: true })).rejects.toThrow(hint);
  const optional = { ...rest, columns: columns.filter(({ name }) => !['name', 'title'].includes(name)) };
  optional.columns.push({ name: 'title', type: 'varchar', length: '255', isNullable: true });
  await expect(write([optional])).rejects.toThrow(`${hint}\nIf you mean that`);

  const renames = [{ table: 'toys', from: 'name', to: 'title' }];
  const wrong = [{ table: 'toys', from: 'title', to: 'name' }];
  await expect(write([renamed], { renames: wrong })).rejects.toThrow(
    '--rename toys.title=name needs title in the migrations alone, and name in the definition alone.',
  );
  await expect(write([renamed], { renames: [{ ...renames[0], table: 'toy' } as Rename] })).rejects.toThrow(
    'No table is called toy. There are toys.',
  );
  await expect(write([renamed], { renames })).rejects.toThrow('title of toys gets shorter');
  const [written] = await write([renamed], { renames, allowsLoss: true });
  const text = await readFile(written?.file as string, 'utf8');
  expect(written?.name).toMatch(/^ToysTitle\d/);
  expect(text).toContain('title was called name.');
  expect(text).toContain("from: { name: 'name', type: 'varchar', length: '255' }");

  const migrate = (...args: string[]) => petstoreHere(['migrate', ...args, '--json']);
  for (const args of [
    ['--rename', 'toys.a=b'],
    ['--write', '--rename', 'toys.a'],
  ]) {
    expect(await migrate(...args)).toMatchObject({ code: 2, json: { error: { code: 'usage' } } });
  }
  expect(await migrate('--write', '--rename', 'toys.oldName=newName')).toMatchObject({ code: 1 });
});

test('Migrations-9: a start says where definition and migrations differ, and which command writes it', async () => {
  const [written] = await write([toys()]);
  expect(written?.name).toMatch(/^ToysIndexes/);
  const age = { name: 'age', type: 'integer', isNullable: true };
  class Toys1795842890411 extends ChangedTable {
    table = 'toys';
    changes: TableChange[] = [{ addColumn: age }];
  }
  const required = (...definitions: TableOptions[]) =>
    requireMigrations({
      ...DATABASE_SCHEMA,
      migrations: [...DATABASE_SCHEMA.migrations, Toys1795842890411],
      definitions,
    });
  await expect(required({ ...toys(), name: 'soft_toys' })).rejects.toThrow(
    'The table soft_toys has no migration.',
  );
  await expect(required({ ...toys(age), indices: [] })).rejects.toThrow('differ in indexes.');
  await expect(required(toys(age, { name: 'is_big', type: 'integer', default: 0 }))).rejects.toThrow(
    'The definition of toys and its migrations differ in isBig. Run `petstore migrate --write`, and read the file that it writes.',
  );
});

test('Migrations-10: the next migration is later than the last one, and a migration for MySQL alone is named', async () => {
  class Later1999999999999 extends ChangedTable {
    table = 'toys';
    changes: TableChange[] = [{ addColumn: { name: 'age', type: 'integer', isNullable: true } }];
  }
  const schema = { ...DATABASE_SCHEMA, migrations: [...DATABASE_SCHEMA.migrations, Later1999999999999] };
  const [written] = await write([toys({ name: 'age', type: 'bigint', isNullable: true })], { schema });
  expect(written?.name).toBe('ToysAge2000000000000');

  class Words1999999999998 extends Later1999999999999 {
    override up() {
      return Promise.reject(new Error('near "FULLTEXT": syntax error'));
    }
  }
  const unknown = { ...DATABASE_SCHEMA, migrations: [...DATABASE_SCHEMA.migrations, Words1999999999998] };
  await expect(write([toys()], { schema: unknown })).rejects.toThrow(
    'The migration Words1999999999998 fails on an empty SQLite database: near "FULLTEXT": syntax error. Let statements for MySQL run only if `isSqlite(runner)` is false.',
  );
});

test('Migrations-11: migrate --write writes nothing while the migrations make what the definitions need', async () => {
  const migrate = (...args: string[]) => petstoreHere(['migrate', ...args, '--json']);
  expect(await migrate('--write')).toMatchObject({ code: 0, stdout: '{"written":[]}\n' });
  for (const wrong of [['--write', '--plan'], ['--write', '--revert'], ['--allow-loss']]) {
    expect(await migrate(...wrong)).toMatchObject({ code: 2, json: { error: { code: 'usage' } } });
  }
});
