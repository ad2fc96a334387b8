import { expect, test } from '@jest/globals';
import { letGo } from '../test/support/domains/domain-rig.js';
import { eventually } from '../test/support/eventually.js';
import { rest } from '../test/support/http/client.js';
import { startApp, TEST_ACTOR, type TestApp } from '../test/support/start-app.js';
import { violationsOn } from './support/accessibility.js';
import { takePicture } from './support/pictures.js';
import { type Visitor, visits } from './support/visitor.js';

let app: TestApp;
let ahead: { aheadMs: number };
let visitor: Visitor;
const visit = visits(async () => {
  app = await startApp();
  ahead = letGo(app.clock);
  return app;
});

const statusWith = async (token: string) => (await rest(app.url, '/v1/toys', { token })).status;
const act = async (key: string, name: string) => {
  await visitor.page
    .getByRole('button', { name: `Actions for the key ${key}` })
    .first()
    .click();
  await visitor.page.getByRole('menuitem', { name }).click();
};
const rowOf = (text: string) =>
  visitor.page
    .getByRole('row')
    .filter({ has: visitor.page.getByRole('rowheader').filter({ hasText: text }) });

test('Dashboard-5: a key is created and shown once, used, rolled with an overlap, and revoked', async () => {
  const { token } = await app.tenant();
  visitor = await visit();
  const { page } = visitor;
  const dialog = page.getByRole('dialog');
  const question = page.getByRole('alertdialog');
  const shownToken = async () => (await dialog.locator('.token code').innerText()).trim();
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByText('this session').waitFor();

  await page.getByRole('button', { name: 'Create key' }).click();
  expect(await dialog.getByLabel('Name').evaluate((field) => field === document.activeElement)).toBe(true);
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByText('Give it a name').waitFor();
  await dialog.getByLabel('Name').fill('storefront');
  await dialog.getByLabel('Expires').selectOption('In 30 days');
  await dialog.getByRole('button', { name: 'Create key' }).click();
  const created = await shownToken();
  await dialog.getByRole('button', { name: 'Copy the API key' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(created);
  await dialog.getByRole('button', { name: 'Done' }).click();
  expect(await page.content()).not.toContain(created);
  expect(await statusWith(created)).toBe(200);
  await page.reload();
  const row = rowOf(created.slice(0, 9));
  await row.waitFor();
  expect(await row.innerText()).toMatch(/storefront[\s\S]*toys:read/);
  expect(await row.innerText()).not.toMatch(/never/);

  await act('storefront', 'Roll…');
  await dialog.getByLabel('How long the old key still works').selectOption('For an hour');
  await dialog.getByRole('button', { name: 'Roll key' }).click();
  const rolled = await shownToken();
  await dialog.getByLabel('I have stored it').check();
  await dialog.getByRole('button', { name: 'Done' }).click();
  expect([await statusWith(created), await statusWith(rolled)]).toEqual([200, 200]);

  await rowOf(rolled.slice(0, 9))
    .getByRole('button', { name: /^Actions for the key/ })
    .click();
  await page.getByRole('menuitem', { name: 'Revoke…' }).click();
  await question.getByText('refused from then on').waitFor();
  await question.getByRole('button', { name: 'Revoke' }).click();
  await rowOf(rolled.slice(0, 9)).getByText('Revoked').waitFor();
  await page.getByText('Revoked storefront').waitFor();
  await expect(statusWith(rolled)).resolves.toBe(401);
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-22: rolling the session’s own key continues the session with the new key; revoking it ends the session', async () => {
  const { token } = await app.tenant();
  visitor = await visit({ provokes: [401] });
  const { page } = visitor;
  const dialog = page.getByRole('dialog');
  const question = page.getByRole('alertdialog');
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'API keys' }).click();
  await act('test', 'Roll…');
  await dialog.getByLabel('How long the old key still works').selectOption('Not at all: it stops now');
  await dialog.getByRole('button', { name: 'Roll key' }).click();
  await dialog.getByText('This session uses the new key already.').waitFor();
  const rolled = (await dialog.locator('.token code').innerText()).trim();
  await dialog.getByLabel('I have stored it').check();
  await dialog.getByRole('button', { name: 'Done' }).click();
  const session = rowOf('this session');
  await session.filter({ hasText: rolled.slice(0, 9) }).waitFor();
  await page.reload();
  await session.filter({ hasText: rolled.slice(0, 9) }).waitFor();

  await session.getByRole('button', { name: /^Actions for the key/ }).click();
  await page.getByRole('menuitem', { name: 'Revoke…' }).click();
  await question.getByText('you will be signed out').waitFor();
  await question.getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('You revoked the key of this session.').waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-31: the dialog of a new key closes only after the key was copied, or said to be stored', async () => {
  const { token } = await app.tenant();
  visitor = await visit();
  const { page } = visitor;
  const dialog = page.getByRole('dialog');
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'API keys' }).click();
  const create = async (name: string) => {
    await page.getByRole('button', { name: 'Create key' }).click();
    await dialog.getByLabel('Name').fill(name);
    await page.keyboard.press('Enter');
    await dialog.getByText('it is not shown again').waitFor();
  };
  const tryToLeave = async () => {
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    await page.waitForTimeout(200);
  };
  await create('ticked');
  await tryToLeave();
  expect(await dialog.locator('.token').isVisible()).toBe(true);
  expect(await dialog.getByRole('button', { name: 'Close' }).count()).toBe(0);
  expect(await dialog.getByRole('button', { name: 'Done' }).isDisabled()).toBe(true);
  await dialog.getByLabel('I have stored it').check();
  await dialog.getByLabel('I have stored it').uncheck();
  await tryToLeave();
  expect(await dialog.locator('.token').isVisible()).toBe(true);
  await dialog.getByLabel('I have stored it').check();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await dialog.waitFor({ state: 'detached' });

  await create('copied');
  // The focus is on the button that copies.
  await page.keyboard.press('Enter');
  await dialog.getByRole('button', { name: 'Close' }).waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-32: the list tells why a key stops: it expires soon, was replaced, is banned, was revoked', async () => {
  const { token, projectId, slug } = await app.tenant();
  const { apiKeys, projects } = app.app.services;
  const make = (name: string, expiresAtMs: number | null = null) =>
    apiKeys.create(TEST_ACTOR, { projectId, name, scopes: ['toys:read', 'domains'], expiresAtMs });
  const DAY_MS = 86_400_000;
  await make('long lived', Date.now() + 300 * DAY_MS);
  await make('short lived', Date.now() + 3.5 * DAY_MS);
  const revoked = await make('revoked');
  await apiKeys.revoke(TEST_ACTOR, revoked.key.id);
  const old = await make('rolled');
  const successor = await apiKeys.roll(TEST_ACTOR, old.key.id, DAY_MS);
  const leaked = await make('leaked');
  await projects.change(TEST_ACTOR, slug, { plan: 'ENTERPRISE', perMinute: 60, perDay: 1 });
  await eventually('the day is spent', async () => (await statusWith(leaked.token)) === 429);
  ahead.aheadMs += 120;
  for (const { token: banned } of [leaked, old]) {
    for (let sent = 0; sent < 60; sent += 1) {
      ahead.aheadMs += 120;
      await statusWith(banned);
    }
  }

  visitor = await visit();
  const { page } = visitor;
  await visitor.signIn(token);
  // Overview names every banned key, whichever is signed in.
  const banned = page.getByRole('list', { name: 'Banned keys' });
  await banned.getByText('leaked').waitFor();
  expect(await banned.getByRole('listitem').count()).toBe(2);
  await page.getByRole('link', { name: 'API keys' }).click();
  const textOf = (name: string, at = 0) => rowOf(name).nth(at).innerText();
  await rowOf('leaked').getByText('Banned').waitFor();
  expect(await textOf('leaked')).toMatch(
    /toys:read\s+domains[\s\S]*Banned\s+Ends in (1 min )?\d+ s\s+10 strikes by node, .*\s+It did not wait: how to wait\s*$/,
  );
  expect(await textOf('long lived')).toMatch(/Valid\s+Expires \d+ \w+ 20\d\d/);
  expect(await textOf('short lived')).toMatch(/Expires soon\s+in 3 days/);
  expect(await textOf(old.key.prefix)).toMatch(
    new RegExp(
      `Banned\\s+Ends in [\\s\\S]*Replaced\\s+by ${successor.key.prefix}…, stops (in 24 hours|in 23 hours|tomorrow)`,
    ),
  );
  expect(await textOf(revoked.key.prefix)).toMatch(/Revoked/);
  // Keys that ended come last, and a key is rolled once.
  expect(await page.getByRole('row').last().innerText()).toMatch(/^revoked/);
  await rowOf(old.key.prefix)
    .getByRole('button', { name: /^Actions/ })
    .click();
  expect(await page.getByRole('menuitem').allInnerTexts()).not.toContain('Roll…');
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-82: the ban of a key is lifted in the list, also that of the session’s own key, and toys are read again', async () => {
  const { token, projectId, slug } = await app.tenant();
  const { apiKeys, projects } = app.app.services;
  const wanted = { projectId, name: 'mended client', scopes: ['toys:read'] as const, expiresAtMs: null };
  const mended = await apiKeys.create(TEST_ACTOR, wanted);
  const codeWith = async (key: string) => (await rest(app.url, '/v1/toys', { token: key })).body.code;
  await projects.change(TEST_ACTOR, slug, { plan: 'ENTERPRISE', perMinute: 60, perDay: 1 });
  await eventually('the day is spent', async () => (await codeWith(token)) === 'rate_limited_day');
  ahead.aheadMs += 120;
  for (const banned of [token, mended.token]) {
    await eventually('the key is banned', async () => {
      ahead.aheadMs += 120;
      return (await codeWith(banned)) === 'key_banned';
    });
  }
  await projects.change(TEST_ACTOR, slug, { plan: 'PRO' });
  visitor = await visit({ provokes: [429] });
  const { page } = visitor;
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'API keys' }).click();
  for (const name of ['mended client', 'test']) {
    await rowOf(name).getByText('Banned').waitFor();
    await act(name, 'Lift ban…');
    await takePicture(page, 'keys-lift-ban');
    await page.getByRole('alertdialog').getByRole('button', { name: 'Lift ban' }).click();
    await page.getByText(`Lifted the ban of ${name}`).waitFor();
    await rowOf(name).getByText('Valid').waitFor();
    expect(await rowOf(name).getByText('Banned').count()).toBe(0);
  }
  expect(await statusWith(mended.token)).toBe(200);
  // A key that is not banned offers no lifting.
  await rowOf('test')
    .getByRole('button', { name: /^Actions/ })
    .click();
  expect(await page.getByRole('menuitem').allInnerTexts()).not.toContain('Lift ban…');
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Toys', exact: true }).click();
  await page.getByText('No toy yet').waitFor();
  await page.getByRole('link', { name: 'Activity' }).click();
  await page.getByText('lifted the ban of the key').first().waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-90: a key shows which client makes its strikes, and leads to the recipe for it', async () => {
  const { token, slug } = await app.tenant();
  const { projects, requestWriter } = app.app.services;
  await projects.change(TEST_ACTOR, slug, { plan: 'ENTERPRISE', perMinute: 60, perDay: 1 });
  const agents = [
    'python-requests/2.32.3',
    'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
  ];
  for (const [at, agent] of agents.entries()) {
    await eventually('strikes', async () => {
      ahead.aheadMs += 120;
      const { headers } = await rest(app.url, '/v1/toys', { token, headers: { 'user-agent': agent } });
      return Number(headers.get('petstore-strikes')) === [3, 10][at];
    });
  }
  await requestWriter.flush(true);
  visitor = await visit({ provokes: [429] });
  const { page } = visitor;
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'API keys' }).click();
  const clients = rowOf('test').getByRole('list', { name: 'Clients with strikes' }).getByRole('listitem');
  await clients.first().waitFor();
  expect(await clients.allInnerTexts()).toEqual([
    expect.stringMatching(/^7 strikes by Firefox 128, /),
    expect.stringMatching(/^3 strikes by python-requests\/2\.32\.3/),
  ]);
  await takePicture(page, 'keys-strikes');
  expect(await violationsOn(page)).toEqual([]);
  for (const link of await clients.getByRole('link').all()) {
    const [path = '', anchor] = ((await link.getAttribute('href')) ?? '').split('#');
    const text = await (await fetch(`${app.url}${path}`)).text();
    expect(text).toContain(`id="${anchor}"`);
  }
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-44: a key is renamed, an ended one too, with names of any script and length', async () => {
  const { token, projectId } = await app.tenant();
  const { apiKeys } = app.app.services;
  const ended = await apiKeys.create(TEST_ACTOR, {
    projectId,
    name: 'ended',
    scopes: ['toys:read'],
    expiresAtMs: null,
  });
  await apiKeys.revoke(TEST_ACTOR, ended.key.id);
  visitor = await visit();
  const { page } = visitor;
  const dialog = page.getByRole('dialog');
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'API keys' }).click();

  await act('test', 'Rename…');
  const field = dialog.getByLabel('Name');
  expect(await field.evaluate((input) => input === document.activeElement)).toBe(true);
  expect(await field.inputValue()).toBe('test');
  await field.fill(' ');
  await dialog.getByRole('button', { name: 'Rename' }).click();
  await dialog.getByText('Give it a name').waitFor();
  await field.fill('x'.repeat(256));
  await page.keyboard.press('Enter');
  await dialog.getByText(/1 to 255 characters/).waitFor();
  await field.fill('متجر 🐈 <b>');
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('status').getByText('Renamed to متجر 🐈 <b>').waitFor();
  await rowOf('متجر 🐈 <b>').getByText('this session').waitFor();
  // The frame of the page names the key of the session, too.
  expect(await page.locator('.who-key bdi').innerText()).toBe('متجر 🐈 <b>');

  await act('ended', 'Rename…');
  await field.fill('y'.repeat(255));
  await page.keyboard.press('Enter');
  await rowOf('y'.repeat(255)).waitFor();
  await page.reload();
  await rowOf('y'.repeat(255)).getByText('Revoked').waitFor();
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(overflow).toBeLessThanOrEqual(0);
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-45: each key shows its requests of the last 24 hours as a sparkline, and the key that it replaced', async () => {
  const { token, projectId } = await app.tenant();
  const { apiKeys } = app.app.services;
  const old = await apiKeys.create(TEST_ACTOR, {
    projectId,
    name: 'busy',
    scopes: ['toys:read'],
    expiresAtMs: null,
  });
  const successor = await apiKeys.roll(TEST_ACTOR, old.key.id, 86_400_000);
  for (let sent = 0; sent < 5; sent += 1) await statusWith(old.token);
  visitor = await visit();
  const { page } = visitor;
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'API keys' }).click();
  const busy = rowOf(old.key.prefix);
  const sparkline = busy.getByRole('img', { name: '5 requests in the last 24 hours, 0 refused' });
  await sparkline.waitFor();
  expect(await sparkline.locator('g').count()).toBe(24);
  await sparkline.hover();
  await page.getByRole('tooltip').getByText('5 requests in the last 24 hours').waitFor();
  const next = rowOf(successor.key.prefix);
  expect(await next.innerText()).toMatch(
    new RegExp(`none[\\s\\S]*Valid[\\s\\S]*replaces ${old.key.prefix}…`),
  );
  expect(visitor.complaints).toEqual([]);
});
