import { expect, test } from '@jest/globals';
import { letGo, publishedTenant } from '../test/support/domains/domain-rig.js';
import { eventually } from '../test/support/eventually.js';
import { graphql, rest } from '../test/support/http/client.js';
import { startApp, TEST_ACTOR, type Tenant, type TestApp } from '../test/support/start-app.js';
import { violationsOn } from './support/accessibility.js';
import { takePicture } from './support/pictures.js';
import { type Visitor, visits } from './support/visitor.js';

let app: TestApp;
let ahead: { aheadMs: number };
let visitor: Visitor;
const visit = visits(async () => {
  app = await startApp({ env: { PLATFORM_HOST: 'edge.test' } });
  ahead = letGo(app.clock);
  return app;
});

const read = (token: string) => rest(app.url, '/v1/toys', { token });

async function leakedKeyOf({ projectId }: Tenant): Promise<string> {
  const wanted = { projectId, name: 'leaked', scopes: ['toys:read'] as const, expiresAtMs: null };
  return (await app.app.services.apiKeys.create(TEST_ACTOR, wanted)).token;
}

/** Sets a day quota of five requests for toys, and spends it. */
async function spendDay({ slug }: Tenant, token: string): Promise<void> {
  const quota = { plan: 'ENTERPRISE', perMinute: 60, perDay: 5 } as const;
  await app.app.services.projects.change(TEST_ACTOR, slug, quota);
  await eventually('the day is spent', async () => (await read(token)).body.code === 'rate_limited_day');
}

async function ban(token: string): Promise<void> {
  ahead.aheadMs += 1_500;
  await eventually('the key is banned', async () => (await read(token)).body.code === 'key_banned');
}

