import { expect, test } from '@jest/globals';
import { graphql } from '../test/support/http/client.js';
import { startApp, type Tenant, type TestApp } from '../test/support/start-app.js';
import { takePicture } from './support/pictures.js';
import { type Visitor, visits } from './support/visitor.js';

let app: TestApp;
let visitor: Visitor;
const visit = visits(async () => {
  app = await startApp();
  return app;
});

const add = (token: string, input: object) =>
  graphql(app.url, 'mutation($input: NewToy!) { createToy(input: $input) { id } }', {
    token,
    variables: { input },
  });

async function withToys(count: number): Promise<Tenant> {
  const tenant = await app.tenant();
  for (let index = 0; index < count; index += 1) {
    await add(tenant.token, {
      name: `Toy ${index}`,
      categoryId: '1',
      status: index % 3 === 0 ? 'sold' : 'available',
    });
  }
  return tenant;
}

const names = () => visitor.page.locator('tbody th').allInnerTexts();

test('Dashboard-6: toys are paged, filtered, and found again with Back and after a reload', async () => {
  const { token } = await withToys(60);
  visitor = await visit();
  const { page } = visitor;
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'Toys', exact: true }).click();
  await page.getByText('Page 1').waitFor();
  expect(await names()).toEqual(Array.from({ length: 25 }, (_, index) => `Toy ${59 - index}`));
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Page 2').waitFor();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Page 3').waitFor();
  expect((await names()).at(-1)).toBe('Toy 0');
  expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true);
  await page.reload();
  await page.getByText('Page 3').waitFor();
  await page.getByRole('button', { name: 'Previous' }).click();
  await page.getByText('Page 2').waitFor();
  expect((await names())[0]).toBe('Toy 34');
  await page.goBack();
  await page.getByText('Page 3').waitFor();
  await page.getByRole('radio', { name: 'sold' }).check();
  await page.getByText('Page 1').waitFor();
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 20);
  expect((await names()).slice(0, 3)).toEqual(['Toy 57', 'Toy 54', 'Toy 51']);
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-23: a toy is added and edited; a refusal appears beside its field; no digit is lost', async () => {
  const { token } = await app.tenant();
  visitor = await visit();
  const { page } = visitor;
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'Toys', exact: true }).click();
  await page.getByRole('button', { name: 'Add the first toy' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Add toy' }).click();
  await dialog.getByText('Enter a name.').waitFor();
  await dialog.getByLabel('Name').fill('Rex');
  await dialog.getByLabel('Category').fill('9999999999999999999');
  await dialog.getByRole('button', { name: 'Add toy' }).click();
  expect(await dialog.getByRole('alert').innerText()).toMatch(/integer/i);
  await dialog.getByLabel('Category').fill('9223372036854775807');
  await dialog.getByRole('button', { name: 'Add toy' }).click();
  await page.getByText(/Saved Rex/).waitFor();
  await page.getByRole('cell', { name: '9223372036854775807' }).waitFor();

  await page.getByRole('button', { name: 'Edit Rex' }).click();
  await dialog.getByLabel('Name').fill('Rex II');
  await dialog.getByLabel('Status').selectOption('');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('rowheader', { name: 'Rex II' }).waitFor();
  const { body } = await graphql(app.url, '{ toys { nodes { name categoryId status } } }', { token });
  expect(body.data.toys.nodes).toEqual([{ name: 'Rex II', categoryId: '9223372036854775807', status: null }]);
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-8: everything on the page can be reached and used with the keyboard alone', async () => {
  const { token } = await withToys(2);
  visitor = await visit();
  const { page } = visitor;
  await visitor.open('/');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.keyboard.type(token);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.keyboard.press('Tab');
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the page');
  const toys = page.getByRole('link', { name: 'Toys', exact: true });
  for (
    let tabs = 0;
    tabs < 10 && !(await toys.evaluate((link) => link === document.activeElement));
    tabs += 1
  ) {
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Enter');
  await page.getByText('Page 1').waitFor();
  // The heading has the focus, so a screen reader announces the new page.
  expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
  const edit = page.getByRole('button', { name: 'Edit Toy 1' });
  for (
    let tabs = 0;
    tabs < 16 && !(await edit.evaluate((button) => button === document.activeElement));
    tabs += 1
  ) {
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  // The focus returns in a frame after the dialog has gone.
  await page.waitForFunction((button) => button === document.activeElement, await edit.elementHandle());
  expect(visitor.complaints).toEqual([]);
});

test('ToysPage-1: toys are searched by the start of their name, with a status and an order; the URL keeps all three', async () => {
  const { token } = await app.tenant();
  for (const [name, status] of [
    ['Rex', 'sold'],
    ['Reto', 'available'],
    ['rex', 'sold'],
    ['Luna', 'sold'],
    ['Rembrandt', 'sold'],
  ]) {
    await add(token, { name, categoryId: '1', status });
  }
  visitor = await visit();
  const { page } = visitor;
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'Toys', exact: true }).click();
  const shows = (wanted: string[]) =>
    page.waitForFunction(
      (expected) =>
        [...document.querySelectorAll('tbody th')].map((cell) => cell.textContent).join() === expected,
      wanted.join(),
    );
  await shows(['Rembrandt', 'Luna', 'rex', 'Reto', 'Rex']);
  await page.getByLabel('Order').selectOption('Oldest first');
  await shows(['Rex', 'Reto', 'rex', 'Luna', 'Rembrandt']);
  await page.getByLabel('Search by the start of the name').fill('Re');
  await shows(['Rembrandt', 'Reto', 'Rex']);
  await page.getByLabel('Order').selectOption('Name, Z to A');
  await shows(['Rex', 'Reto', 'Rembrandt']);
  await page.getByRole('radio', { name: 'sold' }).check();
  await shows(['Rex', 'Rembrandt']);
  expect([...new URL(page.url()).searchParams].sort()).toEqual([
    ['nameStartsWith', 'Re'],
    ['orderBy', 'NEWEST'],
    ['status', 'sold'],
  ]);
  await page.reload();
  await shows(['Rex', 'Rembrandt']);
  await page.goBack();
  await shows(['Rex', 'Reto', 'Rembrandt']);
  await page.getByLabel('Search by the start of the name').fill('re%');
  await page.getByText('No toy has a name that starts with “re%”').waitFor();
  await page.getByRole('button', { name: 'Show all toys' }).click();
  await shows(['Rembrandt', 'Luna', 'rex', 'Reto', 'Rex']);
  expect(await page.getByLabel('Search by the start of the name').inputValue()).toBe('');
  expect(visitor.complaints).toEqual([]);
});

