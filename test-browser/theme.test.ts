import { expect, test } from '@jest/globals';
import { startApp, type TestApp } from '../test/support/start-app.js';
import { violationsOn } from './support/accessibility.js';
import { type Visitor, visits } from './support/visitor.js';

let app: TestApp;
let visitor: Visitor;
const visit = visits(async () => {
  app = await startApp();
  return app;
});

const PAGES = ['/dashboard/', '/', '/v1/docs', '/graphiql', '/nothing-here'];
const background = () => visitor.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const LIGHT = 'rgb(250, 250, 250)';
const DARK = 'rgb(11, 12, 13)';

test('Theme-1: the choice of one page holds on all pages that share the design, also in another tab, until it is the system’s again', async () => {
  visitor = await visit({ colorScheme: 'light', provokes: [404] });
  const { page, context } = visitor;
  await visitor.open('/');
  expect(await background()).toBe(LIGHT);
  const other = await context.newPage();
  await other.goto(`${app.url}/v1/docs`);
  await page.getByRole('radio', { name: 'Dark' }).check();
  expect(await background()).toBe(DARK);
  await other.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
  expect(await other.getByRole('radio', { name: 'Dark' }).isChecked()).toBe(true);
  await other.close();
  for (const path of PAGES) {
    await page.goto(`${app.url}${path}`);
    await page.getByRole('radiogroup', { name: 'Theme' }).waitFor();
    expect([path, await background()]).toEqual([path, DARK]);
    expect([path, await violationsOn(page)]).toEqual([path, []]);
  }
  await page.getByRole('radio', { name: 'System' }).check();
  expect(await background()).toBe(LIGHT);
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
  expect(await background()).toBe(DARK);
  expect(visitor.complaints).toEqual([]);
});

test('Theme-2: no page is painted in another theme first, and no page has an inline script', async () => {
  visitor = await visit({ colorScheme: 'light', provokes: [404] });
  const { page } = visitor;
  await visitor.open('/');
  await page.getByRole('radio', { name: 'Dark' }).check();
  // Before each page's first paint: the theme of every frame, until the page is complete.
  await page.addInitScript(() => {
    const seen: string[] = [];
    Object.assign(window, { seen });
    const look = () => {
      if (document.body) seen.push(String(document.documentElement.dataset.theme));
      requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  for (const path of PAGES) {
    const answer = await page.goto(`${app.url}${path}`, { waitUntil: 'load' });
    await page.waitForFunction(() => (window as unknown as { seen: string[] }).seen.length > 3);
    const seen = await page.evaluate(() => (window as unknown as { seen: string[] }).seen);
    expect([path, new Set(seen)]).toEqual([path, new Set(['dark'])]);
    expect(await answer?.text()).not.toMatch(/<script(?![^>]*(?:src=|application\/json))/);
  }
  expect(visitor.complaints).toEqual([]);
});
