import { expect, test } from '@jest/globals';
import { letGo } from '../test/support/domains/domain-rig.js';
import { eventually } from '../test/support/eventually.js';
import { graphql, rest } from '../test/support/http/client.js';
import { startApp, TEST_ACTOR, type TestApp } from '../test/support/start-app.js';
import { type Visitor, visits } from './support/visitor.js';

let app: TestApp;
let ahead: { aheadMs: number };
let visitor: Visitor;
const visit = visits(async () => {
  app = await startApp();
  ahead = letGo(app.clock);
  return app;
});

const MINUTE_MS = 60_000;

/** The sum of a part of the bars in the legend of the plot; null = the plot has no such part. */
const counted = async (part: string) => {
  const entries = visitor.page.getByRole('list', { name: 'Parts of the bars' }).getByRole('listitem');
  const entry = entries.filter({ has: visitor.page.getByText(part, { exact: true }) });
  // Waits for nothing: the part may leave the plot at any time.
  const [sum] = await entry.locator('strong').allInnerTexts();
  return sum === undefined ? null : Number(sum.replace(/\D/g, ''));
};
const fact = async (name: string) => {
  const facts = visitor.page.locator('.facts > div');
  return facts.filter({ has: visitor.page.getByText(name, { exact: true }) }).innerText();
};
const plot = (title: string) => visitor.page.getByRole('img', { name: title });
const choose = (name: string) =>
  visitor.page.getByRole('radio', { name, exact: true }).check({ force: true });
const rowOf = (table: string, name: string) =>
  visitor.page
    .getByRole('table', { name: table })
    .getByRole('row')
    .filter({ has: visitor.page.getByRole('rowheader').filter({ hasText: name }) });
const refresh = () => visitor.page.getByRole('button', { name: 'Refresh' }).click();

