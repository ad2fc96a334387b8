import { expect, test } from '@jest/globals';
import { Table } from 'typeorm';
import { createGateway, loadGateway } from '../src/app/gateway.js';
import { NewTables } from '../src/ground/migrations/tables.js';
import { defineNoun } from '../src/noun/define-noun.js';
import { refuse } from '../src/noun/definition/action.js';
import { boolean } from '../src/noun/kinds/boolean.js';
import { choice } from '../src/noun/kinds/choice.js';
import { dateTime } from '../src/noun/kinds/date-time.js';
import { decimal } from '../src/noun/kinds/decimal.js';
import { reference } from '../src/noun/kinds/reference.js';
import { text } from '../src/noun/kinds/text.js';
import { texts } from '../src/noun/kinds/texts.js';
import { trashTableOf } from '../src/noun/tables/noun-trash.js';
import { openLog } from '../test/support/changes/changes.js';
import { rest } from '../test/support/http/client.js';
import { startApp, type TestApp } from '../test/support/start-app.js';
import { violationsOn } from './support/accessibility.js';
import { takePicture } from './support/pictures.js';
import { visits } from './support/visitor.js';

const depots = defineNoun({
  name: 'depot',
  fields: { name: text({ max: 60, filter: 'start', example: 'North' }) },
  softDelete: true,
});

/** A noun of many columns, whose deletion can be taken back. */
const loads = defineNoun({
  name: 'load',
  fields: {
    code: text({ max: 32, unique: true, example: 'PX4711' }),
    depotId: reference('depot', { filter: true, mustExist: true, onDelete: 'refuse' }),
    carrier: choice({ dhl: 'DHL', post: 'Swiss Post' }, { filter: true, default: 'post' }),
    dueAt: dateTime({ filter: 'range', sort: true }),
    fragile: boolean({ default: false, filter: true }),
    weightKg: decimal({ digits: 9, places: 3, optional: true, example: '2.500' }),
    deliveredAt: dateTime({ optional: true, immutable: true }),
    tags: texts({ most: 5, max: 20, default: [] }),
  },
  computed: (computed) => ({
    isLate: computed(boolean({}), ({ dueAt, deliveredAt }, { now }) => deliveredAt === null && dueAt < now),
  }),
  actions: (action) => ({
    deliver: action({
      run(load, _, { now }) {
        if (load.deliveredAt !== null) refuse('It is already delivered.');
        return { deliveredAt: now };
      },
    }),
  }),
  softDelete: true,
  changes: true,
});

class Depots1790000000000 extends NewTables {
  protected readonly tables = [depots, loads].flatMap(({ model, table }) => [
    new Table(table.table),
    new Table(trashTableOf(model, table).definition),
  ]);
}

let app: TestApp;
const visit = visits(async () => {
  const gateway = createGateway({
    name: 'Depots',
    nouns: [depots, loads],
    migrations: [Depots1790000000000],
  });
  app = await startApp({ gateway: await loadGateway(gateway) });
  return app;
});

const DUE_AT = '2026-01-01T00:00:00Z';

/** Two loads of a depot. Returns the visitor, on their page. */
async function atLoads(width = 1280) {
  const tenant = await app.tenant();
  const { token } = tenant;
  const post = async (path: string, body: string) =>
    (await rest(app.url, `/v1/${path}`, { method: 'POST', token, body })).body;
  const { id: depotId } = await post('depots', JSON.stringify({ name: 'Zürich, north of the river' }));
  for (const [n, more] of [
    { tags: ['gift', 'heavy'], weightKg: '2.5', dueAt: '2099-01-01T00:00:00Z' },
    { fragile: true, carrier: 'dhl', weightKg: '1200.25' },
  ].entries()) {
    const fields = JSON.stringify({ code: `PX000${n}`, dueAt: DUE_AT, ...more }).slice(1);
    await post('loads', `{"depotId":${depotId},${fields}`);
  }
  const visitor = await visit({ width });
  await visitor.signIn(token);
  await visitor.open('/loads');
  await visitor.page.getByText('Page 1').waitFor();
  return { ...visitor, tenant, depotId: String(depotId) };
}