test('ToysPage-2: a new toy is visible wherever the user was in the list', async () => {
  const { token } = await withToys(27);
  visitor = await visit();
  const { page } = visitor;
  await visitor.signIn(token);
  await visitor.open('/toys?orderBy=OLDEST&status=sold');
  await page.getByText('Page 1').waitFor();
  await page.getByRole('button', { name: 'Add toy' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('The new one');
  await page.getByRole('dialog').getByLabel('Category').fill('1');
  await page.getByRole('dialog').getByRole('button', { name: 'Add toy' }).click();
  const row = page.getByRole('row').filter({ hasText: 'The new one' });
  await row.waitFor();
  expect(await row.getAttribute('class')).toBe('added');
  expect(await row.evaluate((element) => element.getBoundingClientRect().bottom < innerHeight)).toBe(true);
  expect((await names())[0]).toBe('The new one');
  expect(visitor.complaints).toEqual([]);
});

test('ToysPage-3: a toy is deleted after a question, also the last one of the last page', async () => {
  const { token } = await withToys(26);
  visitor = await visit();
  const { page } = visitor;
  const question = page.getByRole('alertdialog');
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'Toys', exact: true }).click();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Page 2').waitFor();
  await page.getByRole('button', { name: 'Delete Toy 0' }).click();
  expect(
    await question
      .getByRole('button', { name: 'Cancel' })
      .evaluate((button) => button === document.activeElement),
  ).toBe(true);
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Delete Toy 0' }).click();
  await question.getByRole('button', { name: 'Delete toy' }).click();
  await page.getByText(/^Deleted Toy 0, id \d+\.$/).waitFor();
  await page.getByText('Page 1').waitFor();
  await page.waitForFunction(() => document.querySelectorAll('tbody tr').length === 25);
  // The page shows the rows that it had, until the answer says that no page follows.
  await page.getByRole('button', { name: 'Next', disabled: true }).waitFor();
  const { body } = await graphql(app.url, '{ toys(first: 100) { nodes { name } } }', { token });
  expect(body.data.toys.nodes).toHaveLength(25);
  expect(visitor.complaints).toEqual([]);
});

test('ToysPage-4: names of 255 characters, right to left, and emoji stay on the page', async () => {
  const { token } = await app.tenant();
  for (const name of ['x'.repeat(255), 'قطة جميلة '.repeat(25), '🐕‍🦺'.repeat(60)]) {
    await add(token, { name, categoryId: '9223372036854775807', status: 'available' });
  }
  for (const width of [390, 1280, 1600]) {
    visitor = await visit({ width });
    const { page } = visitor;
    await visitor.signIn(token);
    await visitor.open('/toys');
    await page.getByText('Page 1').waitFor();
    await takePicture(page, `toys-names-${width}`, { fullPage: true });
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(await overflow()).toBeLessThanOrEqual(0);
    await page.getByRole('button', { name: /^Delete x/ }).click();
    await page.getByRole('alertdialog').waitFor();
    expect(await overflow()).toBeLessThanOrEqual(0);
    expect(visitor.complaints).toEqual([]);
    await visitor.leave();
  }
});

test('ToysPage-5: a key without toys:write sees, searches and exports toys, and is offered no change', async () => {
  const { token } = await app.tenant({ scopes: ['toys:read'] });
  visitor = await visit();
  const { page } = visitor;
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'Toys', exact: true }).click();
  await page.getByText('A key with the scope toys:write can add one.').waitFor();
  await page.getByRole('button', { name: 'Export' }).waitFor();
  expect(await page.getByRole('button', { name: /Add|Import|Delete/ }).count()).toBe(0);
  expect(visitor.complaints).toEqual([]);
});
