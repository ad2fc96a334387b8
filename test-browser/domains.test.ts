import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../test/support/browser.js';
import {
  type DomainRig,
  letGo,
  PLATFORM_HOST,
  publishedTenant,
  startDomainRig,
} from '../test/support/domains/domain-rig.js';
import { attach, visit as visitHost } from '../test/support/domains/served-domain.js';
import { violationsOn } from './support/accessibility.js';
import { type Visitor, visit } from './support/visitor.js';

let rig: DomainRig;
let browser: Browser;
let visitor: Visitor;
beforeAll(async () => {
  rig = await startDomainRig('sqlite');
  letGo(rig.clock);
  browser = await startBrowser();
}, 120_000);
afterEach(() => visitor?.leave());
afterAll(async () => {
  await browser?.close();
  await rig?.stop();
});

const press = (name: string | RegExp) => visitor.page.getByRole('button', { name }).first().click();
const add = async (hostname: string, typed = hostname) => {
  const { page } = visitor;
  await page.getByRole('link', { name: 'Domains', exact: true }).click();
  await press('Add domain');
  await page.getByLabel('Domain or subdomain').fill(typed);
  await page.getByRole('dialog').getByRole('button', { name: 'Add domain' }).click();
  await page.getByRole('heading', { level: 1, name: hostname }).waitFor();
};

