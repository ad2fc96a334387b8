import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { firstIdAt } from '../src/kernel/ids.js';
import { FILE_START, PET_LINE } from '../src/pets/export/pet-line.js';
import { Pet, type PetStatus } from '../src/pets/pet.entity.js';
import { startBrowser } from '../test/support/browser.js';
import { createTestDatabase } from '../test/support/databases.js';
import { letGo } from '../test/support/domains/domain-rig.js';
import { createTenant, startGateway } from '../test/support/gateway-process.js';
import { graphql, rest } from '../test/support/http/client.js';
import { startApp, TEST_ACTOR, type Tenant, type TestApp } from '../test/support/start-app.js';
import { violationsOn } from './support/accessibility.js';
import { type Visitor, visit } from './support/visitor.js';

let app: TestApp;
let ahead: { aheadMs: number };
let browser: Browser;
let visitor: Visitor;
beforeAll(async () => {
  app = await startApp();
  ahead = letGo(app.clock);
  browser = await startBrowser();
});
afterEach(() => visitor?.leave());
afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

type Facts = { name: string; categoryId: bigint; status: PetStatus | null };

/** Inserts pets that were added one second apart, the first one first. */
async function insertPets({ projectId }: Tenant, pets: readonly Facts[]): Promise<Pet[]> {
  const startMs = Date.now() - 86_400_000;
  const rows = pets.map((pet, at) => {
    const createdAtMs = startMs + at * 1_000;
    return { ...pet, projectId, id: firstIdAt(createdAtMs), createdAtMs };
  });
  for (let from = 0; from < rows.length; from += 500) {
    await app.db.repository(Pet).insert(rows.slice(from, from + 500));
  }
  return rows;
}

const numbered = (count: number): Facts[] =>
  Array.from({ length: count }, (_, at) => ({ name: `Pet ${at}`, categoryId: 1n, status: 'sold' }));

const petsOf = ({ projectId }: Tenant) =>
  app.db.repository(Pet).find({ where: { projectId }, order: { id: 'ASC' } });

async function openPets(token: string, query = ''): Promise<void> {
  await visitor.signIn(token);
  await visitor.open(`/pets${query}`);
}

const dialog = () => visitor.page.getByRole('dialog');

async function chooseFile(content: string | Buffer, name = 'pets.csv'): Promise<void> {
  await visitor.page.getByRole('button', { name: 'Import', exact: true }).click();
  const field = dialog().getByLabel('CSV file');
  await field.setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(content) });
}

async function saved(act: () => Promise<void>): Promise<{ name: string; text: string }> {
  const download = visitor.page.waitForEvent('download');
  await act();
  const file = await download;
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') };
}

const HARD: Facts[] = [
  { name: 'Rex', categoryId: -(2n ** 63n), status: 'sold' },
  { name: 'the "2nd", of ,two,', categoryId: 2n ** 63n - 1n, status: null },
  { name: '  leading and trailing\t ', categoryId: -1n, status: 'pending' },
  { name: '\nline\r\nbreaks\r', categoryId: 1n, status: null },
  { name: '\uFEFFmark', categoryId: 1n, status: null },
  { name: '=1+1', categoryId: 1n, status: 'available' },
  { name: '😀🐕‍🦺𠮷 e\u0301 قطة', categoryId: 1n, status: null },
  { name: '𝒳'.repeat(255), categoryId: 1n, status: 'sold' },
  { name: '"'.repeat(255), categoryId: 1n, status: 'sold' },
];

