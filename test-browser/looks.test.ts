import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser, Page, ViewportSize } from 'playwright-core';
import { startBrowser } from '../test/support/browser.js';
import { type DomainRig, letGo, startDomainRig } from '../test/support/domains/domain-rig.js';
import { PETSTORE } from '../test/support/pets/petstore.js';
import { TEST_ACTOR } from '../test/support/start-app.js';
import { type LivedInProject, livedInProject } from './support/lived-in-project.js';
import { violationsInThemes } from './support/pictures.js';
import { type Visitor, visit } from './support/visitor.js';

let rig: DomainRig;
let browser: Browser;
let project: LivedInProject;
beforeAll(async () => {
  rig = await startDomainRig('sqlite', { gateway: PETSTORE });
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

/** Runs in the page. Texts of table cells that reach into the next cell, and of short values that are broken in two lines. */
function brokenInTables(): string[] {
  const textOf = ({ textContent }: Element) => String(textContent);
  const tooWide = [...document.querySelectorAll('td')].filter((cell) => cell.scrollWidth > cell.clientWidth);
  const short = [...document.querySelectorAll('td :is(code, time, .whole, .badge)')].filter(
    (value) => textOf(value).length <= 20 && !/\s/.test(textOf(value)),
  );
  const inTwo = short.filter((value) => new Set([...value.getClientRects()].map(({ top }) => top)).size > 1);
  return [...tooWide, ...inTwo].map(textOf);
}

interface View {
  name: string;
  path: string | ((known: LivedInProject) => string);
  /** A text that appears when the page is complete. */
  until: string;
  act?: (page: Page) => Promise<void>;
}

const VIEWS: View[] = [
  { name: 'overview', path: '/', until: 'Show as a table' },
  { name: 'overview-table', path: '/', until: 'Show as a table', act: unfold },
  { name: 'overview-month', path: '/?window=month&by=status', until: 'Show as a table' },
  {
    name: 'overview-keys',
    path: '/?window=day&by=key',
    until: 'Show as a table',
    act: (page) => page.getByRole('slider').focus(),
  },
  { name: 'requests', path: '/requests', until: 'Load older requests' },
  // Times of two digits, the longest code, and the key with a long name.
  { name: 'requests-wide', path: '/requests?status=400', until: 'minutes ago' },
  {
    name: 'requests-open',
    path: '/requests?outcome=FAILED',
    until: 'Load older requests',
    act: async (page) => {
      await page.getByRole('button', { name: 'getPet' }).first().click();
      await page.getByText('no resource with this identifier').waitFor();
    },
  },
  { name: 'requests-none', path: '/requests?operation=nothing&status=418', until: 'No request matches' },
  { name: 'activity', path: '/activity', until: 'No older acts' },
  { name: 'activity-none', path: '/activity?kind=pets', until: 'No act matches' },
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
  {
    name: 'pets-search',
    path: '/pets?nameStartsWith=K%C3%B6&status=sold',
    until: 'Page 1',
    act: async (page) => {
      await press(page, /^Delete/);
      await page.getByText('deleted for good').waitFor();
    },
  },
  { name: 'pets-no-match', path: '/pets?nameStartsWith=zzz', until: 'No pet has a name' },
  {
    name: 'pets-import',
    path: '/pets',
    until: 'Page 1',
    act: async (page) => {
      await press(page, 'Import');
      const rows = ['name,categoryId,status', 'Rex,3,available', ',3,', 'Luna,three,asleep', 'Bella,4,sold'];
      const content = Buffer.from(rows.join('\n'));
      await page
        .getByLabel('CSV file')
        .setInputFiles({ name: 'pets.csv', mimeType: 'text/csv', buffer: content });
      await page.getByText('2 rows are refused.').waitFor();
    },
  },
  { name: 'pets-none', path: '/pets?after=zzz', until: 'names no page of the list' },
  { name: 'domains', path: '/settings/domains', until: 'Primary domain and redirects' },
  {
    name: 'domains-preview',
    path: '/settings/domains',
    until: 'Primary domain and redirects',
    act: async (page) => {
      await press(page, 'Preview');
      await page.getByText('This would happen').waitFor();
      await press(page, 'Actions for www.customer.test');
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
    until: 'Who must act',
    act: unfold,
  },
  {
    name: 'domain-remove',
    path: ({ domains }) => `/settings/domains/${domains.active}`,
    until: 'Serial number',
    act: async (page) => {
      await press(page, /^Actions for/);
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
  {
    name: 'keys-token',
    path: '/settings/keys',
    until: 'nightly import',
    act: async (page) => {
      await press(page, 'Create key');
      await page.getByLabel('Name').fill('storefront');
      await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
      await page.getByText('not shown again').waitFor();
    },
  },
  {
    name: 'keys-menu',
    path: '/settings/keys',
    until: 'nightly import',
    act: (page) => press(page, /^Actions for the key/),
  },
  ...['Rename…', 'Roll…', 'Revoke…'].map((act) => ({
    name: `keys-${act.slice(0, -1).toLowerCase()}`,
    path: '/settings/keys',
    until: 'nightly import',
    act: async (page: Page) => {
      await press(page, 'Actions for the key storefront, production');
      await page.getByRole('menuitem', { name: act }).click();
      await page.locator('.dialog').getByRole('button', { name: 'Cancel' }).waitFor();
    },
  })),
  {
    name: 'domains-loop',
    path: '/settings/domains',
    until: 'Primary domain and redirects',
    act: async (page) => {
      await page.getByLabel('What www.customer.test does').selectOption('old.customer.test');
      await press(page, 'Preview');
      await page.getByText('Visitors would never arrive').waitFor();
    },
  },
  { name: 'nothing', path: '/nothing-here', until: 'There is nothing at this address' },
];

const SIZES = [
  { width: 1280, height: 900 },
  { width: 390, height: 740 },
  { width: 1920, height: 900 },
];

let visitor: Visitor;
beforeAll(async () => {
  visitor = await visit(browser, rig.url);
  // Opening all pages within a minute, after the project was made, exceeds the allowance of one key.
  const { projectId } = project;
  const wanted = { projectId, name: 'of all pages', scopes: PETSTORE.scopes.all, expiresAtMs: null };
  const { token } = await rig.app.services.apiKeys.create(TEST_ACTOR, wanted);
  await visitor.signIn(token);
});
afterAll(() => visitor?.leave());

/** Looks at the page in each size. No script of the dashboard asks for the width, so that a page need not load in each. */
const capture = async (name: string, { page }: Visitor) => {
  const shown = () => page.locator('.dialog, [role=menu]').filter({ visible: true }).count();
  const atFirst = await shown();
  for (const size of SIZES) {
    await page.setViewportSize(size);
    const options = { fullPage: (await page.locator('.dialog').count()) === 0 };
    const violations = await violationsInThemes(page, `${name}-${size.width}`, options);
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    const broken = await page.evaluate(brokenInTables);
    expect({ ...size, violations, overflow: Math.max(0, overflow), broken, shown: await shown() }).toEqual({
      ...size,
      violations: [],
      overflow: 0,
      broken: [],
      shown: atFirst,
    });
  }
  await page.setViewportSize(SIZES[0] as ViewportSize);
};

test('Dashboard-27: the sign-in page has no accessibility violation and does not overflow', async () => {
  const stranger = await visit(browser, rig.url);
  await stranger.open('/');
  await stranger.page.getByRole('button', { name: 'Sign in' }).click();
  await stranger.page.getByText('Paste an API key').waitFor();
  await capture('sign-in', stranger);
  expect(stranger.complaints).toEqual([]);
  await stranger.leave();
});

test.each(VIEWS)(
  'Dashboard-9: $name has no accessibility violation, no console error and does not overflow, on screens of three widths',
  async (view) => {
    await visitor.open(typeof view.path === 'string' ? view.path : view.path(project));
    await visitor.page.getByText(view.until).first().waitFor();
    await view.act?.(visitor.page);
    await capture(view.name, visitor);
    expect(visitor.complaints).toEqual([]);
  },
);
