import { expect, test } from '@jest/globals';
import { createGateway, loadGateway } from '../src/app/gateway.js';
import { rest } from '../test/support/http/client.js';
import { LOCKERS } from '../test/support/nouns/lockers.js';
import { NOTES } from '../test/support/nouns/notes.js';
import { startApp, type TestApp } from '../test/support/start-app.js';
import { violationsOn } from './support/accessibility.js';
import { takePicture } from './support/pictures.js';
import { visits } from './support/visitor.js';

let app: TestApp;
const visit = visits(async () => {
  const gateway = createGateway({
    name: 'Two Nouns',
    nouns: [...NOTES.nouns, ...LOCKERS.nouns],
    migrations: [NOTES, LOCKERS].flatMap(({ migrations }) => (Array.isArray(migrations) ? migrations : [])),
  });
  app = await startApp({ gateway: await loadGateway(gateway) });
  return app;
});

test('Dashboard-105: a deleted item is in the list of deleted ones, and is restored from there', async () => {
  const { token } = await app.tenant();
  const { page, ...visitor } = await visit();
  for (const title of ['Milk', 'Bread'])
    await rest(app.url, '/v1/notes', { method: 'POST', token, body: { title } });
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'Notes', exact: true }).click();
  for (const title of ['Milk', 'Bread']) {
    await page.getByRole('button', { name: `Delete ${title}` }).click();
    const question = page.getByRole('alertdialog');
    await question.getByText('can be restored for 30 days').waitFor();
    await question.getByRole('button', { name: 'Delete note' }).click();
    await question.waitFor({ state: 'detached' });
  }
  await page.getByText('No note yet').waitFor();
  await page.getByRole('button', { name: 'Deleted', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Restore Milk' }).waitFor();
  expect(await violationsOn(page)).toEqual([]);
  await takePicture(page, 'deleted-items');
  await dialog.getByRole('button', { name: 'Restore Milk' }).click();
  await page.getByText('Restored Milk').waitFor();
  await dialog.getByRole('button', { name: 'Restore Milk' }).waitFor({ state: 'detached' });
  await dialog.getByRole('button', { name: 'Close', exact: true }).last().click();
  await page.getByRole('button', { name: 'Edit Milk' }).waitFor();
  const { body } = await rest(app.url, '/v1/notes', { token });
  expect(body.map(({ title }: { title: string }) => title)).toEqual(['Milk']);
});

test('Dashboard-106: a value that nobody can read is asked for once, and stays unless it is filled in', async () => {
  const { token, projectId } = await app.tenant();
  const { page, ...visitor } = await visit();
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'Lockers', exact: true }).click();
  await page.getByRole('button', { name: 'Add the first locker' }).click();
  const dialog = page.getByRole('dialog');
  const field = (label: string) => dialog.getByLabel(label, { exact: true });
  await field('Place').fill('Hall 2');
  await dialog.getByRole('button', { name: 'Add locker' }).click();
  await dialog.getByText('Enter a PIN.').waitFor();
  await field('PIN').fill('4711');
  await dialog.getByRole('button', { name: 'Add locker' }).click();
  await dialog.waitFor({ state: 'detached' });
  const stored = async () => {
    const [row] = await app.db.execute<{ pin: string }>('SELECT pin FROM lockers WHERE project_id = ?', [
      projectId,
    ]);
    return row?.pin;
  };
  expect(await stored()).toBe('4711');
  for (const [pin, place] of [
    ['', 'Hall 3'],
    ['1234', 'Hall 4'],
  ] as const) {
    await page.getByRole('button', { name: /^Edit Hall/ }).click();
    expect(await field('PIN').inputValue()).toBe('');
    await dialog.getByText('It is not shown. Leave it empty to keep it.').first().waitFor();
    await field('PIN').fill(pin);
    await field('Place').fill(place);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await stored()).toBe(pin || '4711');
  }
});

test('Dashboard-120: a refused restoration is said in full below the item, which stays readable', async () => {
  const { token } = await app.tenant();
  const { page, ...visitor } = await visit({ provokes: [409] });
  const post = () => rest(app.url, '/v1/notes', { method: 'POST', token, body: { title: 'Milk' } });
  const { id } = (await post()).body;
  await rest(app.url, `/v1/notes/${id}`, { method: 'DELETE', token });
  await post();
  await visitor.signIn(token);
  await visitor.open('/notes');
  await page.getByRole('button', { name: 'Deleted', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Restore Milk' }).click();
  const refusal = dialog.getByRole('alert');
  await refusal.getByText('Another note of the project has this title.').waitFor();
  for (const width of [1280, 390, 320]) {
    await page.setViewportSize({ width, height: 900 });
    const boxOf = async (each: typeof refusal) =>
      (await each.boundingBox()) as NonNullable<Awaited<ReturnType<typeof each.boundingBox>>>;
    const [row, words, list] = await Promise.all(
      [dialog.getByText(String(id)), refusal.locator('.notice-title'), dialog.locator('.refused-scroll')].map(
        boxOf,
      ),
    );
    expect([width, row && words && row.y + row.height <= words.y]).toEqual([width, true]);
    expect(words && list && words.x + words.width <= list.x + list.width).toBe(true);
    expect(await refusal.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)).toBe(true);
    const button = await boxOf(dialog.getByRole('button', { name: 'Restore Milk' }));
    expect(row && row.x + row.width <= button.x).toBe(true);
    await takePicture(page, `restore-refused-${width}`);
  }
  expect(await violationsOn(page)).toEqual([]);
});
