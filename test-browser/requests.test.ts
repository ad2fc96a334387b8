import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { ERRORS } from '../src/ground/kernel/errors.js';
import { createTestDatabase } from '../test/support/databases.js';
import { letGo } from '../test/support/domains/domain-rig.js';
import { createTenant, type GatewayProcess, startGateway } from '../test/support/gateway-process.js';
import { graphql, rest } from '../test/support/http/client.js';
import { freePort } from '../test/support/servers/daemon.js';
import { startApp, TEST_ACTOR, type Tenant, type TestApp } from '../test/support/start-app.js';
import { countedRequest } from '../test/support/usage/counted-request.js';
import { violationsOn } from './support/accessibility.js';
import { logRequests } from './support/logged-requests.js';
import { takePicture } from './support/pictures.js';
import { type Visitor, visits } from './support/visitor.js';

let app: TestApp;
let visitor: Visitor;
const visit = visits(async () => {
  app = await startApp();
  letGo(app.clock);
  return app;
});

async function openRequests({ token }: Pick<Tenant, 'token'>, query = ''): Promise<void> {
  await visitor.signIn(token);
  if (query === '') await visitor.page.getByRole('link', { name: 'Requests', exact: true }).click();
  else await visitor.open(`/requests${query}`);
}

const operations = () => visitor.page.locator('tbody th').allInnerTexts();
const shows = (count: number) =>
  visitor.page.waitForFunction(
    (wanted) => document.querySelectorAll('tbody .request-row').length === wanted,
    count,
  );
const address = () => new URL(visitor.page.url()).search;

test('RequestsPage-1: a new request appears by itself, with its key, API, operation, status and code', async () => {
  const tenant = await app.tenant();
  const { key, token } = await app.app.services.apiKeys.create(TEST_ACTOR, {
    projectId: tenant.projectId,
    name: 'storefront',
    scopes: ['toys:read'],
    expiresAtMs: null,
  });
  visitor = await visit();
  await openRequests(tenant);
  const { page } = visitor;
  await page.getByText('No request yet').waitFor();
  await page.getByText('Live', { exact: true }).waitFor();
  await rest(app.url, '/v1/toys/1', { token });
  await shows(1);
  const row = await page.locator('.request-row').innerText();
  expect(row).toMatch(/404\s+NOT_FOUND\s+getToy\s+REST\s+storefront/);
  expect(row).toContain(key.prefix);
  await graphql(app.url, 'query Shelf { toys(first: 1) { nodes { id } } }', { token });
  await shows(2);
  expect(await operations()).toEqual(['Shelf', 'getToy']);
  expect(visitor.complaints).toEqual([]);
});

test('RequestsPage-14: at 1280 px the operation alone is cut: times and keys are shown in full', async () => {
  const { token, projectId } = await app.tenant();
  const wanted = {
    projectId,
    name: 'storefront, staging',
    scopes: ['toys:read'] as const,
    expiresAtMs: null,
  };
  const { key } = await app.app.services.apiKeys.create(TEST_ACTOR, wanted);
  const facts = {
    operation: 'apiKeys,domains,toys,project,rateLimit',
    status: 429,
    code: 'RATE_LIMITED_DAY',
  };
  const requests = [facts, { operation: 'listToys' }];
  await logRequests(app, { projectId, keyId: key.id }, requests, Date.now() - 38 * 60_000);
  visitor = await visit();
  await openRequests({ token });
  await shows(2);
  const { page } = visitor;
  const cut = () =>
    page
      .locator('tbody .request-row :is(.request-time, .request-time time, bdi, .request-key)')
      .evaluateAll((shown) =>
        shown.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.textContent),
      );
  expect(await page.locator('.request-time time').first().innerText()).toBe('38 minutes ago');
  expect(await cut()).toEqual([]);
  expect(await operations()).toContain('listToys');
  expect(visitor.complaints).toEqual([]);
});

