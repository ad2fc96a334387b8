import { expect, test } from '@jest/globals';
import { loadGateway } from '../src/app/gateway.js';
import { rest } from '../test/support/http/client.js';
import { BOOKS } from '../test/support/nouns/books.js';
import threeNouns from '../test/support/nouns/three-nouns.js';
import { startApp, type TestApp } from '../test/support/start-app.js';
import { takePicture } from './support/pictures.js';
import { visits } from './support/visitor.js';

let app: TestApp;
const visit = visits(async () => {
  app = await startApp({ gateway: await loadGateway(threeNouns) });
  return app;
});

test('Dashboard-91: the form of a noun shows the defaults of a new item, and sends no immutable field of an old one', async () => {
  const { token } = await app.tenant();
  const { page, ...visitor } = await visit();
  const books = async () => (await rest(app.url, '/v1/books', { token })).body;
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'Books', exact: true }).click();
  await page.getByRole('button', { name: 'Add the first book' }).click();
  const dialog = page.getByRole('dialog');
  const field = (label: string) => dialog.getByLabel(label);
  expect([await field('Rating').inputValue(), await field('Binding').inputValue()]).toEqual(['3', 'paper']);
  expect(await field('Binding').getByRole('option').allTextContents()).toEqual(['paper', 'cloth']);
  await field('Title').fill('Emma');
  await field('Pages').fill('474');
  await field('Price cents').fill('799');
  await field('Binding').selectOption('cloth');
  await dialog.getByRole('button', { name: 'Add book' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await books()).toMatchObject([{ title: 'Emma', rating: 3, binding: 'cloth' }]);

  await page.getByRole('button', { name: 'Edit Emma' }).click();
  expect(await field('Binding').isEnabled()).toBe(false);
  expect(await dialog.getByText('It can’t be changed.').count()).toBe(1);
  await takePicture(page, 'book-form');
  await field('Rating').fill('');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('A rating is an integer, such as').waitFor();
  await field('Rating').fill('5');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await books()).toMatchObject([{ rating: 5, binding: 'cloth' }]);
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-92: a list is filtered by each kind of field, and a value that no item can have is not sent', async () => {
  const { token } = await app.tenant();
  const { page, ...visitor } = await visit();
  for (const order of [1, 2]) {
    const body = { ...BOOKS.input(order), title: `Part ${order}`, order, priceCents: order };
    await rest(app.url, '/v1/books', { method: 'POST', token, body });
  }
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'Books', exact: true }).click();
  const shown = () => page.locator('tbody th').allInnerTexts();
  await page.getByText('Part 1').waitFor();
  const search = page.getByLabel('Search by the order');
  await search.fill('2');
  await page.getByText('Part 1').waitFor({ state: 'detached' });
  expect(await shown()).toEqual(['Part 2']);
  await search.fill('2x');
  await search.press('Enter');
  expect(await search.getAttribute('aria-invalid')).toBe('true');
  await page.goto(`${app.url}/dashboard/books?order=x`);
  await page.getByText('Part 1').waitFor();
  expect(await shown()).toEqual(['Part 2', 'Part 1']);
  expect(visitor.complaints).toEqual([]);
});
