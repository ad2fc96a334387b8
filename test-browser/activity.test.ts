import { expect, test } from '@jest/globals';
import { letGo } from '../test/support/domains/domain-rig.js';
import { graphql } from '../test/support/http/client.js';
import { startApp, TEST_ACTOR, type TestApp } from '../test/support/start-app.js';
import { violationsOn } from './support/accessibility.js';
import { type Visitor, visits } from './support/visitor.js';

let app: TestApp;
let visitor: Visitor;
const visit = visits(async () => {
  app = await startApp();
  letGo(app.clock);
  return app;
});

test('ActivityPage-1: who did what is listed newest first, filtered, and one click from its request', async () => {
  const { token, projectId, slug } = await app.tenant();
  const { apiKeys, projects } = app.app.services;
  await projects.change(TEST_ACTOR, slug, { plan: 'PRO', perMinute: null, perDay: null });
  const name = 'متجر 🐈';
  const document = 'mutation NewKey($input: NewApiKey!) { createApiKey(input: $input) { key { id } } }';
  const variables = { input: { name, scopes: ['TOYS_READ'] } };
  const { body, headers } = await graphql(app.url, document, { token, variables });
  const keyId = BigInt(body.data.createApiKey.key.id);
  await apiKeys.recordBan({ name: 'limiter', requestId: null }, { keyId, projectId }, Date.now() + 60_000);
  visitor = await visit();
  const { page } = visitor;
  await visitor.signIn(token);
  await page.getByRole('link', { name: 'Activity' }).click();
  const rows = page.locator('tbody tr');
  await rows.first().waitFor();
  expect(await rows.nth(0).innerText()).toMatch(
    /Banned the key متجر 🐈[\s\S]*The rate limiter\s+just now\s+none/,
  );
  expect(await rows.nth(1).innerText()).toMatch(
    /Created the key متجر 🐈[\s\S]*API key test \(pk_\w+…\)[\s\S]*Show/,
  );
  expect(await page.getByText('plan PRO').count()).toBe(1);
  expect(await violationsOn(page)).toEqual([]);

  await page.getByLabel('What').selectOption('Project');
  await page.getByText('Changed the plan of').waitFor();
  expect(await page.getByText('Banned the key').count()).toBe(0);
  await page.reload();
  await page.getByText('Changed the plan of').waitFor();
  await page.getByLabel('What').selectOption('Domains');
  await page.getByText('No act matches these filters').waitFor();
  await page.getByRole('button', { name: 'Show all acts' }).click();
  await rows.nth(1).getByRole('link', { name: 'Show' }).click();
  await page.locator('.request-row').getByText('NewKey').waitFor();
  expect(new URL(page.url()).searchParams.get('requestId')).toBe(headers.get('x-request-id'));
  expect(visitor.complaints).toEqual([]);
});

test('ActivityPage-2: older acts load on demand, each once; a key without the scope keys is told', async () => {
  const { token, projectId } = await app.tenant();
  const acts = Array.from({ length: 120 }, (_, at) => ({
    action: 'toys.import',
    projectId,
    subject: `file-${at}.csv`,
  }));
  await app.db.transaction((manager) => app.app.services.audit.record(manager, TEST_ACTOR, ...acts));
  visitor = await visit();
  const { page } = visitor;
  await visitor.signIn(token);
  await visitor.open('/activity?kind=toys');
  const rows = page.locator('tbody tr');
  await rows.first().waitFor();
  expect(await rows.count()).toBe(50);
  for (const count of [100, 120]) {
    await page.getByRole('button', { name: 'Load older acts' }).click();
    await rows.nth(count - 1).waitFor();
  }
  await page.getByText('No older acts.').waitFor();
  const objects = await page.locator('.act-object').allInnerTexts();
  expect(objects).toEqual(acts.map(({ subject }) => subject).reverse());
  await visitor.leave();

  visitor = await visit();
  const { token: reader } = await app.tenant({ scopes: ['toys:read'] });
  await visitor.signIn(reader);
  await visitor.page.getByRole('link', { name: 'Activity' }).click();
  await visitor.page.getByText('This API key may not see the acts of the project.').waitFor();
  expect(visitor.complaints).toEqual([]);
});