test('RequestsPage-2: the filters are in the URL under the names of RequestFilter, and survive Back and a reload', async () => {
  const tenant = await app.tenant();
  await logRequests(app, tenant, [
    {},
    { operation: 'getToy', status: 404, code: 'NOT_FOUND', outcome: 'failed' },
    { door: 'graphql', operation: 'Shelf' },
    { status: 429, code: 'RATE_LIMITED_DAY', outcome: 'refused', units: 0 },
    { keyId: 1n, requestId: 'the-wanted-one' },
  ]);
  for (const path of ['/v1/toys/1', '/v1/toys']) await rest(app.url, path, tenant);
  visitor = await visit();
  const { page } = visitor;
  await openRequests(tenant);
  await shows(7);
  await page.getByRole('radio', { name: 'Failed' }).check();
  await shows(2);
  expect(address()).toBe('?outcome=FAILED');
  await page.reload();
  await shows(2);
  await page.getByLabel('Operation').selectOption('getToy');
  await page.getByLabel('Status').selectOption('404');
  await page.getByLabel('API', { exact: true }).selectOption('REST');
  await page.getByLabel('API key').selectOption({ label: `test (${tenant.token.slice(0, 9)}…)` });
  await shows(2);
  const expected = `?operation=getToy&outcome=FAILED&status=404&door=REST&keyId=${tenant.keyId}`;
  expect([...new URLSearchParams(address())].sort()).toEqual([...new URLSearchParams(expected)].sort());
  await page.goBack();
  expect(address()).not.toContain('keyId');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await shows(7);
  expect(address()).toBe('');
  await page.getByLabel('Request id').fill('the-wanted-one');
  await page.keyboard.press('Enter');
  await shows(1);
  expect(address()).toBe('?requestId=the-wanted-one');
  await visitor.open('/requests?status=teapot&outcome=x&door=GRAPHQL');
  await shows(1);
  expect(await operations()).toEqual(['Shelf']);
  expect(visitor.complaints).toEqual([]);
});

