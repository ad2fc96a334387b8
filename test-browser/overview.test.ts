import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../test/support/browser.js';
import { letGo } from '../test/support/domains/domain-rig.js';
import { eventually } from '../test/support/eventually.js';
import { graphql, rest } from '../test/support/http/client.js';
import { startApp, type TestApp } from '../test/support/start-app.js';
import { type Visitor, visit } from './support/visitor.js';

let app: TestApp;
let ahead: { aheadMs: number };
let browser: Browser;
let visitor: Visitor;
beforeAll(async () => {
  app = await startApp();
  ahead = letGo(app.clock);
  browser = await startBrowser();
});
afterEach(() => visitor?.leave());
afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

const MINUTE_MS = 60_000;

/** The sum in the legend of the plot of the last hour, by series. */
const counted = async (series: string) => {
  const plot = visitor.page.locator('section', {
    has: visitor.page.getByRole('heading', { name: /last hour/ }),
  });
  const text = await plot.getByRole('listitem').filter({ hasText: series }).innerText();
  return Number(text.replace(/\D/g, ''));
};

test('Dashboard-3: the plots show real traffic of both doors, admitted and refused, and update without a reload', async () => {
  const { token } = await app.tenant({ plan: 'FREE' });
  visitor = await visit(browser, app.url);
  const { page } = visitor;
  await visitor.signIn(token);
  await page.getByRole('heading', { name: /last 30 days/ }).waitFor();
  expect(await counted('REST admitted')).toBe(0);

  for (let sent = 0; sent < 7; sent += 1) await rest(app.url, '/v1/pets', { token });
  for (let sent = 0; sent < 6; sent += 1) await graphql(app.url, '{ pets { nodes { id } } }', { token });
  await page.getByRole('button', { name: 'Refresh' }).click();
  await eventually('the plot has the new requests', async () => (await counted('REST admitted')) === 7);
  expect(await counted('GraphQL admitted')).toBe(6);
  expect(await counted('Management')).toBeGreaterThanOrEqual(1);

  const bars = page.locator('.plot-bars').first().locator('rect.rest-admitted');
  expect(await bars.count()).toBe(1);
  const month = page.locator('.plot-bars').nth(1).locator('rect.rest-admitted');
  expect(await month.count()).toBe(1);
  // A table shows the same numbers to people who cannot see the plot.
  await page.locator('summary', { hasText: 'Show as a table' }).first().click();
  expect(await page.getByRole('row').nth(1).innerText()).toMatch(/7/);
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-18: bars count down; a spent quota and a ban show when they end', async () => {
  // The quota spent in this minute must still be spent when the page shows it.
  ahead.aheadMs = MINUTE_MS - (Date.now() % MINUTE_MS);
  const { token } = await app.tenant({ plan: 'FREE' });
  visitor = await visit(browser, app.url, { provokes: [429] });
  const { page } = visitor;
  await visitor.signIn(token);
  const meter = page.getByRole('meter', { name: 'This minute' });
  expect(await meter.getAttribute('aria-valuemax')).toBe('60');
  const countdown = page.locator('.quota .countdown').first();
  const before = await countdown.innerText();
  await page.waitForFunction(
    (text) => document.querySelector('.quota .countdown')?.textContent !== text,
    before,
  );

  for (let sent = 0; sent < 61; sent += 1) await rest(app.url, '/v1/pets', { token });
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page
    .getByText(/The quota of this minute is spent|temporarily banned/)
    .first()
    .waitFor();
  // Ten requests sent before Retry-After has passed, and not in the same burst.
  ahead.aheadMs += 1_500;
  for (let sent = 0; sent < 12; sent += 1) await rest(app.url, '/v1/pets', { token });
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.getByText('This API key is temporarily banned.').first().waitFor();
  await page.getByText(/^Banned, .* left$/).waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-19: the open overview spends nothing of the plan, at most a twentieth of the key’s allowance, and nothing once paused', async () => {
  const { token } = await app.tenant({ plan: 'FREE' });
  visitor = await visit(browser, app.url);
  const { page } = visitor;
  let asked = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/graphql')) asked += 1;
  });
  await page.clock.install();
  await visitor.signIn(token);
  await page.getByRole('heading', { name: /last hour/ }).waitFor();
  asked = 0;
  for (let second = 0; second < 60; second += 5) {
    await page.clock.runFor(5_000);
    await page.waitForLoadState('networkidle');
  }
  expect(asked).toBeGreaterThanOrEqual(3);
  expect(asked).toBeLessThanOrEqual(6);
  const { body } = await rest(app.url, '/v1/rate_limit', { token });
  expect(body.day.remaining).toBe(1_000);
  for (let minute = 0; minute < 6; minute += 1) await page.clock.runFor(60_000);
  await page.getByText('Paused').waitFor();
  asked = 0;
  for (let minute = 0; minute < 5; minute += 1) await page.clock.runFor(60_000);
  expect(asked).toBe(0);
});

test('Dashboard-35: the badge says when the gateway is away, tries again with back-off, and at once when the network returns', async () => {
  const { token } = await app.tenant();
  visitor = await visit(browser, app.url);
  const { page, context } = visitor;
  await page.clock.install();
  await visitor.signIn(token);
  const badge = page.locator('.live');
  await badge.filter({ hasText: 'Live' }).waitFor();
  let asked = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/graphql')) asked += 1;
  });
  await context.setOffline(true);
  await page.clock.runFor(11_000);
  await badge.filter({ hasText: /Reconnects in \d+ s/ }).waitFor();
  asked = 0;
  for (let second = 0; second < 120; second += 5) {
    await page.clock.runFor(5_000);
    await page.waitForTimeout(20);
  }
  // 2, 4, 8, 16, 32 and 60 seconds, each up to a quarter more or less.
  expect(asked).toBeGreaterThanOrEqual(3);
  expect(asked).toBeLessThanOrEqual(7);
  // The page keeps its content.
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await context.setOffline(false);
  await badge.filter({ hasText: 'Live' }).waitFor();
  expect(visitor.complaints.filter((each) => !each.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([]);
});

test('Dashboard-37: a time is relative, and shows the exact one with its zone under the pointer', async () => {
  const { token } = await app.tenant();
  visitor = await visit(browser, app.url);
  const { page } = visitor;
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'API keys' }).click();
  const time = page.locator('tbody time').first();
  expect(await time.innerText()).toMatch(/^(just now|in a moment|\d+ minutes? ago|in \d+ minutes?)$/);
  await time.hover();
  expect(await page.getByRole('tooltip').innerText()).toMatch(/^\d+ \w+ \d{4}, \d\d:\d\d (UTC|GMT)$/);
  expect(visitor.complaints).toEqual([]);
});