test('PetFiles-1: an export is the file of `petstore pets export`; an import of it gives the same pets, in the same order', async () => {
  const tenant = await app.tenant();
  const pets = await insertPets(tenant, HARD);
  visitor = await visit(browser, app.url);
  const { page } = visitor;
  await openPets(tenant.token);
  const { name, text } = await saved(() => page.getByRole('button', { name: 'Export' }).click());
  expect(name).toMatch(/^pets-tenant-\d+-\d{4}-\d\d-\d\d-\d{4}\.csv$/);
  const lines = pets.map(({ id, categoryId, ...pet }) =>
    PET_LINE.csv({ ...pet, id: `${id}`, categoryId: `${categoryId}` }),
  );
  expect(text).toBe(FILE_START.csv + lines.join(''));
  await page.getByText('Exported 9 pets.').waitFor();
  await visitor.leave();

  const other = await app.tenant();
  visitor = await visit(browser, app.url);
  await openPets(other.token);
  await chooseFile(text, name);
  await dialog().getByText('has 9 pets to import').waitFor();
  // The focus is on the button that continues the import.
  await visitor.page.keyboard.press('Enter');
  await visitor.page.getByText('Imported 9 pets.').waitFor();
  await dialog().getByRole('button', { name: 'Close', exact: true }).last().click();
  await visitor.page.getByRole('rowheader', { name: 'Rex' }).waitFor();
  const imported = await petsOf(other);
  expect(imported.map(({ name, categoryId, status }) => ({ name, categoryId, status }))).toEqual(HARD);
  expect(visitor.complaints).toEqual([]);
});