test('RequestsPage-3: every code opens to its meaning and what to do, and to the requests like it, with the keyboard too', async () => {
  const tenant = await app.tenant();
  const codes = Object.entries(ERRORS).map(([code, { status }]) => ({
    status,
    code: code.toUpperCase(),
    outcome: 'failed' as const,
    operation: `with_${code}`,
  }));
  await logRequests(app, tenant, codes);
  visitor = await visit();
  const { page } = visitor;
  await openRequests(tenant);
  await shows(codes.length);
  const details = page.locator('.request-details');
  const texts = new Set<string>();
  for (const { operation, code } of codes) {
    const button = page.getByRole('button', { name: operation, exact: true });
    await button.focus();
    await page.keyboard.press('Enter');
    await details.getByRole('heading', { name: code }).waitFor();
    expect(await button.getAttribute('aria-expanded')).toBe('true');
    const [meaning, remedy] = await details.locator('section > p').allInnerTexts();
    texts.add(`${meaning} ${remedy}`);
    expect(remedy).toMatch(/\.$/);
    await page.keyboard.press('Enter');
    await details.waitFor({ state: 'detached' });
  }
  expect(texts.size).toBe(codes.length);
  await page.getByRole('cell', { name: 'KEY_BANNED' }).click();
  expect(await details.innerText()).toMatch(/Request id\s+req-\d+/);
  expect(await details.innerText()).toMatch(/\d+ \w+ 20\d\d, \d\d:\d\d:\d\d\.\d{3} UTC/);
  await details.getByRole('button', { name: 'Copy the request id' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^req-\d+$/);
  expect(await violationsOn(page)).toEqual([]);
  await details.getByRole('link', { name: 'Status 429', exact: true }).click();
  await shows(5);
  expect(address()).toBe('?status=429');
  expect(visitor.complaints).toEqual([]);
});

test('RequestsPage-4: older requests load on demand; how many were left out is said', async () => {
  const tenant = await app.tenant();
  await logRequests(
    app,
    tenant,
    Array.from({ length: 170 }, (_, at) => ({ operation: `op${at}` })),
  );
  for (let at = 0; at < 170 + 1_284; at += 1) {
    app.app.services.usage.count(countedRequest({ projectId: tenant.projectId, atMs: Date.now() }));
  }
  visitor = await visit();
  const { page } = visitor;
  await openRequests(tenant);
  await page.getByText('1,284 requests of the last 48 hours are not in the log.').waitFor();
  const older = page.getByRole('button', { name: 'Load older requests' });
  const before = await page.locator('.request-row').count();
  await older.click();
  await page.waitForFunction((count) => document.querySelectorAll('.request-row').length > count, before);
  while ((await older.count()) > 0) await older.click().catch(() => {});
  await page.getByText('No older requests in the log.').waitFor();
  expect(await operations()).toEqual(Array.from({ length: 170 }, (_, at) => `op${at}`));
  expect(visitor.complaints).toEqual([]);
});

test('RequestsPage-5: while a request is open, newer ones wait and move nothing', async () => {
  const tenant = await app.tenant();
  await rest(app.url, '/v1/toys', tenant);
  visitor = await visit();
  const { page } = visitor;
  await openRequests(tenant);
  await shows(1);
  await page.getByRole('button', { name: 'listToys' }).click();
  await rest(app.url, '/v1/toys/1', tenant);
  const newer = page.getByRole('button', { name: /^Show .*newer/ });
  await newer.waitFor();
  expect(await operations()).toEqual(['listToys']);
  await newer.click();
  await shows(2);
  expect(visitor.complaints).toEqual([]);
});

test('RequestsPage-6: all requests that match are exported as CSV', async () => {
  const tenant = await app.tenant();
  const failed = { operation: 'getToy', status: 404, code: 'NOT_FOUND', outcome: 'failed' as const };
  await logRequests(
    app,
    tenant,
    Array.from({ length: 260 }, (_, at) => (at % 2 === 0 ? failed : {})),
  );
  visitor = await visit();
  const { page } = visitor;
  await openRequests(tenant, '?outcome=FAILED');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export CSV' }).click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/^requests-tenant-\d+-\d{4}-\d\d-\d\d-\d{4}\.csv$/);
  const [header, ...lines] = (await readFile(await file.path(), 'utf8')).trimEnd().split('\n');
  expect(header).toBe(
    'at,requestId,door,operation,status,code,outcome,durationMs,units,keyId,keyName,keyPrefix',
  );
  expect(lines).toHaveLength(130);
  const { prefix } = await app.app.services.apiKeys.get(tenant.keyId);
  expect(lines[0]).toMatch(
    new RegExp(`^20.*Z,req-\\d+,REST,getToy,404,NOT_FOUND,FAILED,1.84,1,${tenant.keyId},test,${prefix}$`),
  );
  await page.getByText('Exported 130 requests.').waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('RequestsPage-7: an empty list says why: no scope, no match, or no log', async () => {
  const { token } = await app.tenant({ scopes: ['toys:read'] });
  visitor = await visit();
  await openRequests({ token });
  await visitor.page.getByText('It lacks the scope keys').waitFor();
  await visitor.leave();

  const owner = await app.tenant();
  visitor = await visit();
  await openRequests(owner, '?status=418');
  await visitor.page.getByText('No request matches these filters').waitFor();
  await visitor.page.getByRole('button', { name: 'Show all requests' }).click();
  await visitor.page.getByText('No request yet').waitFor();
  await visitor.leave();

  const silent = await startApp({ env: { REQUEST_LOG: 'off' } });
  letGo(silent.clock);
  try {
    visitor = await visit({ url: silent.url });
    await openRequests(await silent.tenant());
    await visitor.page.getByText('This gateway keeps no log of requests.').waitFor();
    await visitor.page.getByText('REQUEST_LOG=off').waitFor();
    expect(await violationsOn(visitor.page)).toEqual([]);
    expect(visitor.complaints).toEqual([]);
    await visitor.leave();
  } finally {
    await silent.stop();
  }
});

test('RequestsPage-8: a key that is revoked while the list is open ends the session', async () => {
  const tenant = await app.tenant();
  visitor = await visit({ provokes: [401] });
  await openRequests(tenant);
  await visitor.page.getByText('No request yet').waitFor();
  await app.app.services.apiKeys.revoke(TEST_ACTOR, tenant.keyId);
  await visitor.page.getByText('is no longer accepted').waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('RequestsPage-10: the list stays while the gateway is away, the badge says so, and it goes on when the gateway is back', async () => {
  const database = await createTestDatabase('sqlite');
  const env = { DATABASE_URL: database.url, PORT: String(await freePort()) };
  const first = await startGateway({ env });
  const { url } = first;
  let second: GatewayProcess | undefined;
  try {
    const token = await createTenant(database.url);
    await rest(url, '/v1/toys', { token });
    visitor = await visit({ url, provokes: [503] });
    await openRequests({ token });
    const { page } = visitor;
    await shows(1);
    await first.kill('SIGKILL');
    await page.getByText(/^Reconnects in/).waitFor();
    expect(await operations()).toEqual(['listToys']);
    expect(await page.locator('.notice').count()).toBe(0);
    second = await startGateway({ env });
    await page.getByText('Live', { exact: true }).waitFor({ timeout: 70_000 });
    await rest(url, '/v1/toys/1', { token });
    await shows(2);
    // The browser logs each failed connection.
    expect(visitor.complaints.filter((text) => !text.includes('net::ERR_'))).toEqual([]);
  } finally {
    await visitor.leave();
    await first.kill('SIGKILL');
    await second?.kill('SIGKILL');
    await database.remove();
  }
});

test('RequestsPage-11: successful reads of dashboards are hidden and counted; a click shows them, another hides them', async () => {
  const tenant = await app.tenant();
  const own = { door: 'graphql' as const, operation: 'Session', units: 0 };
  await logRequests(app, tenant, [
    {},
    own,
    own,
    { ...own, outcome: 'failed', code: 'INTERNAL', status: 500 },
  ]);
  visitor = await visit();
  const { page } = visitor;
  await openRequests(tenant);
  await shows(2);
  await page.getByText(/reads of dashboards are hidden/).waitFor();
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await page.waitForFunction(() => document.querySelectorAll('.request-row').length >= 4);
  expect(address()).toBe('?dashboard=shown');
  await page.getByRole('button', { name: 'Hide', exact: true }).click();
  await shows(2);
  await visitor.open('/requests?operation=Session');
  await page.waitForFunction(() => document.querySelectorAll('.request-row').length >= 3);
  expect(visitor.complaints).toEqual([]);
});

test('RequestsPage-9: names of keys in any script, and of any length, stay on the page', async () => {
  const tenant = await app.tenant();
  const names = ['x'.repeat(255), 'متجر الحيوانات', '🐶'.repeat(60)];
  for (const name of names) {
    const { key } = await app.app.services.apiKeys.create(TEST_ACTOR, {
      projectId: tenant.projectId,
      name,
      scopes: ['toys:read'],
      expiresAtMs: null,
    });
    await logRequests(
      app,
      { ...tenant, keyId: key.id },
      [{ operation: 'o'.repeat(100) }],
      Date.now() - names.indexOf(name) * 5_000,
    );
  }
  for (const width of [390, 1280, 1600]) {
    visitor = await visit({ width });
    await openRequests(tenant, `?operation=${'o'.repeat(100)}`);
    await shows(3);
    await visitor.page.locator('.row-open').first().click();
    await takePicture(visitor.page, `requests-names-${width}`, { fullPage: true });
    const overflow = await visitor.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
    expect(visitor.complaints).toEqual([]);
    await visitor.leave();
  }
});

test.each([390, 1280, 1920])(
  'RequestsPage-12: at %i px every closed row is one line with the longest allowed names, and the open row has all of them',
  async (width) => {
    const tenant = await app.tenant();
    const longest = { operation: 'o'.repeat(100), requestId: 'i'.repeat(64) };
    const { key } = await app.app.services.apiKeys.create(TEST_ACTOR, {
      projectId: tenant.projectId,
      name: 'k'.repeat(255),
      scopes: ['toys:read'],
      expiresAtMs: null,
    });
    await logRequests(app, tenant, [
      { keyId: key.id, ...longest, status: 400, code: 'GRAPHQL_VALIDATION_FAILED', outcome: 'failed' },
      { keyId: key.id, ...longest, door: 'graphql', code: 'PERSISTED_QUERY_NOT_FOUND', outcome: 'failed' },
      { operation: 'createToy', status: 201, durationUs: 4_800_000 },
      { operation: 'Shelf', door: 'graphql' },
    ]);
    visitor = await visit({ width });
    const { page } = visitor;
    await openRequests(tenant, '?dashboard=shown');
    await page.getByText('createToy').first().waitFor();
    const rows = page.locator('.request-row');
    const heights = await rows.evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height));
    // The last row has no line below it.
    expect(Math.max(...heights) - Math.min(...heights)).toBeLessThanOrEqual(1);
    expect(Math.max(...heights)).toBeLessThan(48);
    const isWhole = (text: string) =>
      page
        .getByText(text, { exact: true })
        .first()
        .evaluate((element) => element.scrollWidth <= element.clientWidth || element.clientWidth === 0);
    for (const short of ['createToy', 'Shelf', '201'])
      expect([short, await isWhole(short)]).toEqual([short, true]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(
      0,
    );
    const error = rows.filter({ hasText: 'PERSISTED_QUERY_NOT_FOUND' });
    expect(await error.locator('.badge').innerText()).toBe('PERSISTED_QUERY_NOT_FOUND');
    expect(await error.locator('.badge-bad').getAttribute('title')).toBe('HTTP 200');
    expect(await error.locator('.request-operation').getAttribute('title')).toBe(longest.operation);
    await error.getByRole('button').click();
    const open = await page.locator('.request-details').innerText();
    for (const text of [longest.operation, 'k'.repeat(255), longest.requestId]) expect(open).toContain(text);
    expect(visitor.complaints).toEqual([]);
  },
);