test('Dashboard-3: the plot shows real traffic of both doors, and updates without a reload', async () => {
  const { token } = await app.tenant({ plan: 'FREE' });
  visitor = await visit();
  const { page } = visitor;
  await visitor.signIn(token);
  await plot('Requests in the last hour, by API').waitFor();
  expect(await counted('REST')).toBeNull();

  for (let sent = 0; sent < 7; sent += 1) await rest(app.url, '/v1/toys', { token });
  for (let sent = 0; sent < 6; sent += 1) await graphql(app.url, '{ toys { nodes { id } } }', { token });
  await refresh();
  await eventually('the plot has the new requests', async () => (await counted('REST')) === 7);
  expect(await counted('GraphQL')).toBe(6);
  expect(await fact('Quota units')).toMatch(/13\s/);
  expect(await fact('Errors')).toMatch(/0%/);
  expect(await fact('Latency p95')).toMatch(/\d m?s/);
  for (const [time, title] of [
    ['24 hours', 'Requests in the last 24 hours, by API'],
    ['30 days', 'Requests in the last 30 days, by API'],
  ] as const) {
    await choose(time);
    await plot(title).waitFor();
    expect(await counted('REST')).toBe(7);
  }
  // A table shows the same numbers to people who cannot see the plot.
  await page.locator('summary', { hasText: 'Show as a table' }).click();
  const table = page.getByRole('table', { name: 'Requests in the last 30 days, by API' });
  expect(await table.getByRole('row').count()).toBe(31);
  expect(await table.getByRole('row').nth(1).innerText()).toMatch(/\w{3},? \d+ \w+[\s\S]*UTC[\s\S]*\t7\t/);
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-46: the time and the dimension are kept in the address, and every dimension has the same sum', async () => {
  const { token } = await app.tenant();
  for (let sent = 0; sent < 3; sent += 1) await rest(app.url, '/v1/toys', { token });
  await rest(app.url, '/v1/toys/1', { token });
  await graphql(app.url, 'query Shelf { toys { nodes { id } } }', { token });
  visitor = await visit();
  const { page } = visitor;
  await visitor.signIn(token);
  await choose('24 hours');
  await choose('Operation');
  await plot('Requests in the last 24 hours, by operation').waitFor();
  expect([await counted('listToys'), await counted('getToy'), await counted('Shelf')]).toEqual([3, 1, 1]);
  expect(new URL(page.url()).search).toBe('?window=day&by=operation');
  await choose('Status');
  await plot('Requests in the last 24 hours, by status').waitFor();
  expect(await counted('404 not found')).toBe(1);
  await page.reload();
  await plot('Requests in the last 24 hours, by status').waitFor();
  const sums = async () => {
    const numbers = await page
      .getByRole('list', { name: 'Parts of the bars' })
      .locator('strong')
      .allInnerTexts();
    return numbers.reduce((sum, text) => sum + Number(text.replace(/\D/g, '')), 0);
  };
  for (const [dimension, name] of [
    ['API', 'API'],
    ['Key', 'key'],
    ['Operation', 'operation'],
    ['Status', 'status'],
  ] as const) {
    await choose(dimension);
    await plot(`Requests in the last 24 hours, by ${name}`).waitFor();
    expect(await fact('Requests')).toMatch(new RegExp(`^Requests\\s+${await sums()}\\s`));
  }
  // A link without a choice, or with an unknown one, shows the last hour by API.
  await visitor.open('/?window=century&by=moon');
  await plot('Requests in the last hour, by API').waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-47: the tooltip of the plot follows the pointer and the keyboard', async () => {
  const { token } = await app.tenant();
  for (let sent = 0; sent < 4; sent += 1) await rest(app.url, '/v1/toys', { token });
  await rest(app.url, '/v1/toys/1', { token });
  visitor = await visit();
  const { page } = visitor;
  await visitor.open('/?window=month&by=operation');
  await page.getByLabel('API key').fill(token);
  await page.keyboard.press('Enter');
  const bars = plot('Requests in the last 30 days, by operation');
  await bars.waitFor();
  const tooltip = page.locator('.plot-tooltip');
  const box = await bars.boundingBox();
  if (!box) throw new Error('the plot is not visible');
  await page.mouse.move(box.x + box.width - 5, box.y + 40);
  await tooltip.getByText('listToys').waitFor();
  expect(await tooltip.innerText()).toMatch(/UTC[\s\S]*listToys\s+4[\s\S]*1 error/);
  expect((await tooltip.boundingBox())?.x ?? 0).toBeGreaterThan(box.x);
  const newest = await tooltip.locator('p').first().innerText();
  await page.mouse.move(box.x + box.width / 3, box.y + 40);
  await expect(tooltip.locator('p').first().innerText()).resolves.not.toBe(newest);
  await page.mouse.move(box.x, box.y - 30);
  await tooltip.waitFor({ state: 'detached' });

  const cursor = page.getByRole('slider', { name: /the bar to read$/ });
  await cursor.focus();
  await tooltip.getByText('listToys').waitFor();
  expect(await cursor.getAttribute('aria-valuetext')).toMatch(/UTC: \d+ requests; .*listToys 4.*; 1 error$/);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  expect(await cursor.getAttribute('aria-valuetext')).toMatch(/UTC: 0 requests$/);
  await page.keyboard.press('End');
  await tooltip.getByText('listToys').waitFor();
  await page.keyboard.press('Escape');
  await tooltip.waitFor({ state: 'detached' });
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-48: two sentences and two tables tell which key spent the quota, and which operation failed most', async () => {
  const { token, projectId } = await app.tenant();
  const { apiKeys } = app.app.services;
  const make = async (name: string) =>
    apiKeys.create(TEST_ACTOR, { projectId, name, scopes: ['toys:read', 'toys:write'], expiresAtMs: null });
  const [greedy, calm] = [await make('متجر 🐈'), await make('x'.repeat(255))];
  // Few requests can spend many units.
  const three = 'query Home { a: toys { nodes { id } } b: toys { nodes { id } } c: toys { nodes { id } } }';
  for (let sent = 0; sent < 4; sent += 1) await graphql(app.url, three, greedy);
  for (let sent = 0; sent < 5; sent += 1) await rest(app.url, '/v1/toys', calm);
  for (let sent = 0; sent < 3; sent += 1) await rest(app.url, '/v1/toys/1', calm);
  await rest(app.url, '/v1/toys', { ...calm, method: 'POST', body: { name: 'Rex', categoryId: 1 } });
  visitor = await visit();
  const { page } = visitor;
  await visitor.signIn(token);
  await page.getByText('متجر 🐈 spent 57% of the quota units in the last hour.').waitFor();
  await page.getByText('getToy failed most in the last hour: 3 of 3 requests (100%).').waitFor();

  const keys = 'Usage by key in the last hour';
  expect(await rowOf(keys, greedy.key.prefix).innerText()).toMatch(
    /متجر 🐈\s+pk_\w+…\s+4\s+requests: show the requests\s+12\s+57%\s+0\s+0$/,
  );
  const first = () => page.getByRole('table', { name: keys }).getByRole('rowheader').first().innerText();
  expect(await first()).toContain('متجر 🐈');
  await page.getByRole('table', { name: keys }).getByRole('button', { name: 'Errors' }).click();
  expect(await first()).toContain('xxx');
  await page.getByRole('columnheader', { name: 'Errors' }).first().waitFor();
  const sorted = page.locator('th[aria-sort="descending"]').first();
  expect(await sorted.innerText()).toBe('Errors');
  expect(await rowOf('Usage by operation in the last hour', 'Home').innerText()).toMatch(
    /Home\s+4\s+requests: show the requests\s+12\s+57%/,
  );
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(overflow).toBeLessThanOrEqual(0);
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-52: one click leads from an error to the requests behind it; the dashboard’s own operations are one row', async () => {
  const { token } = await app.tenant();
  await rest(app.url, '/v1/toys', { token });
  for (let sent = 0; sent < 2; sent += 1) await rest(app.url, '/v1/toys/1', { token });
  visitor = await visit();
  const { page } = visitor;
  await visitor.signIn(token);
  const operations = 'Usage by operation in the last hour';
  const search = () => Object.fromEntries(new URL(page.url()).searchParams);
  await rowOf(operations, 'getToy').getByRole('link', { name: '2 errors: show the requests' }).click();
  await page.getByRole('heading', { name: 'Requests' }).waitFor();
  expect(search()).toEqual({ operation: 'getToy', outcome: 'FAILED' });
  await eventually('both requests are listed', async () => {
    return (await page.getByRole('row').filter({ hasText: 'getToy' }).count()) === 2;
  });
  await page.goBack();
  await page.getByRole('link', { name: '2 requests', exact: true }).click();
  expect(search()).toEqual({ outcome: 'FAILED' });
  await visitor.open('/?window=hour&by=status');
  await page.getByRole('link', { name: '404 not found' }).click();
  expect(search()).toEqual({ status: '404' });
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'Actions for the key test' }).click();
  await page.getByRole('menuitem', { name: 'Show requests' }).click();
  expect(Object.keys(search())).toEqual(['keyId']);

  await visitor.open('/?window=hour&by=operation&dashboard=shown');
  await rowOf(operations, 'Dashboard').waitFor();
  expect(await counted('Dashboard')).toBeGreaterThan(0);
  expect(await page.getByText('UsageOf').count()).toBe(0);
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-49: the quick start has the prefix of the key, and is copied; the addresses and the references are linked', async () => {
  const { token, slug } = await app.tenant();
  visitor = await visit();
  const { page } = visitor;
  await visitor.signIn(token);
  const quickStart = page.getByRole('region', { name: 'Quick start' });
  for (const [language, pattern] of [
    ['curl', /^API_KEY='(pk_\w+)…'[\s\S]*curl "http[^"]+\/v1\/toys\?limit=3"/],
    ['fetch', /^const key = '(pk_\w+)…'[\s\S]*await fetch\('http[^']+\/v1\/toys\?limit=3'/],
    ['GraphQL', /^API_KEY='(pk_\w+)…'[\s\S]*curl http\S+\/graphql[\s\S]*toys\(first: 3\)/],
  ] as const) {
    await choose(language);
    await quickStart.getByRole('button', { name: 'Copy the snippet' }).click();
    await quickStart.getByText('Copied the snippet').waitFor({ state: 'attached' });
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toMatch(pattern);
    expect(token).toContain(pattern.exec(copied)?.[1] ?? '?');
    expect(copied).not.toContain(token);
  }
  for (const name of ['GraphiQL', 'REST reference', 'Guides', 'GraphQL schema']) {
    const address = await quickStart.getByRole('link', { name }).getAttribute('href');
    expect((await page.request.get(`${app.url}${address}`)).status()).toBe(200);
  }
  const addresses = await page.getByRole('region', { name: 'Base addresses' }).innerText();
  expect(addresses).toContain(`${app.url}/v1`);
  expect(addresses).toContain(`${slug}.`);
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-50: a key without the scope keys sees everything except the usage by key, and is told so', async () => {
  const { token } = await app.tenant({ scopes: ['toys:read'] });
  visitor = await visit();
  const { page } = visitor;
  await visitor.signIn(token);
  await visitor.open('/?window=hour&by=key');
  await plot('Requests in the last hour, by API').waitFor();
  expect(await page.getByRole('radio', { name: 'Key', exact: true }).count()).toBe(0);
  await page.getByText('This API key may not see the usage by key.').waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-51: a spent allowance disables the button and counts down, under one banner', async () => {
  ahead.aheadMs = MINUTE_MS - (Date.now() % MINUTE_MS);
  const { token } = await app.tenant();
  visitor = await visit({ provokes: [429] });
  const { page } = visitor;
  await visitor.signIn(token);
  await plot('Requests in the last hour, by API').waitFor();
  const spend = () => graphql(app.url, '{ project { slug } }', { token });
  await eventually('the allowance is spent', async () => (await spend()).status === 429);
  await refresh();
  const button = page.getByRole('button', { name: /^Refresh/ });
  await page.getByRole('button', { name: /^Refresh \((1 min )?\d+ s\)$/ }).waitFor();
  expect(await button.isDisabled()).toBe(true);
  await page.getByText('This key has no operations left in this minute.').waitFor();
  expect(await page.locator('.notice').count()).toBe(1);
  // The page keeps its content.
  await plot('Requests in the last hour, by API').waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-79: the overview leaves out the reads of dashboards, and the switch of the page Requests shows them', async () => {
  const { token } = await app.tenant();
  for (let sent = 0; sent < 3; sent += 1) await rest(app.url, '/v1/toys', { token });
  visitor = await visit();
  const { page } = visitor;
  await visitor.signIn(token);
  await plot('Requests in the last hour, by API').waitFor();
  for (const name of ['Refresh', 'Refresh']) await page.getByRole('button', { name }).click();
  await page.waitForLoadState('networkidle');
  expect([await counted('REST'), await counted('GraphQL')]).toEqual([3, null]);
  expect(await fact('Requests')).toMatch(/^Requests\s+3\s/);
  await page.getByText('Reads of dashboards are hidden.').getByRole('button', { name: 'Show' }).click();
  await eventually('the reads are shown', async () => ((await counted('GraphQL')) ?? 0) >= 3);
  expect(new URL(page.url()).searchParams.get('dashboard')).toBe('shown');
  await page.getByText('Reads of dashboards are shown.').getByRole('button', { name: 'Hide' }).click();
  await eventually('the reads are hidden', async () => (await counted('GraphQL')) === null);
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-80: a fresh project shows the quick start first; it waits for the first request, and says by itself that it came', async () => {
  const { token } = await app.tenant();
  visitor = await visit();
  const { page } = visitor;
  await visitor.signIn(token);
  await page.getByText('Waiting for your first request…').waitFor();
  const heads = () => page.getByRole('heading', { level: 2 }).allInnerTexts();
  expect((await heads())[0]).toBe('Quick start');
  await rest(app.url, '/v1/toys', { token });
  await page.getByText('Your first request has arrived.').waitFor();
  expect((await heads())[0]).toBe('Quick start');
  await page.reload();
  await plot('Requests in the last hour, by API').waitFor();
  expect((await heads())[0]).toBe('Usage');
  expect(await page.getByText('first request').count()).toBe(0);
  expect(visitor.complaints).toEqual([]);
});