test('PetFiles-2: refused rows are shown with line and reason, and come back as a file that the import accepts after correction', async () => {
  const tenant = await app.tenant();
  visitor = await visit(browser, app.url);
  const { page } = visitor;
  await openPets(tenant.token);
  const rows = [
    'id,name,categoryId,status',
    '1,Rex,3,available',
    '2,   ,3,',
    '3,Luna,three,asleep',
    '4,"Bella,4,sold',
    '5,Oscar,5',
    '6,Max,9223372036854775807,pending',
  ];
  await chooseFile(`\uFEFF${rows.join('\r\n')}\r\n`);
  await dialog().getByText('4 rows are refused.').waitFor();
  const table = await dialog().getByRole('region', { name: 'Refused rows' }).innerText();
  expect(table).toMatch(/3\s+name must be text of 1 to 255 characters, not only blanks/);
  expect(table).toMatch(
    /4\s+categoryId must be an integer .*; status must be one of available, pending, sold/,
  );
  expect(table).toMatch(/5\s+row has an unclosed quote, or a quote in a wrong place/);
  expect(table).toMatch(/6\s+row has 3 fields, but the header has 4/);
  expect(await violationsOn(page)).toEqual([]);
  await dialog().getByRole('button', { name: 'Import 2 pets' }).click();
  await page.getByText('Imported 2 pets.').waitFor();
  const { name, text } = await saved(() =>
    dialog().getByRole('button', { name: 'Download refused rows' }).click(),
  );
  expect(name).toBe('pets.refused.csv');
  expect(text.split('\n')[0]).toBe('id,name,categoryId,status,problem');
  await dialog().getByRole('button', { name: 'Close', exact: true }).last().click();

  const corrected = text
    .replace('2,"   ",3', '2,Tim,3')
    .replace('three,asleep', '4,sold')
    .replace(/^,"4,""Bella.*$/m, '4,Bella,4,sold,')
    .replace(/^,"5,Oscar,5".*$/m, '5,Oscar,5,,');
  await chooseFile(corrected, name);
  await dialog().getByRole('button', { name: 'Import 4 pets' }).click();
  await page.getByText('Imported 4 pets.').waitFor();
  const names = (await petsOf(tenant)).map((pet) => pet.name);
  expect(names).toEqual(['Rex', 'Max', 'Tim', 'Luna', 'Bella', 'Oscar']);
  expect(visitor.complaints).toEqual([]);
});

test('PetFiles-3: a file that is no list of pets is refused in words, and another one can be chosen', async () => {
  const { token } = await app.tenant();
  visitor = await visit(browser, app.url);
  await openPets(token);
  await chooseFile('title,price\nRex,3');
  await dialog().getByText('lacks name and categoryId').waitFor();
  const field = dialog().getByLabel('CSV file');
  const choose = (content: Buffer) =>
    field.setInputFiles({ name: 'other.csv', mimeType: 'text/csv', buffer: content });
  await choose(Buffer.from([0x6e, 0xff, 0xfe]));
  await dialog().getByText('It is not UTF-8 text').waitFor();
  await choose(Buffer.from(''));
  await dialog().getByText('It is empty').waitFor();
  await choose(Buffer.from('name,name,categoryId\n'));
  await dialog().getByText('names name twice').waitFor();
  await choose(Buffer.from('name,categoryId\nRex,1'));
  await dialog().getByRole('button', { name: 'Import 1 pet' }).waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('PetFiles-4: an import leaves a part of each minute to other clients, waits for the next, and can be stopped and continued', async () => {
  const tenant = await app.tenant();
  const quota = { plan: 'ENTERPRISE', perMinute: 40, perDay: 1_000 } as const;
  await app.app.services.projects.change(TEST_ACTOR, tenant.slug, quota);
  ahead.aheadMs += 60_000 - ((Date.now() + ahead.aheadMs) % 60_000);
  visitor = await visit(browser, app.url);
  const { page } = visitor;
  await openPets(tenant.token);
  await page.getByText('No pet yet').waitFor();
  await chooseFile(['name,categoryId', ...numbered(50).map(({ name }) => `${name},1`)].join('\n'));
  await dialog().getByText('This takes about 1 min').waitFor();
  await dialog().getByRole('button', { name: 'Import 50 pets' }).click();
  await dialog()
    .getByText(/Waits for the next minute/)
    .waitFor();
  // Neither Escape nor a click beside it ends a running import.
  await page.keyboard.press('Escape');
  expect(await dialog().getByRole('progressbar').getAttribute('value')).toMatch(/^0\.\d+$/);
  const { body } = await graphql(app.url, '{ rateLimit { minute { remaining } } }', tenant);
  expect(body.data.rateLimit.minute.remaining).toBeGreaterThan(3);
  await dialog().getByRole('button', { name: 'Stop' }).click();
  await dialog().getByText('were not sent').or(dialog().getByText('was not sent').first()).waitFor();
  const before = (await petsOf(tenant)).length;
  expect(before).toBeLessThan(40);
  await page.clock.install();
  ahead.aheadMs += 60_000;
  await page.clock.runFor(61_000);
  await dialog()
    .getByRole('button', { name: /^Import the other/ })
    .click();
  // The test has set the clock of the gateway ahead, so that the page still waits for its own.
  await page.clock.runFor(61_000);
  await dialog().getByText('50 of 50 pets imported').waitFor();
  expect((await petsOf(tenant)).map(({ name }) => name)).toEqual(numbered(50).map(({ name }) => name));
  expect(await page.locator('.notice').count()).toBe(0);
  expect(visitor.complaints).toEqual([]);
});

test('PetFiles-5: an import goes on by itself after the gateway was gone, and adds no pet twice', async () => {
  const database = await createTestDatabase('sqlite');
  const env = { DATABASE_URL: database.url };
  const first = await startGateway({ env });
  const { url, port } = first;
  let second: Awaited<ReturnType<typeof startGateway>> | undefined;
  try {
    const token = await createTenant(database.url);
    visitor = await visit(browser, url, { provokes: [503] });
    const { page } = visitor;
    await openPets(token);
    await page.getByText('No pet yet').waitFor();
    await chooseFile(['name,categoryId', ...numbered(240).map(({ name }) => `${name},1`)].join('\n'));
    await dialog().getByRole('button', { name: 'Import 240 pets' }).click();
    await dialog()
      .getByText(/^[1-9]\d* of 240 pets imported/)
      .waitFor();
    await first.kill('SIGKILL');
    await dialog()
      .getByText(/can’t be reached; tries again/)
      .waitFor();
    second = await startGateway({ env: { ...env, PORT: String(port) } });
    await page.getByText('Imported 240 pets.').waitFor();
    const { body } = await graphql(
      url,
      '{ a: pets(first: 100) { nodes { name } pageInfo { endCursor } } b: pets(first: 100, nameStartsWith: "Pet 2") { nodes { name } } }',
      { token },
    );
    const names = body.data.a.nodes.map(({ name }: { name: string }) => name);
    expect(names).toEqual(numbered(100).map(({ name }) => name));
    expect(body.data.b.nodes).toHaveLength(51);
    // The browser logs each failed connection.
    const others = visitor.complaints.filter((text) => !text.includes('net::ERR_'));
    expect(others).toEqual([]);
  } finally {
    await visitor.leave();
    await first.kill('SIGKILL');
    await second?.kill('SIGKILL');
    await database.remove();
  }
});

test('PetFiles-6: with 10,000 pets a search and a page take less than two seconds, and all are exported', async () => {
  const tenant = await app.tenant();
  const pets = await insertPets(tenant, numbered(10_000));
  visitor = await visit(browser, app.url);
  const { page } = visitor;
  await openPets(tenant.token);
  await page.getByRole('rowheader', { name: 'Pet 9999' }).waitFor();
  const timed = async (act: () => Promise<void>, name: string) => {
    const startMs = Date.now();
    await act();
    await page.getByRole('rowheader', { name, exact: true }).waitFor();
    return Date.now() - startMs;
  };
  expect(await timed(() => page.getByRole('button', { name: 'Next' }).click(), 'Pet 9974')).toBeLessThan(
    2_000,
  );
  const search = page.getByLabel('Search by the start of the name');
  expect(await timed(() => search.fill('Pet 500'), 'Pet 5009')).toBeLessThan(2_000);
  await search.fill('');
  await page.getByRole('rowheader', { name: 'Pet 9999' }).waitFor();
  const { text } = await saved(() => page.getByRole('button', { name: 'Export' }).click());
  expect(text.split('\n')).toHaveLength(10_002);
  expect(text).toContain(`\n${pets[9_999]?.id},Pet 9999,1,sold\n`);
  await page.getByText('Exported 10,000 pets.').waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('PetFiles-7: an export has only the pets of the list that is shown', async () => {
  const tenant = await app.tenant();
  await insertPets(tenant, [
    { name: 'Rex', categoryId: 1n, status: 'sold' },
    { name: 'Reto', categoryId: 1n, status: 'sold' },
    { name: 'Rex', categoryId: 1n, status: null },
    { name: 'Luna', categoryId: 1n, status: 'sold' },
  ]);
  visitor = await visit(browser, app.url);
  const { page } = visitor;
  await openPets(tenant.token, '?nameStartsWith=Re&status=sold');
  const { text } = await saved(() => page.getByRole('button', { name: 'Export' }).click());
  expect(text.split('\n').map((line) => line.split(',')[1])).toEqual(['name', 'Reto', 'Rex', undefined]);
  await page.getByText('Exported 2 pets.').waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('PetFiles-8: an import that spends the quota of the day stops with one banner, and its button counts down', async () => {
  const tenant = await app.tenant();
  const quota = { plan: 'ENTERPRISE', perMinute: 1_000, perDay: 16 } as const;
  await app.app.services.projects.change(TEST_ACTOR, tenant.slug, quota);
  visitor = await visit(browser, app.url, { provokes: [429] });
  const { page } = visitor;
  await openPets(tenant.token);
  await page.getByText('No pet yet').waitFor();
  await chooseFile(['name,categoryId', ...numbered(30).map(({ name }) => `${name},1`)].join('\n'));
  await dialog()
    .getByText(/Today’s quota has only 1\d requests left/)
    .waitFor();
  await dialog().getByRole('button', { name: 'Import 30 pets' }).click();
  const goOn = dialog().getByRole('button', { name: /^Import the other/ });
  await goOn.waitFor();
  expect(await goOn.isDisabled()).toBe(true);
  const [, left, time] = /^Import the other (\d+) \((.*)\)$/.exec(await goOn.innerText()) ?? [];
  expect(time).toMatch(/^(\d+ h \d+ min|\d+ min \d+ s|\d+ s)$/);
  await dialog().getByText(`${left} rows are refused.`).waitFor();
  expect(await page.locator('.notice').count()).toBe(1);
  await page.getByText('The quota of today is spent.').waitFor();
  expect(await petsOf(tenant)).toHaveLength(30 - Number(left));
  const { body } = await rest(app.url, '/v1/rate_limit', tenant);
  expect(JSON.stringify(body)).not.toMatch(/"strikes":[1-9]/);
  expect(await violationsOn(page)).toEqual([]);
  expect(visitor.complaints).toEqual([]);
});
