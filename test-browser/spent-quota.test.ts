import { mkdir } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../test/support/browser.js';
import { rest } from '../test/support/client.js';
import { letGo, publishedTenant } from '../test/support/domain-rig.js';
import { eventually } from '../test/support/eventually.js';
import { startApp, TEST_ACTOR, type Tenant, type TestApp } from '../test/support/start-app.js';
import { seriousViolations } from './support/accessibility.js';
import { type Visitor, visit } from './support/visitor.js';

let app: TestApp;
let ahead: { aheadMs: number };
let browser: Browser;
let visitor: Visitor;
beforeAll(async () => {
  await mkdir('screenshots', { recursive: true });
  app = await startApp();
  ahead = letGo(app.clock);
  browser = await startBrowser();
});
afterEach(() => visitor?.leave());
afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

const read = (token: string) => rest(app.url, '/v1/pets', { token });

async function leakedKeyOf({ projectId }: Tenant): Promise<string> {
  const wanted = { projectId, name: 'leaked', scopes: ['pets:read'] as const, expiresAtMs: null };
  return (await app.app.services.apiKeys.create(TEST_ACTOR, wanted)).token;
}

/** Five requests for pets are the day of the project. */
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
  await page.getByRole('button', { name: 'Acts on the key leaked' }).click();
  await page.getByRole('menuitem', { name: 'Revoke…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('row').filter({ hasText: 'leaked' }).getByText('revoked').waitFor();
}

test('Dashboard-14: with a spent day it opens, says what still works, and revokes the key that spent it', async () => {
  const owner = await publishedTenant(app);
  const leaked = await leakedKeyOf(owner);
  await spendDay(owner, leaked);
  visitor = await visit(browser, app.url, { provokes: [429] });
  const { page } = visitor;
  await visitor.signIn(owner.token);
  await page.getByText('The quota of today is spent.').waitFor();
  await page.getByText('Keys, domains and usage work as ever').waitFor();
  await page.getByRole('heading', { name: /last hour/ }).waitFor();
  expect(await seriousViolations(page)).toEqual([]);
  await page.screenshot({ path: 'screenshots/spent-day-overview.png', fullPage: true });
  await revokeLeakedKey();
  await page.screenshot({ path: 'screenshots/spent-day-keys.png', fullPage: true });
  expect((await read(leaked)).status).toBe(401);
  await page.getByRole('link', { name: 'Pets' }).click();
  await page.getByText('Pets can be read and changed again from midnight UTC on.').waitFor();
  await page.screenshot({ path: 'screenshots/spent-day-pets.png', fullPage: true });
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-15: with a banned key it opens, says what still works, and revokes another key and its own', async () => {
  const owner = await publishedTenant(app);
  const leaked = await leakedKeyOf(owner);
  await spendDay(owner, owner.token);
  await ban(owner.token);
  visitor = await visit(browser, app.url, { provokes: [429, 401] });
  const { page } = visitor;
  await visitor.signIn(owner.token);
  await page.getByText('This API key is banned for a while.').first().waitFor();
  await page.getByText('Keys, domains and usage work as ever').waitFor();
  await page.getByText(/^Banned, .* left$/).waitFor();
  await page.screenshot({ path: 'screenshots/banned-overview.png', fullPage: true });
  await revokeLeakedKey();
  expect((await read(leaked)).status).toBe(401);
  await page.getByRole('link', { name: 'Domains' }).click();
  await page.getByRole('button', { name: /Add/ }).first().waitFor();
  await page.getByRole('link', { name: 'API keys' }).click();
  await page
    .getByRole('row')
    .filter({ hasText: 'this session' })
    .getByRole('button', { name: /^Acts on/ })
    .click();
  await page.getByRole('menuitem', { name: 'Revoke…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('You revoked the key of this session.').waitFor();
  expect(visitor.complaints).toEqual([]);
});
