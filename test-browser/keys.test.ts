import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../test/support/browser.js';
import { rest } from '../test/support/client.js';
import { letGo } from '../test/support/domain-rig.js';
import { startApp, type TestApp } from '../test/support/start-app.js';
import { type Visitor, visit } from './support/visitor.js';

let app: TestApp;
let browser: Browser;
let visitor: Visitor;
beforeAll(async () => {
  app = await startApp();
  letGo(app.clock);
  browser = await startBrowser();
});
afterEach(() => visitor?.leave());
afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

const statusWith = async (token: string) => (await rest(app.url, '/v1/pets', { token })).status;
const act = async (key: string, name: string) => {
  await visitor.page
    .getByRole('button', { name: `Acts on the key ${key}` })
    .first()
    .click();
  await visitor.page.getByRole('menuitem', { name }).click();
};
const rowOf = (text: string) => visitor.page.getByRole('row').filter({ hasText: text });

test('Dashboard-5: a key is created and shown once, used, rolled with an overlap, and revoked', async () => {
  const { token } = await app.tenant();
  visitor = await visit(browser, app.url);
  const { page } = visitor;
  const dialog = page.getByRole('dialog');
  const shownToken = async () => (await dialog.locator('.token code').innerText()).trim();
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByText('this session').waitFor();

  await page.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByText('Give it a name').waitFor();
  await dialog.getByLabel('Name').fill('storefront');
  await dialog.getByLabel('Expires').selectOption('In 30 days');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  const created = await shownToken();
  await dialog.getByRole('button', { name: 'Copy the API key' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(created);
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  expect(await page.content()).not.toContain(created);
  expect(await statusWith(created)).toBe(200);
  await page.reload();
  const row = rowOf(created.slice(0, 9));
  await row.waitFor();
  expect(await row.innerText()).toMatch(/storefront[\s\S]*pets:read/);
  expect(await row.innerText()).not.toMatch(/never/);

  await act('storefront', 'Roll…');
  await dialog.getByLabel('How long the old key still works').selectOption('For an hour');
  await dialog.getByRole('button', { name: 'Roll key' }).click();
  const rolled = await shownToken();
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  expect([await statusWith(created), await statusWith(rolled)]).toEqual([200, 200]);

  await rowOf(rolled.slice(0, 9))
    .getByRole('button', { name: /^Acts on the key/ })
    .click();
  await page.getByRole('menuitem', { name: 'Revoke…' }).click();
  await dialog.getByText('refused from then on').waitFor();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await rowOf(rolled.slice(0, 9)).getByText('revoked').waitFor();
  await expect(statusWith(rolled)).resolves.toBe(401);
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-5: rolling the key of the session goes on with the new one; revoking it ends the session', async () => {
  const { token } = await app.tenant();
  visitor = await visit(browser, app.url, { provokes: [401] });
  const { page } = visitor;
  const dialog = page.getByRole('dialog');
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'API keys' }).click();
  await act('test', 'Roll…');
  await dialog.getByLabel('How long the old key still works').selectOption('Not at all: it stops now');
  await dialog.getByRole('button', { name: 'Roll key' }).click();
  await dialog.getByText('This session uses the new key already.').waitFor();
  const rolled = (await dialog.locator('.token code').innerText()).trim();
  await dialog.getByRole('button', { name: 'I have stored it' }).click();
  const session = rowOf('this session');
  await session.filter({ hasText: rolled.slice(0, 9) }).waitFor();
  await page.reload();
  await session.filter({ hasText: rolled.slice(0, 9) }).waitFor();

  await session.getByRole('button', { name: /^Acts on the key/ }).click();
  await page.getByRole('menuitem', { name: 'Revoke…' }).click();
  await dialog.getByText('you will be signed out').waitFor();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('You revoked the key of this session.').waitFor();
  expect(visitor.complaints).toEqual([]);
});
