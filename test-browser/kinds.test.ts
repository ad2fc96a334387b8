import { expect, test } from '@jest/globals';
import { createGateway, loadGateway } from '../src/app/gateway.js';
import { rest } from '../test/support/http/client.js';
import { shipments } from '../test/support/nouns/shipments.js';
import { startApp, type TestApp } from '../test/support/start-app.js';
import { takePicture } from './support/pictures.js';
import { visits } from './support/visitor.js';

let app: TestApp;
const visit = visits(async () => {
  app = await startApp({
    gateway: await loadGateway(createGateway({ name: 'Parcel Post', nouns: [shipments] })),
  });
  return app;
});

test('Dashboard-93: each kind of field has its control, shows its value, and keeps it when another one is changed', async () => {
  const { token } = await app.tenant();
  const { page, ...visitor } = await visit();
  const stored = async () => (await rest(app.url, '/v1/shipments', { token })).body;
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'Shipments', exact: true }).click();
  await page.getByRole('button', { name: 'Add the first shipment' }).click();
  const dialog = page.getByRole('dialog');
  const field = (label: string) => dialog.getByLabel(label, { exact: true });
  const submit = async (name: string) => {
    await dialog.getByRole('button', { name }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  expect([await field('Fragile').inputValue(), await field('Balance').inputValue()]).toEqual(['false', '0']);
  expect(await field('Insured').inputValue()).toBe('');
  await field('Tracking code').fill('PX4711');
  await field('Fragile').selectOption('true');
  await field('Due at').fill('2026-12-24T18:00:00.123');
  await field('Ordered on').fill('2026-11-28');
  expect(await field('Tags').inputValue()).toBe('');
  await field('Tags').fill('gift\n\nheavy, "fragile" ');
  await field('Weight kg').fill('0');
  await dialog.getByRole('button', { name: 'Add shipment' }).click();
  await dialog.getByText('Must be a decimal number such as').waitFor();
  await field('Weight kg').fill('2.5');
  await takePicture(page, 'shipment-form');
  await submit('Add shipment');
  const due = await page.evaluate(() => new Date('2026-12-24T18:00:00.123').toISOString());
  const values = { fragile: true, dueAt: due, weightKg: '2.500', tags: ['gift', 'heavy, "fragile" '] };
  expect(await stored()).toMatchObject([{ ...values, orderedOn: '2026-11-28', balance: '0.0000000000' }]);
  expect(await page.locator('tbody tr').innerText()).toContain('gift, heavy, "fragile"');
  await takePicture(page, 'shipments');

  await page.getByRole('button', { name: 'Edit PX4711' }).click();
  expect(await field('Tags').inputValue()).toBe('gift\nheavy, "fragile" ');
  expect(await field('Due at').inputValue()).toBe('2026-12-24T18:00:00.123');
  await submit('Save');
  const [{ id }] = await stored();
  await page.getByRole('button', { name: 'Edit PX4711' }).click();
  // Somebody else changes another field meanwhile.
  await rest(app.url, `/v1/shipments/${id}`, { method: 'PATCH', token, body: { weightKg: '3' } });
  await field('Tags').fill('');
  await field('Insured').selectOption('false');
  await submit('Save');
  const edited = { ...values, weightKg: '3.000', tags: [], insured: false };
  expect(await stored()).toMatchObject([edited]);

  const shown = page.locator('tbody th');
  await page.getByRole('group', { name: 'Fragile' }).getByRole('radio', { name: 'not fragile' }).check();
  await page.getByText('No shipment is not fragile').waitFor();
  await page
    .getByRole('group', { name: 'Fragile' })
    .getByRole('radio', { name: 'fragile', exact: true })
    .check();
  await shown.first().waitFor();
  expect(await shown.allInnerTexts()).toEqual(['PX4711']);
  expect(visitor.complaints).toEqual([]);
});