const isWithin = (inner: Box, outer: Box) =>
  inner.x >= outer.x - 1 && inner.x + inner.width <= outer.x + outer.width + 1;
interface Box {
  x: number;
  width: number;
}

test('Dashboard-121: a choice has the same word in the table, the form and the filter, with its text where it is chosen', async () => {
  const { page } = await atLoads();
  const words = ['dhl', 'post'];
  const filter = page.getByRole('group', { name: 'Carrier' });
  expect(await filter.locator('span').allInnerTexts()).toEqual(['All', ...words]);
  // A style could draw other letters.
  const first = (span: Element) => getComputedStyle(span, '::first-letter').textTransform;
  expect(await filter.getByText('dhl').evaluate(first)).toBe('none');
  expect(await filter.getByTitle('Swiss Post').innerText()).toBe('post');
  expect(await page.locator('td[data-head="Carrier"]').allInnerTexts()).toEqual(words);
  await page.getByRole('button', { name: 'Edit PX0001' }).click();
  const carrier = page.getByRole('dialog').getByLabel('Carrier');
  expect((await carrier.innerText()).split('\n')).toEqual(words);
  await page.getByText('DHL', { exact: true }).waitFor();
  await carrier.selectOption('post');
  await page.getByText('Swiss Post', { exact: true }).waitFor();
  expect(await page.getByRole('dialog').getByLabel('Fragile').innerText()).toBe('no\nyes');
  expect(await violationsOn(page)).toEqual([]);
  await takePicture(page, 'load-form-1280');
  await page.setViewportSize({ width: 390, height: 900 });
  await takePicture(page, 'load-form-390');
});

test('Dashboard-122: computed values are beside the others, truth values are words, and an empty list is said', async () => {
  const { page } = await atLoads();
  const column = (label: string) => page.locator(`td[data-head="${label}"]`);
  expect(await column('Is late').allInnerTexts()).toEqual(['yes', 'no']);
  expect(await column('Fragile').allInnerTexts()).toEqual(['yes', 'no']);
  expect(await column('Tags').allInnerTexts()).toEqual(['none', 'gift, heavy']);
  const heads = page.getByRole('columnheader', { name: 'Weight kg' });
  for (const cell of [heads, column('Weight kg').first()])
    expect(await cell.evaluate((element) => getComputedStyle(element).textAlign)).toBe('right');
  await takePicture(page, 'loads-1280');
  await page.setViewportSize({ width: 390, height: 900 });
  const added = column('Added').first();
  expect(await added.evaluate((element) => getComputedStyle(element, '::before').content)).toContain('Added');
  await takePicture(page, 'loads-390', { fullPage: true });
  // No form asks for it.
  await page.getByRole('button', { name: 'Edit PX0001' }).click();
  await page.getByRole('dialog').getByLabel('Weight kg').waitFor();
  expect(await page.getByRole('dialog').getByLabel('Is late').count()).toBe(0);
});

test('Dashboard-127: a computed value follows the time while no change is told', async () => {
  const { page, tenant, depotId } = await atLoads();
  await openLog(app, tenant);
  const dueAt = new Date(app.clock.now + 30_000).toISOString();
  await page.clock.install();
  const body = `{"depotId":${depotId},"code":"PX9","dueAt":"${dueAt}"}`;
  await rest(app.url, '/v1/loads', { method: 'POST', token: tenant.token, body });
  await page.reload();
  await page.getByText('Live', { exact: true }).waitFor();
  const isLate = page.getByRole('row', { name: 'PX9' }).locator('td[data-head="Is late"]');
  expect(await isLate.innerText()).toBe('no');
  app.clock.now += 31_000;
  await page.clock.fastForward(61_000);
  await isLate.getByText('yes').waitFor();
});

test('Dashboard-123: a page of items is no wider than a phone', async () => {
  const { page } = await atLoads(390);
  for (const width of [390, 360, 320]) {
    await page.setViewportSize({ width, height: 900 });
    const widest = await page.evaluate(() => document.documentElement.scrollWidth);
    const add = await page.getByRole('button', { name: 'Add load' }).boundingBox();
    expect([width, widest, isWithin(add as Box, { x: 16, width: width - 32 })]).toEqual([width, width, true]);
    await takePicture(page, `loads-toolbar-${width}`);
  }
});