test('Dashboard-4: a domain is added, diagnosed, corrected, certified, made primary, redirected and removed', async () => {
  const tenant = await publishedTenant(rig);
  visitor = await visit(browser, rig.url);
  const { page } = visitor;
  let loads = 0;
  page.on('load', () => {
    loads += 1;
  });
  await visitor.signIn(tenant.token);
  await add('shop.customer.test', 'https://Shop.customer.test/');
  const [, row] = await page.getByRole('row').allInnerTexts();
  expect(row).toMatch(new RegExp(`CNAME[\\s\\S]*shop.customer.test[\\s\\S]*${PLATFORM_HOST}[\\s\\S]*3600`));
  await press('Copy the short name of the CNAME record');
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('shop');
  await press('Copy the value of the CNAME record');
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(PLATFORM_HOST);
  await page.getByText('Message for your DNS administrator').click();
  await press(/^Copy the message$/);
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(
    /Type: {2}CNAME\n {2}Name: {2}shop/,
  );

  rig.dns.set('shop.customer.test', 'A', '203.0.113.7');
  await press('Verify');
  await page.getByText('which block the CNAME').first().waitFor();
  const finding = page.getByRole('article').first();
  expect(await finding.innerText()).toMatch(
    /What to do\s+Delete these records[\s\S]*Who must act\s+The administrator/,
  );
  // The evidence stays folded until the visitor opens it.
  expect(await finding.getByText('203.0.113.7 (TTL').isVisible()).toBe(false);
  await finding.getByText('Evidence').click();
  expect(await finding.getByText('203.0.113.7 (TTL').isVisible()).toBe(true);

  rig.dns.remove('shop.customer.test');
  rig.dns.set('shop.customer.test', 'CNAME', PLATFORM_HOST);
  await press('Verify');
  await page.getByText('Served over HTTPS').waitFor({ timeout: 20_000 });
  await page.getByText('Pebble Intermediate').first().waitFor();
  expect(await page.locator('.step-state').allInnerTexts()).toEqual(['done', 'done', 'done']);
  expect(await page.locator('.timeline code').allInnerTexts()).toEqual([
    'certificate.issued',
    'certificate.ordered',
    'domain.verified',
    'domain.check_failed',
    'domain.added',
  ]);
  const visitLink = page.getByRole('link', { name: 'shop.customer.test (opens in a new tab)' });
  expect(await visitLink.getAttribute('href')).toBe('https://shop.customer.test');
  expect(loads).toBe(1);
  expect((await visitHost(rig, 'shop.customer.test', '/v1/pets', { token: tenant.token })).status).toBe(200);

  rig.dns.set('old.customer.test', 'CNAME', PLATFORM_HOST);
  await add('old.customer.test');
  await press('Verify');
  // A name that already pointed here before it was added needs proof: another project could own it.
  const proof = page.getByRole('row').filter({ hasText: 'TXT' });
  if (await page.getByText('Proof of ownership needed').isVisible()) {
    const [, name = '', value = ''] = await proof.locator('code').allInnerTexts();
    rig.dns.set(name, 'TXT', value);
    await press('Verify');
  }
  await page.getByText('Served over HTTPS').waitFor({ timeout: 20_000 });

  await page.getByRole('link', { name: 'All domains' }).click();
  await page.getByLabel('Primary domain', { exact: true }).selectOption('shop.customer.test');
  await page.getByLabel('What old.customer.test does').selectOption('shop.customer.test');
  await press('Preview');
  await page.getByText('https://old.customer.test/a?b → 301 https://shop.customer.test/a?b').waitFor();
  expect((await visitHost(rig, 'old.customer.test', '/v1/pets')).status).toBe(401);
  await press('Apply');
  await page.getByText('Active now:').waitFor();
  await page.getByText('Saved the primary domain and redirects').waitFor();
  await page.getByText('Redirects to shop.customer.test (301)').waitFor();
  await page.getByText('Primary domain', { exact: true }).first().waitFor();
  const moved = await visitHost(rig, 'old.customer.test', '/v1/pets?limit=3');
  expect([moved.status, moved.headers.location]).toEqual([
    301,
    `https://shop.customer.test:${rig.httpsPort}/v1/pets?limit=3`,
  ]);
  await page.getByRole('link', { name: 'Overview' }).click();
  await press('Copy the Primary domain address');
  const primary = `https://shop.customer.test:${rig.httpsPort}`;
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(primary);
  await page.goBack();

  await press('Actions for shop.customer.test');
  await page.getByRole('menuitem', { name: 'Remove…' }).click();
  const dialog = page.getByRole('alertdialog');
  await dialog.getByText('every request to https://shop.customer.test').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect((await visitHost(rig, 'shop.customer.test', '/v1/pets')).status).toBe(401);
  await press('Actions for shop.customer.test');
  await page.getByRole('menuitem', { name: 'Remove…' }).click();
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('Removed shop.customer.test').waitFor();
  await page.getByRole('link', { name: 'shop.customer.test', exact: true }).waitFor({ state: 'detached' });
  await expect(visitHost(rig, 'shop.customer.test', '/v1/pets')).rejects.toThrow();
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-20: an open page shows a domain go from DNS to active when its records appear later', async () => {
  const tenant = await publishedTenant(rig);
  const ahead = letGo(rig.clock);
  visitor = await visit(browser, rig.url);
  const { page } = visitor;
  await page.clock.install();
  await visitor.signIn(tenant.token);
  await add('later.customer.test');
  await page.getByText('Waiting for DNS').waitFor();
  rig.dns.set('later.customer.test', 'CNAME', PLATFORM_HOST);
  // The gateway checks automatically after half a minute; the page reads the result just afterwards.
  ahead.aheadMs = 31_000;
  for (let waited = 0; waited < 90 && !(await page.getByText('Served over HTTPS').isVisible()); waited += 1) {
    await page.clock.runFor(2_000);
    await page.waitForTimeout(150);
  }
  await page.getByText('Served over HTTPS').waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-21: a plan without domains and a project that was never published are told what is missing', async () => {
  const free = await rig.tenant({ plan: 'FREE' });
  visitor = await visit(browser, rig.url);
  await visitor.signIn(free.token);
  await visitor.page.getByRole('link', { name: 'Domains', exact: true }).click();
  await visitor.page.getByText('Custom domains need the plan Pro or above.').waitFor();
  expect(await visitor.page.getByRole('button', { name: 'Add domain' }).count()).toBe(0);
  expect(await visitor.page.locator('main').innerText()).not.toMatch(/Add your own domain|Publish/);
  await visitor.page.getByRole('link', { name: 'Overview' }).click();
  await visitor.page.getByText('A domain of your own needs the plan Pro or above.').waitFor();
  await visitor.leave();

  const unpublished = await rig.tenant({ plan: 'PRO' });
  visitor = await visit(browser, rig.url);
  await visitor.signIn(unpublished.token);
  await visitor.page.getByRole('link', { name: 'Domains', exact: true }).click();
  await press('Publish');
  await visitor.page.getByRole('button', { name: 'Add domain' }).waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-36: a wrong redirect is explained beside its control, in words and with the names of the domains', async () => {
  const tenant = await publishedTenant(rig);
  for (const hostname of ['a.example.com', 'b.example.com', 'c.example.com']) {
    await attach(rig, tenant.projectId, { hostname });
  }
  visitor = await visit(browser, rig.url);
  const { page } = visitor;
  await visitor.signIn(tenant.token);
  await page.getByRole('link', { name: 'Domains', exact: true }).click();
  await page.getByLabel('Primary domain', { exact: true }).selectOption('a.example.com');
  for (const [from, to] of ['ab', 'bc', 'ca']) {
    await page.getByLabel(`What ${from}.example.com does`).selectOption(`${to}.example.com`);
  }
  await press('Preview');
  const problems = page.locator('.problem');
  await problems.first().waitFor();
  expect(await problems.allInnerTexts()).toEqual([
    'a.example.com can’t be the primary domain while it redirects to b.example.com. Let it serve the project, or choose another one.',
    expect.stringMatching(/^Visitors would never arrive: c\.example\.com → a\.[^→]*→ b\.[^→]*→ c\./),
  ]);
  expect(await page.locator('main').innerText()).not.toMatch(/redirects\[/);
  expect(await violationsOn(page)).toEqual([]);
  await page.getByLabel('What c.example.com does').selectOption('');
  await page.getByLabel('Primary domain', { exact: true }).selectOption('c.example.com');
  await press('Preview');
  await page.getByText('This would happen:').waitFor();
  expect(await problems.count()).toBe(0);
  expect(visitor.complaints).toEqual([]);
});
