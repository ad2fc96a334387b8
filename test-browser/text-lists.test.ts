import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { loadGateway } from '../src/app/gateway.js';
import { openLog } from '../test/support/changes/changes.js';
import { rest } from '../test/support/http/client.js';
import { BOXES_GATEWAY } from '../test/support/nouns/boxes.js';
import { startApp, type TestApp } from '../test/support/start-app.js';
import { takePicture } from './support/pictures.js';
import { visits } from './support/visitor.js';

let app: TestApp;
const visit = visits(async () => {
  app = await startApp({ gateway: await loadGateway(BOXES_GATEWAY) });
  return app;
});

const BOXES = [
  { title: 'A', code: '1', tags: ['gift', 'heavy'], carrier: 'dhl', weight: 3 },
  { title: 'B', code: '2', tags: ['heavy'], carrier: 'dhl', weight: 2 },
  { title: 'C', code: '3', tags: ['gift'], carrier: 'ups', weight: 1 },
  { title: 'D', code: '4', tags: ['Gift'] },
];

test('Dashboard-107: a filter by a text of a list shows the items that have it, with live changes, choices and an export; it ends other orders', async () => {
  const owner = await app.tenant();
  await openLog(app, owner);
  const ids: number[] = [];
  for (const body of BOXES)
    ids.push((await rest(app.url, '/v1/boxes', { method: 'POST', token: owner.token, body })).body.id);
  const { page, complaints, signIn } = await visit();
  await signIn(owner.token);
  await page.getByRole('navigation').getByRole('link', { name: 'Boxes', exact: true }).click();
  await page.getByRole('row').nth(BOXES.length).waitFor();
  const shows = (titles: string) =>
    page.waitForFunction(
      (wanted) =>
        [...document.querySelectorAll('tbody th')].map((cell) => cell.textContent).join('') === wanted,
      titles,
    );
  const change = (at: number, body: object) =>
    rest(app.url, `/v1/boxes/${ids[at]}`, { method: 'PATCH', token: owner.token, body });
  const search = page.getByLabel('Search by a text in the tags');
  const head = page.getByRole('columnheader', { name: 'Weight' }).getByRole('button');

  await head.click();
  await page.waitForURL(/orderBy=WEIGHT/);
  await search.fill('gift');
  await shows('CA');
  const { searchParams } = new URL(page.url());
  expect([searchParams.get('tags'), searchParams.get('orderBy')]).toEqual(['gift', null]);
  expect(await head.isDisabled()).toBe(true);
  await page.getByLabel('Order').selectOption({ label: 'Oldest first' });
  await shows('AC');
  await change(1, { tags: ['gift'] });
  await shows('ABC');
  await change(0, { tags: ['heavy'] });
  await shows('BC');
  await page.getByRole('group', { name: 'Carrier' }).getByRole('radio', { name: 'dhl' }).check();
  await shows('B');
  await takePicture(page, 'text-list');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Export / })
    .click();
  const exported = await readFile(await (await download).path(), 'utf8');
  expect(exported.match(/gift|heavy/g)).toEqual(['gift']);
  await page.setViewportSize({ width: 390, height: 844 });
  await takePicture(page, 'text-list-narrow', { fullPage: true });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.reload();
  await shows('B');
  await search.fill('nothing');
  await page.getByText('No dhl box has “nothing” in its tags').waitFor();
  await takePicture(page, 'text-list-empty');
  await page.getByLabel('Search by a text in the stops').fill('Rom');
  await page.waitForURL(/stops=Rom/);
  expect(new URL(page.url()).searchParams.get('tags')).toBeNull();
  await page.getByLabel('Search by the start of the title').fill('B');
  await shows('B');
  expect(new URL(page.url()).searchParams.get('stops')).toBeNull();
  expect(complaints).toEqual([]);
});
