import { expect, test } from '@jest/globals';
import { createGateway, loadGateway } from '../src/app/gateway.js';
import { openLog } from '../test/support/changes/changes.js';
import { rest } from '../test/support/http/client.js';
import { readings } from '../test/support/nouns/readings.js';
import { startApp, type TestApp } from '../test/support/start-app.js';
import { takePicture } from './support/pictures.js';
import { visits } from './support/visitor.js';

let app: TestApp;
const visit = visits(async () => {
  app = await startApp({
    gateway: await loadGateway(createGateway({ name: 'Meter Readings', nouns: [readings] })),
  });
  return app;
});

const READINGS = [
  { meter: 'B', power: '10', takenAt: '2026-11-24T10:00:00Z', day: '2026-11-24', pulses: 3, state: 'fine' },
  { meter: 'A', power: '9.5', takenAt: '2026-11-25T10:00:00Z', day: '2026-11-25', pulses: 20, state: 'high' },
  { meter: 'D', day: '2026-11-26', pulses: 1, state: 'fine' },
  { meter: 'C', power: '-2', takenAt: '2026-11-27T10:00:00Z', day: '2026-11-27', pulses: 100, state: 'fine' },
];

async function signedIn() {
  const owner = await app.tenant();
  await openLog(app, owner);
  const ids: number[] = [];
  for (const body of READINGS)
    ids.push((await rest(app.url, '/v1/readings', { method: 'POST', token: owner.token, body })).body.id);
  const { page, ...visitor } = await visit();
  await visitor.signIn(owner.token);
  await page.getByRole('link', { name: 'Readings', exact: true }).click();
  await page.getByRole('row').nth(READINGS.length).waitFor();
  const shows = (meters: string) =>
    page.waitForFunction(
      (wanted) =>
        [...document.querySelectorAll('tbody th')].map((cell) => cell.textContent).join('') === wanted,
      meters,
    );
  const change = (at: number, body: object) =>
    rest(app.url, `/v1/readings/${ids[at]}`, { method: 'PATCH', token: owner.token, body });
  return { ...visitor, page, owner, shows, change };
}

test('Dashboard-94: the head of a sorted column orders the list up, down and not any more; the address and a live change keep the order', async () => {
  const { page, shows, change, complaints } = await signedIn();
  const head = (name: string) => page.getByRole('columnheader', { name });
  await shows('CDAB');
  await head('Power').getByRole('button').click();
  await shows('DCAB');
  expect(await head('Power').getAttribute('aria-sort')).toBe('ascending');
  await head('Power').getByRole('button').click();
  await shows('BACD');
  expect(await head('Power').getAttribute('aria-sort')).toBe('descending');
  expect(new URL(page.url()).searchParams.get('orderBy')).toBe('POWER_DESC');
  expect(await page.getByLabel('Order').inputValue()).toBe('POWER_DESC');
  await takePicture(page, 'sorted-readings');
  await page.reload();
  await shows('BACD');
  await change(3, { power: '9.7' });
  await shows('BCAD');
  await head('Power').getByRole('button').click();
  await shows('CDAB');
  expect(await head('Power').getAttribute('aria-sort')).toBe('none');
  expect(await head('Day').getByRole('button').count()).toBe(0);
  await page.getByLabel('Order').selectOption({ label: 'Pulses, ascending' });
  await shows('DBAC');
  await page.goBack();
  await shows('CDAB');
  expect(complaints).toEqual([]);
});

test('Dashboard-95: a range has two inputs of its kind and orders the list by its field; another one ends it', async () => {
  const { page, shows, complaints } = await signedIn();
  const bound = (label: string) => page.getByLabel(label, { exact: true });
  expect(await bound('Day from').getAttribute('type')).toBe('date');
  expect(await bound('Taken at before').getAttribute('type')).toBe('datetime-local');
  await bound('Power from').fill('-2');
  await shows('CAB');
  await bound('Power before').fill('10');
  await shows('CA');
  await bound('Power before').fill('1.x');
  expect(await bound('Power before').getAttribute('aria-invalid')).toBe('true');
  await bound('Power before').fill('10');
  await page.getByLabel('Order').selectOption({ label: 'Power, descending' });
  await shows('AC');
  expect(await page.getByRole('columnheader', { name: 'Pulses' }).getByRole('button').isDisabled()).toBe(
    true,
  );
  await page.getByRole('group', { name: 'State' }).getByRole('radio', { name: 'fine' }).check();
  await shows('C');
  await takePicture(page, 'ranged-readings');
  await page.setViewportSize({ width: 390, height: 844 });
  await takePicture(page, 'ranged-readings-narrow', { fullPage: true });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await page.setViewportSize({ width: 1280, height: 900 });
  await bound('Day from').fill('2026-11-25');
  await shows('DC');
  expect([await bound('Power from').inputValue(), await bound('Power before').inputValue()]).toEqual([
    '',
    '',
  ]);
  await bound('Day before').fill('2026-11-25');
  await page.getByText('No fine reading has a day from “2026-11-25” and a day before “2026-11-25”').waitFor();
  expect(complaints).toEqual([]);
});