async function revokeLeakedKey(): Promise<void> {
  const { page } = visitor;
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'Actions for the key leaked' }).click();
  await page.getByRole('menuitem', { name: 'Revoke…' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('row').filter({ hasText: 'leaked' }).getByText('revoked').waitFor();
}

test('Dashboard-14: with a spent day quota the dashboard opens, says what still works, and revokes the key that spent it', async () => {
  const owner = await publishedTenant(app);
  const leaked = await leakedKeyOf(owner);
  await spendDay(owner, leaked);
  visitor = await visit({ provokes: [429] });
  const { page } = visitor;
  await visitor.signIn(owner.token);
  await page.getByText('The quota of today is spent.').waitFor();
  await page.getByText('Keys, domains and usage still work').waitFor();
  await page.getByRole('img', { name: 'Requests in the last hour, by API' }).waitFor();
  expect(await violationsOn(page)).toEqual([]);
  await takePicture(page, 'spent-day-overview', { fullPage: true });
  await revokeLeakedKey();
  await takePicture(page, 'spent-day-keys', { fullPage: true });
  expect((await read(leaked)).status).toBe(401);
  await page.getByRole('link', { name: 'Toys', exact: true }).click();
  await page.getByText('Toys can be read and changed again from midnight UTC on.').waitFor();
  await takePicture(page, 'spent-day-toys', { fullPage: true });
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-15: with a banned key the dashboard opens, says what still works, and revokes another key and its own', async () => {
  const owner = await publishedTenant(app);
  const leaked = await leakedKeyOf(owner);
  await spendDay(owner, owner.token);
  await ban(owner.token);
  visitor = await visit({ provokes: [429, 401] });
  const { page } = visitor;
  await visitor.signIn(owner.token);
  await page.getByText('This API key is temporarily banned.').first().waitFor();
  await page.getByText('Keys, domains and usage still work').waitFor();
  await page.getByText(/^Banned, .* left$/).waitFor();
  await takePicture(page, 'banned-overview', { fullPage: true });
  await revokeLeakedKey();
  expect((await read(leaked)).status).toBe(401);
  await page.getByRole('link', { name: 'Domains' }).click();
  await page.getByRole('button', { name: /Add/ }).first().waitFor();
  await page.getByRole('link', { name: 'API keys' }).click();
  await page
    .getByRole('row')
    .filter({ hasText: 'this session' })
    .getByRole('button', { name: /^Actions for/ })
    .click();
  await page.getByRole('menuitem', { name: 'Revoke…' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('You revoked the key of this session.').waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-33: a spent quota has one banner; the button waits for the end of the minute, and then works', async () => {
  const owner = await app.tenant({ plan: 'FREE' });
  visitor = await visit({ provokes: [429] });
  const { page } = visitor;
  await visitor.signIn(owner.token);
  // The quota spent in this minute must still be spent when the page shows it.
  ahead.aheadMs += 60_000 - ((Date.now() + ahead.aheadMs) % 60_000);
  await eventually('the minute is spent', async () => (await read(owner.token)).status === 429);
  await page.getByRole('link', { name: 'Toys', exact: true }).click();
  const retry = page.getByRole('button', { name: /^Try again/ });
  await page.getByText('The quota of this minute is spent.').waitFor();
  expect(await retry.innerText()).toMatch(/^Try again \((1 min )?\d+ s\)$/);
  expect(await retry.isDisabled()).toBe(true);
  expect(await page.locator('.notice').count()).toBe(1);
  expect(await violationsOn(page)).toEqual([]);
  const before = await retry.innerText();
  await page.waitForFunction(
    (text) => [...document.querySelectorAll('button')].every((button) => button.textContent !== text),
    before,
  );
  ahead.aheadMs += 60_000;
  await page.clock.install();
  // Time stands still between the steps, so the page cannot start its own next read while the test clicks.
  await page.clock.pauseAt(Date.now() + 1_000);
  const button = page.getByRole('button', { name: 'Try again', exact: true });
  const toys = page.getByText('No toy yet');
  await eventually('the minute is over', async () => {
    await page.clock.runFor(1_000);
    return (await button.isVisible()) || (await toys.isVisible());
  });
  if (!(await toys.isVisible())) await button.click();
  await toys.waitFor();
  expect(await page.locator('.notice').count()).toBe(0);
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-34: a key without operations left opens the dashboard by itself when the minute ends', async () => {
  const { token } = await app.tenant();
  visitor = await visit({ provokes: [429] });
  const { page } = visitor;
  await visitor.signIn(token);
  ahead.aheadMs += 60_000 - ((Date.now() + ahead.aheadMs) % 60_000);
  const ask = () => graphql(app.url, '{ project { slug } }', { token });
  await eventually('no operation is left', async () => (await ask()).status === 429);
  await page.clock.install();
  await page.reload();
  await page.getByText('This key has no operations left in this minute.').waitFor();
  expect(await page.getByRole('button', { name: /^Try again \(/ }).isDisabled()).toBe(true);
  ahead.aheadMs += 60_000;
  await page.clock.runFor(61_000);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-76: while the quota is spent, reloads and forms send no request for toys, and make no strike', async () => {
  const owner = await publishedTenant(app);
  await spendDay(owner, await leakedKeyOf(owner));
  visitor = await visit();
  const { page } = visitor;
  const sent = { toys: 0, others: 0 };
  page.on('request', (request) => {
    if (!request.url().endsWith('/graphql')) return;
    const isAboutToys = /"operationName":"\w*Toys?"/.test(request.postData() ?? '');
    sent[isAboutToys ? 'toys' : 'others'] += 1;
  });
  await visitor.signIn(owner.token);
  await page.getByRole('link', { name: 'Toys', exact: true }).click();
  for (let reload = 0; reload < 3; reload += 1) {
    await page.reload();
    await page.getByText('Toys can be read and changed again from midnight UTC on.').waitFor();
  }
  await page.getByRole('button', { name: 'Add toy' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Rex');
  await page.getByRole('textbox', { name: 'Category' }).fill('3');
  const form = page.getByRole('dialog');
  await form.getByRole('button', { name: 'Add toy' }).click();
  await form.getByText('Toys can be read and changed again').waitFor();
  expect(await form.getByRole('button', { name: /^Add toy \(/ }).isDisabled()).toBe(true);
  expect(sent.toys).toBe(0);
  expect(sent.others).toBeGreaterThanOrEqual(4);
  const { body } = await graphql(app.url, '{ rateLimit { ban { strikes } } }', owner);
  expect(body.data.rateLimit.ban.strikes).toBe(0);
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-77: after a refusal, the tab keeps Retry-After across reloads, also if its clock is ahead', async () => {
  const owner = await app.tenant({ plan: 'FREE' });
  visitor = await visit({ provokes: [429] });
  const { page } = visitor;
  await visitor.signIn(owner.token);
  ahead.aheadMs += 60_000 - ((Date.now() + ahead.aheadMs) % 60_000);
  await eventually('the minute is spent', async () => (await read(owner.token)).status === 429);
  let sent = 0;
  page.on('request', (request) => {
    if (/"operationName":"Toys"/.test(request.postData() ?? '')) sent += 1;
  });
  // Every time that the gateway names is over on this computer.
  await page.clock.install({ time: Date.now() + ahead.aheadMs + 3_600_000 });
  await page.getByRole('link', { name: 'Toys', exact: true }).click();
  await page.getByRole('button', { name: /^Try again \(/ }).waitFor();
  for (let reload = 0; reload < 3; reload += 1) {
    await page.reload();
    await page.getByRole('button', { name: /^Try again \(/ }).waitFor();
  }
  expect(sent).toBe(1);
  expect(visitor.complaints).toEqual([]);
});
