import { expect, test } from '@jest/globals';
import { rest } from '../test/support/http/client.js';
import { startApp, TEST_ACTOR, type TestApp } from '../test/support/start-app.js';
import { type Visitor, visits } from './support/visitor.js';

let app: TestApp;
let visitor: Visitor;
const visit = visits(async () => {
  app = await startApp();
  return app;
});

const submit = async (key: string) => {
  await visitor.page.getByLabel('API key').fill(key);
  await visitor.page.getByRole('button', { name: 'Sign in' }).click();
};
const alert = () => visitor.page.getByRole('alert').first();

test('Dashboard-1: one sign-in holds for all pages and tabs, and signing out in one tab does in all', async () => {
  const { token } = await app.tenant();
  visitor = await visit();
  const { page, context } = visitor;
  await visitor.signIn(token);
  await page.reload();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(page.url()).not.toContain('pk_');
  expect(await context.cookies()).toEqual([]);
  // Only tabs store the key; what the browser keeps on disk is no secret.
  expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(token);

  const others = await Promise.all(
    ['/dashboard/', '/', '/v1/docs/listToys', '/graphiql'].map(async (path) => {
      const other = await context.newPage();
      await other.goto(`${app.url}${path}`);
      return other;
    }),
  );
  const [dashboard, home, ...pages] = others;
  await dashboard?.getByRole('heading', { name: 'Overview' }).waitFor();
  for (const other of [home, ...pages]) await other?.getByRole('button', { name: 'Sign out' }).waitFor();

  await home?.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You were signed out in another tab.').waitFor();
  await dashboard?.getByRole('heading', { name: 'Sign in' }).waitFor();
  for (const other of pages) await other.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
  for (const other of [page, ...others]) {
    expect(await other.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toContain(
      'pk_',
    );
  }
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-60: another key in one tab is used in all, and nothing of the first project stays', async () => {
  const [first, second] = [await app.tenant(), await app.tenant()];
  visitor = await visit();
  const { page, context } = visitor;
  await visitor.signIn(first.token);
  await page.getByText(first.slug).first().waitFor();
  const other = await context.newPage();
  await other.goto(app.url);
  await other.evaluate('localStorage.removeItem("petstore.session")');
  await other.reload();
  await other.getByRole('button', { name: 'Sign in', exact: true }).click();
  await other.getByLabel('API key').fill(second.token);
  await other.keyboard.press('Enter');
  await other.getByRole('button', { name: 'Sign out' }).waitFor();
  await page.getByText(second.slug).first().waitFor();
  expect(await page.getByText(first.slug).count()).toBe(0);
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-61: a tab that was asleep while the browser signed out is signed out when it continues', async () => {
  const { token } = await app.tenant();
  visitor = await visit();
  const { page, context } = visitor;
  await visitor.signIn(token);
  // A page of another site stands in for a discarded tab: neither can be told anything.
  await page.goto('about:blank');
  const other = await context.newPage();
  await other.goto(app.url);
  await other.evaluate('localStorage.removeItem("petstore.session")');
  await page.goBack();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain(token);
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-10: a malformed key, an unknown key and a revoked key each get a plain message', async () => {
  const { token, keyId } = await app.tenant();
  visitor = await visit({ provokes: [401] });
  await visitor.open('/');
  await submit('hello');
  await expect(alert().innerText()).resolves.toMatch(/not an API key/);
  await submit(token.slice(0, -2));
  await expect(alert().innerText()).resolves.toMatch(/not complete/);
  await submit(`pk_${'0'.repeat(33)}`);
  await visitor.page.getByText('This API key is not accepted.').waitFor();
  await app.app.services.apiKeys.revoke(TEST_ACTOR, keyId);
  await submit(token);
  // This browser was never signed in with it, so it knows no more than the gateway tells.
  await visitor.page.getByText('mistyped, revoked or expired').waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-11: a key without scopes sees which scopes it lacks, and the page does not ask the gateway', async () => {
  const { token } = await app.tenant({ scopes: [] });
  visitor = await visit();
  const { page } = visitor;
  await visitor.signIn(token);
  await page.getByText('This API key has no scopes.').waitFor();
  for (const [name, scope] of [
    ['Toys', 'toys:read'],
    ['Domains', 'domains'],
    ['API keys', 'keys'],
  ] as const) {
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByText(`It lacks the scope ${scope}.`).waitFor();
  }
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-86: the browser that was signed in with a key tells its owner that it expired or was revoked; the gateway tells nobody', async () => {
  const { projectId, token: revoked, keyId } = await app.tenant();
  const { apiKeys } = app.app.services;
  const expiresAtMs = app.clock.now + 60_000;
  const wanted = { projectId, name: 'short', scopes: ['keys'] as const, expiresAtMs };
  const { token: expired } = await apiKeys.create(TEST_ACTOR, wanted);
  visitor = await visit({ provokes: [401] });
  const { page } = visitor;
  await page.clock.install({ time: app.clock.now });
  for (const token of [revoked, expired]) {
    await visitor.signIn(token);
    await page.getByRole('button', { name: 'Sign out' }).click();
  }
  await apiKeys.revoke(TEST_ACTOR, keyId);
  app.clock.now += 60_000;
  // The clock of a computer may be behind.
  await page.clock.setFixedTime(app.clock.now - 240_000);
  const answers = await Promise.all(
    [revoked, expired].map((key) => rest(app.url, '/v1/toys', { token: key })),
  );
  const [first, second] = answers.map(({ body }) => body);
  expect(first).toEqual(second);
  const miscopied = `${revoked.slice(0, -1)}${revoked.endsWith('0') ? 1 : 0}`;
  for (const key of [revoked, miscopied]) {
    await submit(key);
    await page
      .getByText('it was revoked, or replaced by another key, or it was not copied exactly.')
      .waitFor();
    await submit(expired);
    await page.getByText(/is not accepted: it expired on \d+ \w+ 20\d\d/).waitFor();
  }
  // Nothing that opens the API is kept.
  const kept = await page.evaluate(() => JSON.stringify(localStorage));
  for (const token of [revoked, expired]) expect(kept).not.toContain(token.slice(0, 12));
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-12: revoking the key during the session ends the session and says why', async () => {
  const { token, keyId } = await app.tenant();
  visitor = await visit({ provokes: [401] });
  const { page } = visitor;
  await visitor.signIn(token);
  await app.app.services.apiKeys.revoke(TEST_ACTOR, keyId);
  // The overview notices it with its next read.
  await page.getByText('no longer accepted: it was revoked, or replaced').waitFor();
  expect(visitor.complaints).toEqual([]);
});