test('Dashboard-124: columns that do not fit scroll between the name and the buttons, and an edge says so', async () => {
  const { page } = await atLoads();
  const table = page.locator('.item-columns');
  const frame = (await table.boundingBox()) as Box;
  const name = page.getByRole('rowheader', { name: 'PX0001' });
  const act = page.getByRole('button', { name: 'Actions for PX0001' });
  for (const [left, expected] of [
    [0, [false, true]],
    [60, [true, true]],
    [9_999, [true, false]],
  ] as const) {
    await table.evaluate((element, left) => element.scrollTo({ left }), left);
    await page.waitForFunction(([hasLeft, hasRight]) => {
      const { dataset } = document.querySelector('.item-columns') as HTMLElement;
      return 'moreLeft' in dataset === hasLeft && 'moreRight' in dataset === hasRight;
    }, expected);
    for (const shown of [name, act]) expect(isWithin((await shown.boundingBox()) as Box, frame)).toBe(true);
    await takePicture(page, `loads-scrolled-${left}`);
  }
  // The menu of a row covers the buttons of the rows below, also while more is hidden.
  await table.evaluate((element) => element.scrollTo({ left: 0 }));
  await act.click();
  await takePicture(page, 'loads-menu');
  await page.getByRole('menuitem', { name: 'Deliver' }).click({ trial: true });
  await page.keyboard.press('Escape');
  // The fixed column covers the columns that scroll.
  const { x, y } = (await act.boundingBox()) as Box & { y: number };
  const top = await page.evaluate(([x, y]) => document.elementFromPoint(x, y)?.closest('td')?.className, [
    x + 4,
    y + 4,
  ] as const);
  expect(top).toBe('row-acts');
});

test('Dashboard-125: a chosen record is shown by its name, with its identifier below', async () => {
  const { page, depotId } = await atLoads();
  await page.getByRole('button', { name: 'Edit PX0001' }).click();
  const dialog = page.getByRole('dialog');
  const picker = dialog.getByRole('combobox', { name: 'Depot' });
  await dialog.getByText(depotId, { exact: true }).waitFor();
  expect(await picker.inputValue()).toBe('Zürich, north of the river');
  // Typing starts from the name, and leaving an identifier ends with a name again.
  await picker.press('End');
  await picker.press('Backspace');
  expect(await picker.inputValue()).toBe('Zürich, north of the rive');
  await dialog.getByRole('option', { name: 'Zürich' }).waitFor();
  await picker.fill(depotId);
  expect(await picker.inputValue()).toBe(depotId);
  await dialog.getByRole('option', { name: 'Zürich' }).waitFor();
  await picker.press('Tab');
  await dialog.getByText(depotId, { exact: true }).waitFor();
  expect(await picker.inputValue()).toBe('Zürich, north of the river');
});

test('Dashboard-126: the preview of an import names each problem of a row that it can see, and says that there may be more', async () => {
  const { page, depotId } = await atLoads();
  await page.getByRole('button', { name: 'Import' }).click();
  const rows = ['code,depotId,carrier,dueAt,fragile,weightKg,deliveredAt,tags'];
  rows.push(`,${depotId},ups,tomorrow,maybe,heavy,,gift`, `PX1,${depotId},dhl,${DUE_AT},,2.5,,`);
  const buffer = Buffer.from(rows.join('\n'));
  await page.getByLabel('CSV file').setInputFiles({ name: 'loads.csv', mimeType: 'text/csv', buffer });
  await page.getByText('1 row is refused.').waitFor();
  await page.getByText('The gateway may find more problems').waitFor();
  const problem = await page.getByRole('region', { name: 'Refused rows' }).locator('td').nth(1).innerText();
  expect(problem.split('; ').map((each) => each.split(' ')[0])).toEqual([
    'code',
    'carrier',
    'dueAt',
    'fragile',
    'weightKg',
    'tags',
  ]);
  await takePicture(page, 'loads-import-1280');
  await page.setViewportSize({ width: 390, height: 900 });
  await takePicture(page, 'loads-import-390');
});
