import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { Project } from '../src/tenants/projects/project.entity.js';
import { startBrowser } from '../test/support/browser.js';
import { publishedTenant } from '../test/support/domains/domain-rig.js';
import { graphql } from '../test/support/http/client.js';
import { startApp, TEST_ACTOR, type Tenant, type TestApp } from '../test/support/start-app.js';
import { type Visitor, visit } from './support/visitor.js';

const HOSTILE = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg onload=alert(1)>',
  '"><script>alert(1)</script>',
  "'><img src=x onerror=alert(1)>",
  '<iframe src="javascript:alert(1)"></iframe>',
  '<body onload=alert(1)>',
  '<a href="javascript:alert(1)">x</a>',
  'javascript:alert(1)',
  '</title><script>alert(1)</script>',
  '</textarea><script>alert(1)</script>',
  '<math><mi xlink:href="javascript:alert(1)">',
  '<details open ontoggle=alert(1)>',
  '<video><source onerror=alert(1)>',
  '<input autofocus onfocus=alert(1)>',
  '<style>@import "//evil.example"</style>',
  '<link rel=stylesheet href=//evil.example>',
  '<meta http-equiv=refresh content="0;url=//evil.example">',
  '<base href=//evil.example>',
  '<object data=//evil.example></object>',
  '<form action=//evil.example><button>x',
  '{{constructor.constructor("alert(1)")()}}',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this text is the attack.
  '${alert(1)}',
  '<!--<img src="--><img src=x onerror=alert(1)//">',
  '<![CDATA[<script>alert(1)</script>]]>',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '%3Cscript%3Ealert(1)%3C/script%3E',
  '<scr<script>ipt>alert(1)</scr</script>ipt>',
  '\u202e<script>alert(1)</script>',
  '__proto__',
];

let app: TestApp;
let browser: Browser;
let tenant: Tenant;
let visitor: Visitor;
beforeAll(async () => {
  app = await startApp({ env: { PLATFORM_HOST: 'petstore.test' } });
  browser = await startBrowser();
  tenant = await publishedTenant(app);
  visitor = await visit(browser, app.url);
  visitor.page.on('dialog', (dialog) => {
    visitor.complaints.push(`a script ran: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await visitor.signIn(tenant.token);
});
afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

test('Dashboard-7: names of toys appear as text in the list, in the editor and in the message after saving', async () => {
  const { token } = tenant;
  for (const name of HOSTILE) {
    const variables = { input: { name, categoryId: '1' } };
    await graphql(app.url, 'mutation($input: NewToy!) { createToy(input: $input) { id } }', {
      token,
      variables,
    });
  }
  const { page } = visitor;
  await page.getByRole('link', { name: 'Toys', exact: true }).click();
  await page.getByText('Page 1').waitFor();
  const first = await page.locator('tbody th').allTextContents();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Page 2').waitFor();
  expect([...first, ...(await page.locator('tbody th').allTextContents())].reverse()).toEqual(HOSTILE);
  await page.getByRole('button', { name: 'Previous' }).click();
  await page.getByText('Page 1').waitFor();
  await page.getByRole('button', { name: /^Edit/ }).first().click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByText(`Saved ${HOSTILE.at(-1)}`).waitFor();
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-24: names of keys appear as text in the list, its menu and its dialogs', async () => {
  const { projectId } = tenant;
  for (const name of HOSTILE) {
    await app.app.services.apiKeys.create(TEST_ACTOR, {
      projectId,
      name,
      scopes: ['toys:read'],
      expiresAtMs: null,
    });
  }
  const { page } = visitor;
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByText('this session').waitFor();
  const shown = await page.locator('tbody th bdi').allTextContents();
  expect(shown.filter((name) => name !== 'test').sort()).toEqual([...HOSTILE].sort());
  await page
    .getByRole('button', { name: /^Actions for the key/ })
    .first()
    .click();
  await page.getByRole('menuitem', { name: 'Revoke…' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click();
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-25: the name of the project appears as text', async () => {
  const { page } = visitor;
  for (const name of HOSTILE) {
    await app.db.repository(Project).update({ id: tenant.projectId }, { name });
    await page.goto(`${app.url}/dashboard/settings/nothing`);
    await page.locator('.who-project').waitFor();
    expect(await page.locator('.who-project').textContent()).toBe(name);
  }
  expect(visitor.complaints).toEqual([]);
});

test('Dashboard-26: an invalid host name is refused with a message, as text, and the form stays open', async () => {
  const { page } = visitor;
  await page.getByRole('link', { name: 'Domains', exact: true }).click();
  await page.getByRole('button', { name: 'Add domain' }).click();
  const dialog = page.getByRole('dialog');
  for (const name of HOSTILE) {
    await dialog.getByLabel('Domain or subdomain').fill(name);
    await dialog.getByRole('button', { name: 'Add domain' }).click();
    await dialog.getByRole('button', { name: 'Add domain' }).and(page.locator(':enabled')).waitFor();
    expect(await dialog.getByRole('alert').innerText()).not.toBe('');
  }
  expect(visitor.complaints).toEqual([]);
});
