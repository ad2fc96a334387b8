import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestDatabase, sharedDatabase } from '../support/databases.js';
import { OwnFolder, pack } from '../support/package/own-folder.js';

/** A required unique field, an integer and no choice. With `BROKEN` its lists end after a page. */
const GATEWAY = `import { createGateway, defineNoun, integer, text } from 'petstore-gateway';

class Nothing {}
const shipments = defineNoun({
  name: 'shipment',
  fields: {
    trackingCode: text({ max: 16, pattern: /^[A-Z]{2}\\d+$/, unique: true, filter: 'whole', example: 'AB1' }),
    pieces: integer({ min: 1, max: 20_000, filter: true }),
  },
  own: process.env.BROKEN ? async () => ({
    doors: () => ({
      Resolver: Nothing,
      open(service) {
        const list = service.list.bind(service);
        service.list = async (...given) => ({ ...(await list(...given)), hasNextPage: false });
        return { resolver: new Nothing(), routes: () => {} };
      },
    }),
  }) : undefined,
});

export default createGateway({
  name: 'Acme',
  nouns: [shipments],
  migrations: new URL('./migrations/', import.meta.url),
});
`;
const TEST = `import { nounSuites } from 'petstore-gateway/testing';
import gateway from './gateway.js';

nounSuites(gateway, {
  noun: 'shipment',
  input: (n) => ({ trackingCode: \`AB\${n}\`, pieces: n + 1 }),
  change: (n) => ({ pieces: 15_000 + n }),
});
`;

let folder: string;
let own: OwnFolder;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-packed-'));
  own = await OwnFolder.create();
  await own.write('package.json', '{ "name": "acme", "type": "module" }');
  await own.install(await pack(folder));
  await own.write('gateway.js', GATEWAY);
  await own.write('shipments.test.js', TEST);
  await own.petstore('migrate', '--write');
});
afterAll(async () => {
  await own.remove();
  await rm(folder, { recursive: true });
});

interface Run {
  code: number;
  stdout: string;
}

const suites = (folder: OwnFolder, ...options: string[]): Promise<Run> =>
  folder
    .run(process.execPath, '--test', '--test-reporter=tap', ...options, 'shipments.test.js')
    .then(({ stdout }) => ({ code: 0, stdout }))
    .catch(({ code, stdout }: Run) => ({ code, stdout }));

/** The promises that the noun has no field for. */
const LEFT_OUT = [
  ...['Acting-1', 'Creation-2', 'Creation-6', 'Creation-7', 'Ids-6', 'Ids-7', 'Ordering-1'],
  ...['RequiredRecord-1', 'RequiredRecord-2', 'ShownFields-1', 'ShownFields-2', 'ShownFields-3'],
  ...['Restoring-1', 'Restoring-2', 'Restoring-3', 'Restoring-4', 'Restoring-5'],
  ...['Listing-12', 'Uniqueness-3', 'Uniqueness-4'],
];

function expectGreen({ code, stdout }: Run): void {
  const failed = stdout.match(/not ok .*/g) ?? [];
  expect([failed, code]).toEqual([[], 0]);
  const skipped = [...stdout.matchAll(/ok \d+ - (\w+-\d+): .*\(the noun has no .*# SKIP/g)];
  expect(new Set(skipped.map(([, id]) => id))).toEqual(new Set(LEFT_OUT));
  expect(Number(/^# pass (\d+)/m.exec(stdout)?.[1])).toBeGreaterThan(105);
}

test('Package-11: the suites of any noun run in the folder of a user, and say which promises its fields leave out', async () => {
  expectGreen(await suites(own));
});

test('Package-12: they run on an empty database of MySQL, and leave it empty', async () => {
  const database = await createTestDatabase(sharedDatabase());
  const onMysql = own.with({ TEST_DATABASE_URL: database.url });
  expectGreen(await suites(onMysql));
  expect(await suites(onMysql, '--test-name-pattern=Deletion-1')).toMatchObject({ code: 0 });
  await database.remove();
});

test('Package-13: they touch no database that has a table', async () => {
  const database = await createTestDatabase(sharedDatabase());
  const inUse = own.with({ DATABASE_URL: database.url, TEST_DATABASE_URL: database.url });
  await inUse.petstore('projects', 'create', 'shop');
  const { code, stdout } = await suites(inUse);
  expect(code).toBe(1);
  expect(stdout).toContain('The tests need an empty database, and theirs has ');
  expect(await inUse.petstore('projects', 'list')).toContain('shop');
  await database.remove();
});

test('Package-14: a fault in an own part fails the promises that it breaks', async () => {
  const { code, stdout } = await suites(own.with({ BROKEN: '1' }));
  expect(code).toBe(1);
  const failed = [...stdout.matchAll(/^ *not ok \d+ - ((?:\w+-\d+))/gm)].map(([, id]) => id);
  expect(failed).toEqual(expect.arrayContaining(['Listing-1', 'Relay-1', 'Parity-1']));
});
