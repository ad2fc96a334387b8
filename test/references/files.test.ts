import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Output } from '../../src/cli/output.js';
import { runProgram } from '../../src/cli/program.js';
import { createTestDatabase, databaseKinds, type TestDatabase } from '../support/databases.js';
import stores from '../support/nouns/stores.js';

const LARGEST = '9223372036854775807';
const FILES = {
  csv: { crates: `code,warehouseId\na,${LARGEST}\nb,\n`, pallets: 'code,warehouseId\np1,4711\np2,4712\n' },
  ndjson: {
    crates: `{"code":"a","warehouseId":${LARGEST}}\n{"code":"b"}\n`,
    pallets: '{"code":"p1","warehouseId":4711}\n{"code":"p2","warehouseId":4712}\n',
  },
};

/** The output of the commands of a test. */
const printed: string[] = [];

describe.each(databaseKinds())('on %s', (kind) => {
  let database: TestDatabase;
  let folder: string;
  beforeEach(async () => {
    printed.length = 0;
    database = await createTestDatabase(kind);
    folder = await mkdtemp(join(tmpdir(), 'petstore-test-'));
  });
  afterEach(async () => {
    await database.remove();
    await rm(folder, { recursive: true });
  });

  test.each(['csv', 'ndjson'] as const)(
    'Reference-42: a %s file keeps identifiers, and a row with one that must exist is refused',
    async (format) => {
      await run(database.url, 'projects', 'create', 'shop');
      const pathOf = (name: string) => join(folder, `${name}.${format}`);
      await writeFile(pathOf('crates'), FILES[format].crates);
      expect(await run(database.url, 'crates', 'import', 'shop', pathOf('crates'))).toBe(0);
      expect(await run(database.url, 'crates', 'export', 'shop', pathOf('exported'))).toBe(0);
      const exported = await readFile(pathOf('exported'), 'utf8');
      expect(exported).toMatch(new RegExp(`\\ba\\b.*${LARGEST}`));
      await writeFile(pathOf('pallets'), FILES[format].pallets);
      expect(await run(database.url, 'pallets', 'import', 'shop', pathOf('pallets'))).toBe(1);
      const report = await readFile(pathOf('pallets.refused'), 'utf8');
      expect(report.match(/line \d.*?project/g)).toEqual(
        [
          'line 2: warehouseId there is no warehouse 4711 in this project',
          'line 3: warehouseId there is no warehouse 4712 in this project',
        ].map((problem, at) => (format === 'csv' ? problem : problem.replace(/\d/, String(at + 1)))),
      );
    },
  );

  test('Reference-44: the help of an export says which ids another project may refuse', async () => {
    await run(database.url, 'pallets', 'export', '--help');
    expect(printed.join('')).toContain('The ids in warehouseId are kept');
    printed.length = 0;
    await run(database.url, 'crates', 'export', '--help');
    expect(printed.join('')).not.toContain('are kept');
  });
});

/** The exit code of a command of this gateway. */
async function run(databaseUrl: string, ...args: string[]): Promise<number> {
  const sink = { write: (text: string) => printed.push(text) };
  const before = process.env;
  process.env = { ...before, DATABASE_URL: databaseUrl };
  try {
    return await runProgram(stores, args, new Output(false, { stdout: sink, stderr: sink }));
  } finally {
    process.env = before;
  }
}