test.each([390, 1280, 1920])(
  'Dashboard-81: at %i px the overview shifts its layout by less than 0.1 until it is complete',
  async (width) => {
    const { token } = await app.tenant();
    for (let sent = 0; sent < 5; sent += 1) await rest(app.url, `/v1/toys/${sent}`, { token });
    visitor = await visit({ width });
    const { page } = visitor;
    await visitor.signIn(token);
    await page.addInitScript(() => {
      Object.assign(window, { shift: 0 });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries() as (PerformanceEntry & { value: number })[])
          (window as unknown as { shift: number }).shift += entry.value;
      }).observe({ type: 'layout-shift', buffered: true });
    });
    await page.reload();
    await plot('Requests in the last hour, by API').waitFor();
    await page.waitForLoadState('networkidle');
    const shift = await page.evaluate(() => (window as unknown as { shift: number }).shift);
    expect(shift).toBeLessThan(0.1);
  },
);

test('Dashboard-18: bars count down; a spent quota and a ban show when they end', async () => {
  // The quota spent in this minute must still be spent when the page shows it.
  ahead.aheadMs = MINUTE_MS - (Date.now() % MINUTE_MS);
  const { token } = await app.tenant({ plan: 'FREE' });
  visitor = await visit({ provokes: [429] });
  const { page } = visitor;
  await visitor.signIn(token);
  const meter = page.getByRole('meter', { name: 'This minute' });
  expect(await meter.getAttribute('aria-valuemax')).toBe('60');
  await page.getByText('This key is not banned and has no strikes.').waitFor();
  const countdown = page.locator('.quota .countdown').first();
  const before = await countdown.innerText();
  await page.waitForFunction(
    (text) => document.querySelector('.quota .countdown')?.textContent !== text,
    before,
  );

  for (let sent = 0; sent < 61; sent += 1) await rest(app.url, '/v1/toys', { token });
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page
    .getByText(/The quota of this minute is spent|temporarily banned/)
    .first()
    .waitFor();
  for (let sent = 0; sent < 60; sent += 1) {
    ahead.aheadMs += 120;
    await rest(app.url, '/v1/toys', { token });
  }
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.getByText('This API key is temporarily banned.').first().waitFor();
  await page.getByText(/^Banned, .* left$/).waitFor();
  await page.getByRole('list', { name: 'How long a ban lasts' }).waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-19: the open overview spends nothing of the plan, at most a tenth of the key’s allowance, and nothing once paused', async () => {
  const { token } = await app.tenant({ plan: 'FREE' });
  // A project without a request is looked at more often.
  await rest(app.url, '/v1/toys', { token });
  visitor = await visit();
  const { page } = visitor;
  let asked = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/graphql')) asked += 1;
  });
  await page.clock.install();
  await visitor.signIn(token);
  await plot('Requests in the last hour, by API').waitFor();
  asked = 0;
  for (let second = 0; second < 60; second += 5) {
    await page.clock.runFor(5_000);
    await page.waitForLoadState('networkidle');
  }
  expect(asked).toBeGreaterThanOrEqual(3);
  expect(asked).toBeLessThanOrEqual(6);
  const { body } = await rest(app.url, '/v1/rate_limit', { token });
  expect(body.day.remaining).toBe(999);
  for (let minute = 0; minute < 6; minute += 1) await page.clock.runFor(60_000);
  await page.getByText('Paused').waitFor();
  asked = 0;
  for (let minute = 0; minute < 5; minute += 1) await page.clock.runFor(60_000);
  expect(asked).toBe(0);
});

test('Dashboard-35: the badge says when the gateway is away, tries again with back-off, and at once when the network returns', async () => {
  const { token } = await app.tenant();
  visitor = await visit();
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
  visitor = await visit();
  const { page } = visitor;
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'API keys' }).click();
  const time = page.locator('tbody time').first();
  expect(await time.innerText()).toMatch(/^(just now|in a moment|\d+ minutes? ago|in \d+ minutes?)$/);
  await time.hover();
  expect(await page.getByRole('tooltip').innerText()).toMatch(/^\d+ \w+ \d{4}, \d\d:\d\d (UTC|GMT)$/);
  expect(visitor.complaints).toEqual([]);
});
