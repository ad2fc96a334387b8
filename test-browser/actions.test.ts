import { expect, test } from '@jest/globals';
import { createGateway, loadGateway } from '../src/app/gateway.js';
import { rest } from '../test/support/http/client.js';
import { deliveries } from '../test/support/nouns/deliveries.js';
import { startApp, TEST_ACTOR, type TestApp } from '../test/support/start-app.js';
import { takePicture } from './support/pictures.js';
import { visits } from './support/visitor.js';

let app: TestApp;
const visit = visits(async () => {
  app = await startApp({
    gateway: await loadGateway(createGateway({ name: 'Parcel Post', nouns: [deliveries] })),
  });
  return app;
});

test('Dashboard-102: an item offers the actions that the key allows, with a form, and a refusal in words', async () => {
  const { token, projectId } = await app.tenant();
  const body = { code: 'PX4711' };
  const { id } = (await rest(app.url, '/v1/deliveries', { method: 'POST', token, body })).body;
  const stored = async () => (await rest(app.url, `/v1/deliveries/${id}`, { token })).body;
  const { page, ...visitor } = await visit();
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
  const choose = async (action: string) => {
    await page.getByRole('button', { name: 'Actions for PX4711' }).click();
    await page.getByRole('menuitem', { name: action }).click();
  };
  const dialog = page.getByRole('dialog');
  const field = (label: string) => dialog.getByLabel(label, { exact: true });
  const submit = (name: string) => dialog.getByRole('button', { name }).click();

  await page.getByRole('button', { name: 'Actions for PX4711' }).click();
  await page.getByRole('menuitem', { name: 'Mark as lost' }).waitFor();
  await takePicture(page, 'action-menu');
  await page.getByRole('menuitem', { name: 'Deliver', exact: true }).click();
  await dialog.getByText('Hands a delivery over.').waitFor();
  expect([await field('Tags').inputValue(), await field('At').inputValue()]).toEqual(['gift', '']);
  await submit('Deliver');
  await dialog.getByText('Enter a signature.').waitFor();
  await field('Signature').fill('Ada');
  await field('At').fill('2999-01-01T00:00:00.000');
  await submit('Deliver');
  await dialog.getByText('Must not be in the future').waitFor();
  await field('At').fill('2026-01-01T10:00:00.000');
  await dialog.getByText('When it was handed over; now, if it is not stated.').waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  await takePicture(page, 'action-form-narrow');
  await page.setViewportSize({ width: 1280, height: 900 });
  await takePicture(page, 'action-form');
  await submit('Deliver');
  await dialog.waitFor({ state: 'detached' });
  await page.locator('tbody').getByText('delivered', { exact: true }).waitFor();
  expect(await stored()).toMatchObject({ state: 'delivered', signature: 'Ada', tags: ['gift'] });

  await choose('Deliver');
  await field('Signature').fill('Bo');
  await submit('Deliver');
  await dialog.getByText('It was delivered at').waitFor();
  await takePicture(page, 'action-refused');
  await submit('Cancel');
  await choose('Retry');
  await submit('Retry');
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('Done: Retry, PX4711').waitFor();
  expect(await stored()).toMatchObject({ attempts: 1, signature: 'Ada' });

  const wanted = { projectId, name: 'scanner', expiresAtMs: null };
  const scopes = ['deliveries:read', 'deliveries:markLost'] as const;
  const scanner = await app.app.services.apiKeys.create(TEST_ACTOR, { ...wanted, scopes });
  const other = await visit();
  await other.signIn(scanner.token);
  await other.page.getByRole('link', { name: 'Deliveries', exact: true }).click();
  await other.page.getByRole('button', { name: 'Actions for PX4711' }).click();
  await other.page.setViewportSize({ width: 390, height: 844 });
  await takePicture(other.page, 'action-menu-narrow');
  expect(await other.page.getByRole('menuitem').allInnerTexts()).toEqual(['Mark as lost']);
  expect(await other.page.getByRole('button', { name: 'Edit PX4711' }).count()).toBe(0);
  expect([...visitor.complaints, ...other.complaints]).toEqual([]);
});

test('Dashboard-103: a key can be made with the scope of an action', async () => {
  const { token } = await app.tenant();
  const { page, ...visitor } = await visit();
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'Create' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('scanner');
  await dialog.getByLabel('deliveries:read').uncheck();
  await dialog.getByLabel('deliveries:markLost gives a delivery up').check();
  await takePicture(page, 'action-scopes');
  await dialog.getByRole('button', { name: 'Create' }).click();
  const made = (await dialog.locator('.token code').innerText()).trim();
  const { body } = await rest(app.url, '/v1/deliveries/4711/markLost', { method: 'POST', token: made });
  expect(body.code).toBe('not_found');
  expect((await rest(app.url, '/v1/deliveries', { token: made })).status).toBe(403);
  expect(visitor.complaints).toEqual([]);
});
