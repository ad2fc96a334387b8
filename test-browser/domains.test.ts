import { expect, test } from '@jest/globals';
import { Domain } from '../src/domains/store/domain.entity.js';
import {
  type DomainRig,
  letGo,
  PLATFORM_HOST,
  publishedTenant,
  startDomainRig,
} from '../test/support/domains/domain-rig.js';
import { attach, visit as visitHost } from '../test/support/domains/served-domain.js';
import { violationsOn } from './support/accessibility.js';
import { takePicture } from './support/pictures.js';
import { type Visitor, visits } from './support/visitor.js';

let rig: DomainRig;
let visitor: Visitor;
const visit = visits(async () => {
  rig = await startDomainRig('sqlite');
  letGo(rig.clock);
  return rig;
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
  visitor = await visit();
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
  expect((await visitHost(rig, 'shop.customer.test', '/v1/toys', { token: tenant.token })).status).toBe(200);

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
  expect((await visitHost(rig, 'old.customer.test', '/v1/toys')).status).toBe(401);
  await press('Apply');
  await page.getByText('Active now:').waitFor();
  await page.getByText('Saved the primary domain and redirects').waitFor();
  await page.getByText('Redirects to shop.customer.test (301)').waitFor();
  await page.getByText('Primary domain', { exact: true }).first().waitFor();
  const moved = await visitHost(rig, 'old.customer.test', '/v1/toys?limit=3');
  expect([moved.status, moved.headers.location]).toEqual([
    301,
    `https://shop.customer.test:${rig.httpsPort}/v1/toys?limit=3`,
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
  expect((await visitHost(rig, 'shop.customer.test', '/v1/toys')).status).toBe(401);
  await press('Actions for shop.customer.test');
  await page.getByRole('menuitem', { name: 'Remove…' }).click();
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('Removed shop.customer.test').waitFor();
  await page.getByRole('link', { name: 'shop.customer.test', exact: true }).waitFor({ state: 'detached' });
  await expect(visitHost(rig, 'shop.customer.test', '/v1/toys')).rejects.toThrow();
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-20: an open page shows a domain go from DNS to active when its records appear later', async () => {
  const tenant = await publishedTenant(rig);
  const ahead = letGo(rig.clock);
  visitor = await visit();
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

test('Dashboard-21: a plan without domains is told what is missing', async () => {
  const free = await rig.tenant({ plan: 'FREE' });
  visitor = await visit();
  await visitor.signIn(free.token);
  await visitor.page.getByRole('link', { name: 'Domains', exact: true }).click();
  await visitor.page.getByText('Custom domains need the plan Pro or above.').waitFor();
  expect(await visitor.page.getByRole('button', { name: 'Add domain' }).count()).toBe(0);
  expect(await visitor.page.locator('main').innerText()).not.toMatch(/Add your own domain|Publish/);
  await visitor.page.getByRole('link', { name: 'Overview' }).click();
  await visitor.page.getByText('A domain of your own needs the plan Pro or above.').waitFor();
  await visitor.leave();
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-83: the first domain publishes a project that was never published; a name that is refused does not', async () => {
  const owner = await rig.tenant({ plan: 'PRO' });
  visitor = await visit();
  const { page } = visitor;
  await visitor.signIn(owner.token);
  await page.getByRole('link', { name: 'Domains', exact: true }).click();
  await press('Add the first domain');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Its first domain publishes it').waitFor();
  await takePicture(page, 'domains-publish');
  const publishedAtMs = async () => (await rig.app.services.projects.get(owner.projectId)).publishedAtMs;
  const field = dialog.getByLabel('Domain or subdomain');
  const publish = dialog.getByRole('button', { name: 'Publish and add domain' });
  await field.fill('my_shop.customer.test');
  await publish.click();
  await dialog.getByRole('alert').getByText('underscore').waitFor();
  expect(await publishedAtMs()).toBeNull();
  await field.fill('first.customer.test');
  await publish.click();
  await page.getByRole('heading', { level: 1, name: 'first.customer.test' }).waitFor();
  expect(await publishedAtMs()).not.toBeNull();
  await page.getByRole('link', { name: 'All domains' }).click();
  await press('Add domain');
  await dialog.getByRole('button', { name: 'Add domain', exact: true }).waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-84: a pasted link is understood as its host, and the dialog says what is left out', async () => {
  const tenant = await publishedTenant(rig);
  visitor = await visit();
  const { page } = visitor;
  await visitor.signIn(tenant.token);
  await page.getByRole('link', { name: 'Domains', exact: true }).click();
  await press('Add domain');
  const dialog = page.getByRole('dialog');
  const field = dialog.getByLabel('Domain or subdomain');
  for (const [typed, hint] of [
    ['shop.example.com', 'Such as shop.example.com, or example.com.'],
    ['https://shop.example.com/', 'Such as shop.example.com, or example.com.'],
    ['www.example.org/shop', 'Adds www.example.org: a domain has no /shop.'],
    ['http://www.example.org:8080/?a=b', 'Adds www.example.org: a domain has no :8080/?a=b.'],
  ] as const) {
    await field.fill(typed);
    expect([typed, await dialog.locator('.field .hint').innerText()]).toEqual([typed, hint]);
  }
  await field.fill('https://me@www.example.org/shop');
  await dialog.getByRole('button', { name: 'Add domain' }).click();
  await dialog.getByRole('alert').getByText('user name').waitFor();
  await field.fill('https://link.customer.test/shop?from=mail#top');
  await takePicture(page, 'domains-link');
  await dialog.getByRole('button', { name: 'Add domain' }).click();
  await page.getByRole('heading', { level: 1, name: 'link.customer.test' }).waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-85: one button checks the domain: Verify, and Re-verify while only the certificate is missing', async () => {
  const tenant = await publishedTenant(rig);
  const { id } = await attach(rig, tenant.projectId, { hostname: 'one.example.com', certificate: false });
  const domains = rig.db.repository(Domain);
  visitor = await visit();
  const { page } = visitor;
  await visitor.signIn(tenant.token);
  const buttons = async () => {
    await visitor.open(`/settings/domains/${id}`);
    await page.getByText('DNS last checked').or(page.getByText('DNS not checked yet')).waitFor();
    const names = await page.locator('section[aria-label="Progress"] button').allInnerTexts();
    return [names, await page.getByText('after 30 minutes').count()];
  };
  expect(await buttons()).toEqual([['Re-verify'], 1]);
  await domains.update({ id }, { dns: 'PENDING' });
  expect(await buttons()).toEqual([['Verify'], 0]);
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-36: a wrong redirect is explained beside its control, in words and with the names of the domains', async () => {
  const tenant = await publishedTenant(rig);
  for (const hostname of ['a.example.com', 'b.example.com', 'c.example.com']) {
    await attach(rig, tenant.projectId, { hostname });
  }
  visitor = await visit();
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
