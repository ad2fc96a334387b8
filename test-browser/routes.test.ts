import { expect, test } from '@jest/globals';
import { startApp, type TestApp } from '../test/support/start-app.js';
import { takePicture } from './support/pictures.js';
import { visits } from './support/visitor.js';

let app: TestApp;
const visit = visits(async () => {
  app = await startApp();
  return app;
});

test('Dashboard-87: addresses that people type lead to the page that they mean', async () => {
  const { token } = await app.tenant();
  const { page, signIn, open, complaints } = await visit();
  await signIn(token);
  for (const [typed, path, heading] of [
    ['/keys', '/settings/keys', 'API keys'],
    ['/api-keys', '/settings/keys', 'API keys'],
    ['/settings', '/settings/keys', 'API keys'],
    ['/domains/', '/settings/domains', 'Domains'],
    ['/domains/1', '/settings/domains/1', 'Domain'],
  ] as const) {
    await open(typed);
    await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
    expect([typed, new URL(page.url()).pathname]).toEqual([typed, `/dashboard${path}`]);
  }
  await open('/keyses');
  await page.getByText('There is nothing at this address').waitFor();
  expect(complaints).toEqual([]);
});

test('Dashboard-88: on a phone the current page is in sight in the row of pages', async () => {
  const { token } = await app.tenant();
  const { page, signIn, open, complaints } = await visit({ width: 390, height: 740 });
  await signIn(token);
  const isInSight = () =>
    page.locator('.side-nav').evaluate((nav) => {
      const row = nav.getBoundingClientRect();
      const tab = nav.querySelector('[aria-current]')?.getBoundingClientRect();
      // A place of scroll is whole pixels, a width is not: the last tab may end a fraction of a pixel behind the row.
      return tab !== undefined && tab.left > row.left - 1 && tab.right < row.right + 1;
    });
  await open('/settings/keys');
  await page.getByText('this session').waitFor();
  expect(await isInSight()).toBe(true);
  await takePicture(page, 'tabs-390');
  await page.evaluate("document.querySelector('.side-nav').scrollLeft = 0");
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(await isInSight()).toBe(true);
  expect(complaints).toEqual([]);
});

test('Dashboard-89: without PLATFORM_HOST the page says that no domain can work, and offers none', async () => {
  const { token } = await app.tenant();
  const { page, signIn, open, complaints } = await visit();
  await signIn(token);
  await open('/settings/domains');
  await page.getByText('This gateway has no public host name yet.').waitFor();
  await page.getByText('PLATFORM_HOST').waitFor();
  expect(await page.getByRole('button', { name: /Add/ }).count()).toBe(0);
  await takePicture(page, 'domains-no-host');
  expect(complaints).toEqual([]);
});
