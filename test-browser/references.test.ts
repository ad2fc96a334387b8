import { expect, test } from '@jest/globals';
import { loadGateway } from '../src/app/gateway.js';
import { graphql, rest } from '../test/support/http/client.js';
import stores from '../test/support/nouns/stores.js';
import { startApp, type TestApp } from '../test/support/start-app.js';
import { takePicture } from './support/pictures.js';
import { visits } from './support/visitor.js';

let app: TestApp;
const visit = visits(async () => {
  app = await startApp({ gateway: await loadGateway(stores) });
  return app;
});

async function storesOf(token: string): Promise<string[]> {
  const inputs = ['North', 'Nord', 'South'].map((name) => `{name: "${name}", city: "Oslo"}`).join(', ');
  const created = await graphql(app.url, `mutation { it: createWarehouses(inputs: [${inputs}]) { id } }`, {
    token,
  });
  return created.body.data.it.map(({ id }: { id: string }) => id);
}

test('Dashboard-98: a reference is found by the start of a name with the keyboard, or by its id, and the table shows the name', async () => {
  const { token } = await app.tenant();
  const [north, nord, south] = await storesOf(token);
  const { page, ...visitor } = await visit();
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'Pallets', exact: true }).click();
  await page.getByRole('button', { name: 'Add the first pallet' }).click();
  const dialog = page.getByRole('dialog');
  const picker = dialog.getByRole('combobox', { name: 'Warehouse' });
  const options = dialog.getByRole('option');
  await dialog.getByLabel('Code', { exact: true }).fill('P1');
  await picker.fill('No');
  await picker.press('Escape');
  await dialog.getByRole('button', { name: 'Add pallet' }).click();
  await dialog.getByText('Choose a warehouse, or enter its id.').waitFor();
  await picker.click();
  await options.nth(1).waitFor();
  expect(await options.allInnerTexts()).toEqual([
    expect.stringContaining(`Nord`),
    expect.stringContaining('North'),
  ]);
  await takePicture(page, 'reference-picker');
  await picker.press('ArrowDown');
  await picker.press('ArrowDown');
  await dialog.getByRole('option', { selected: true, name: 'North' }).waitFor();
  await picker.press('Enter');
  expect(await picker.inputValue()).toBe('North');
  // Only the list was closed.
  await picker.press('ArrowDown');
  await picker.press('Escape');
  await dialog.getByText(north ?? '', { exact: true }).waitFor();
  await takePicture(page, 'reference-chosen');
  await dialog.getByRole('button', { name: 'Add pallet' }).click();
  await dialog.waitFor({ state: 'detached' });
  const link = page.locator('tbody').getByRole('link', { name: 'North' });
  await link.waitFor();

  await page.getByRole('button', { name: 'Edit P1' }).click();
  await picker.fill(south ?? '');
  await dialog.getByRole('option', { name: 'South' }).waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.locator('tbody').getByRole('link', { name: 'South' }).waitFor();
  const { body } = await rest(app.url, '/v1/pallets', { token });
  expect(String(body[0].warehouseId)).toBe(south);

  const filter = page.getByRole('combobox', { name: 'Only of one warehouse' });
  await filter.fill('Nord');
  await page.getByRole('option', { name: 'Nord' }).click();
  await page.waitForURL(`**/pallets?warehouseId=${nord}`);
  await page.locator('tbody tr').waitFor({ state: 'detached' });
  await filter.fill('');
  await filter.press('Escape');
  await page.waitForURL('**/pallets');
  await takePicture(page, 'references');
  await page.locator('tbody').getByRole('link', { name: 'South' }).click();
  await page.waitForURL('**/warehouses?nameStartsWith=South');
  await page.locator('tbody').getByText('South').waitFor();
});

test('Dashboard-99: a key without the scope of the other noun sees and enters identifiers', async () => {
  const owner = await app.tenant();
  const [north] = await storesOf(owner.token);
  const body = `{"code":"C1","warehouseId":${north}}`;
  await rest(app.url, '/v1/crates', { method: 'POST', token: owner.token, body });
  const { key, token } = await app.app.services.apiKeys.create(
    { name: 'test', requestId: null },
    {
      projectId: owner.projectId,
      name: 'crates',
      scopes: ['crates:read', 'crates:write'],
      expiresAtMs: null,
    },
  );
  expect(key.projectId).toBe(owner.projectId);
  const { page, ...visitor } = await visit();
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'Crates', exact: true }).click();
  await page
    .locator('tbody')
    .getByText(north ?? '')
    .waitFor();
  await page.getByRole('button', { name: 'Edit C1' }).click();
  const field = page.getByRole('dialog').getByLabel('Warehouse', { exact: true });
  expect([await field.inputValue(), await field.getAttribute('role')]).toEqual([north, null]);
});
