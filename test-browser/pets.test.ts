import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../test/support/browser.js';
import { graphql } from '../test/support/http/client.js';
import { startApp, type Tenant, type TestApp } from '../test/support/start-app.js';
import { type Visitor, visit } from './support/visitor.js';

let app: TestApp;
let browser: Browser;
let visitor: Visitor;
beforeAll(async () => {
  app = await startApp();
  browser = await startBrowser();
});
afterEach(() => visitor?.leave());
afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

const add = (token: string, input: object) =>
  graphql(app.url, 'mutation($input: NewPet!) { createPet(input: $input) { id } }', {
    token,
    variables: { input },
  });

async function withPets(count: number): Promise<Tenant> {
  const tenant = await app.tenant();
  for (let index = 0; index < count; index += 1) {
    await add(tenant.token, {
      name: `Pet ${index}`,
      categoryId: '1',
      status: index % 3 === 0 ? 'sold' : 'available',
    });
  }
  return tenant;
}

const names = () => visitor.page.locator('tbody th').allInnerTexts();

test('Dashboard-6: pets are paged, filtered, and found again with Back and after a reload', async () => {
  const { token } = await withPets(60);
  visitor = await visit(browser, app.url);
  const { page } = visitor;
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'Pets', exact: true }).click();
  await page.getByText('Page 1').waitFor();
  expect(await names()).toEqual(Array.from({ length: 25 }, (_, index) => `Pet ${index}`));
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Page 2').waitFor();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Page 3').waitFor();
  expect((await names()).at(-1)).toBe('Pet 59');
  expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true);
  await page.reload();
  await page.getByText('Page 3').waitFor();
  await page.getByRole('button', { name: 'Previous' }).click();
  await page.getByText('Page 2').waitFor();
  expect((await names())[0]).toBe('Pet 25');
  await page.goBack();
  await page.getByText('Page 3').waitFor();
  await page.getByRole('radio', { name: 'sold' }).check();
  await page.getByText('Page 1').waitFor();
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 20);
  expect((await names()).slice(0, 3)).toEqual(['Pet 0', 'Pet 3', 'Pet 6']);
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-23: a pet is added and edited; a refusal appears beside its field; no digit is lost', async () => {
  const { token } = await app.tenant();
  visitor = await visit(browser, app.url);
  const { page } = visitor;
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'Pets', exact: true }).click();
  await page.getByRole('button', { name: 'Add the first pet' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Add pet' }).click();
  await dialog.getByText('Enter a name.').waitFor();
  await dialog.getByLabel('Name').fill('Rex');
  await dialog.getByLabel('Category').fill('9999999999999999999');
  await dialog.getByRole('button', { name: 'Add pet' }).click();
  expect(await dialog.getByRole('alert').innerText()).toMatch(/integer/i);
  await dialog.getByLabel('Category').fill('9223372036854775807');
  await dialog.getByRole('button', { name: 'Add pet' }).click();
  await page.getByText(/Saved Rex/).waitFor();
  await page.getByRole('cell', { name: '9223372036854775807' }).waitFor();

  await page.getByRole('button', { name: 'Edit Rex' }).click();
  await dialog.getByLabel('Name').fill('Rex II');
  await dialog.getByLabel('Status').selectOption('');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('rowheader', { name: 'Rex II' }).waitFor();
  const { body } = await graphql(app.url, '{ pets { nodes { name categoryId status } } }', { token });
  expect(body.data.pets.nodes).toEqual([{ name: 'Rex II', categoryId: '9223372036854775807', status: null }]);
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-8: everything on the page can be reached and used with the keyboard alone', async () => {
  const { token } = await withPets(2);
  visitor = await visit(browser, app.url);
  const { page } = visitor;
  await visitor.open('/');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.keyboard.type(token);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the page');
  const pets = page.getByRole('link', { name: 'Pets', exact: true });
  for (
    let tabs = 0;
    tabs < 10 && !(await pets.evaluate((link) => link === document.activeElement));
    tabs += 1
  ) {
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Enter');
  await page.getByText('Page 1').waitFor();
  // The heading has the focus, so a screen reader announces the new page.
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
  const edit = page.getByRole('button', { name: 'Edit Pet 1' });
  for (
    let tabs = 0;
    tabs < 12 && !(await edit.evaluate((button) => button === document.activeElement));
    tabs += 1
  ) {
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await edit.evaluate((button) => button === document.activeElement)).toBe(true);
  expect(visitor.complaints).toEqual([]);
});
