import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { SCOPES } from '../src/caller.js';
import { startBrowser } from '../test/support/browser.js';
import { type DomainRig, letGo, startDomainRig } from '../test/support/domain-rig.js';
import { TEST_ACTOR } from '../test/support/start-app.js';
import { seriousViolations } from './support/accessibility.js';
import { type LivedInProject, livedInProject } from './support/lived-in-project.js';
import { type Visitor, visit } from './support/visitor.js';

/** Ignored by git; somebody looks at them before a change of the dashboard is merged. */
const FOLDER = 'screenshots';

let rig: DomainRig;
let browser: Browser;
let project: LivedInProject;
beforeAll(async () => {
  await mkdir(FOLDER, { recursive: true });
  rig = await startDomainRig('sqlite');
  letGo(rig.clock);
  browser = await startBrowser();
  project = await livedInProject(rig);
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await rig?.stop();
});

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).first().click();
const unfold = async (page: Page) => {
  for (const summary of await page.locator('summary').all()) await summary.click();
};

interface View {
  name: string;
  path: string | ((known: LivedInProject) => string);
  /** What tells that the page is complete. */
  until: string;
  act?: (page: Page) => Promise<void>;
}

const VIEWS: View[] = [
  { name: 'overview', path: '/', until: 'Requests per day, last 30 days' },
  { name: 'overview-table', path: '/', until: 'Requests per day, last 30 days', act: unfold },
  { name: 'pets', path: '/pets', until: 'Page 1' },
  {
    name: 'pets-editor',
    path: '/pets',
    until: 'Page 1',
    act: async (page) => {
      await press(page, /^Edit/);
      await page.getByRole('textbox', { name: 'Name' }).fill('');
      await press(page, 'Save');
    },
  },
  { name: 'pets-none', path: '/pets?after=zzz', until: 'must be a cursor' },
  { name: 'domains', path: '/settings/domains', until: 'Primary domain and redirects' },
  {
    name: 'domains-preview',
    path: '/settings/domains',
    until: 'Primary domain and redirects',
    act: async (page) => {
      await press(page, 'Preview');
      await page.getByText('This would happen').waitFor();
      await press(page, 'Acts on www.customer.test');
    },
  },
  {
    name: 'domains-add',
    path: '/settings/domains',
    until: 'Primary domain and redirects',
    act: async (page) => {
      await press(page, 'Add domain');
      await page.getByLabel('Domain or subdomain').fill('co.uk');
      await page.getByRole('dialog').getByRole('button', { name: 'Add domain' }).click();
      await page.getByRole('alert').first().waitFor();
    },
  },
  {
    name: 'domain-active',
    path: ({ domains }) => `/settings/domains/${domains.active}`,
    until: 'Serial number',
  },
  {
    name: 'domain-pending',
    path: ({ domains }) => `/settings/domains/${domains.pending}`,
    until: 'DNS records to create',
    act: unfold,
  },
  {
    name: 'domain-failed',
    path: ({ domains }) => `/settings/domains/${domains.failed}`,
    until: 'What was found',
    act: unfold,
  },
  {
    name: 'domain-remove',
    path: ({ domains }) => `/settings/domains/${domains.active}`,
    until: 'Serial number',
    act: async (page) => {
      await press(page, /^Acts on/);
      await page.getByRole('menuitem', { name: 'Remove…' }).click();
      await page.getByText('This stops at once').waitFor();
    },
  },
  { name: 'keys', path: '/settings/keys', until: 'nightly import' },
  {
    name: 'keys-create',
    path: '/settings/keys',
    until: 'nightly import',
    act: (page) => press(page, 'Create key'),
  },
  { name: 'nothing', path: '/nothing-here', until: 'There is nothing at this address' },
];

describe.each([
  { width: 1280, colorScheme: 'light' },
  { width: 1280, colorScheme: 'dark' },
  { width: 375, colorScheme: 'light' },
  { width: 375, colorScheme: 'dark' },
] as const)('at $width px, $colorScheme', ({ width, colorScheme }) => {
  const looks = { width, height: width === 375 ? 740 : 900, colorScheme };
  let visitor: Visitor;
  beforeAll(async () => {
    visitor = await visit(browser, rig.url, looks);
    // All pages in a minute are more than the allowance of one key.
    const { projectId } = project;
    const wanted = { projectId, name: `at ${width} px, ${colorScheme}`, scopes: SCOPES, expiresAtMs: null };
    const { token } = await rig.app.services.apiKeys.create(TEST_ACTOR, wanted);
    await visitor.signIn(token);
  });
  afterAll(() => visitor?.leave());

  const capture = async (name: string, { page }: Visitor) => {
    const path = join(FOLDER, `${name}-${width}-${colorScheme}.png`);
    const isModal = (await page.locator('dialog[open]').count()) > 0;
    await page.screenshot({ path, fullPage: !isModal, animations: 'disabled' });
    expect(await seriousViolations(page)).toEqual([]);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
  };

  test('Dashboard-9: the sign-in page has no serious violation and does not overflow', async () => {
    const stranger = await visit(browser, rig.url, looks);
    await stranger.open('/');
    await stranger.page.getByRole('button', { name: 'Sign in' }).click();
    await stranger.page.getByText('Paste an API key').waitFor();
    await capture('sign-in', stranger);
    expect(stranger.complaints).toEqual([]);
    await stranger.leave();
  });

  test.each(VIEWS)(
    'Dashboard-9: $name has no serious violation, no complaint and does not overflow',
    async (view) => {
      await visitor.open(typeof view.path === 'string' ? view.path : view.path(project));
      await visitor.page.getByText(view.until).first().waitFor();
      await view.act?.(visitor.page);
      await capture(view.name, visitor);
      expect(visitor.complaints).toEqual([]);
    },
  );
});
