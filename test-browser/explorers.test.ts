import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { startBrowser } from '../test/support/browser.js';
import { PETSTORE } from '../test/support/pets/petstore.js';
import { startApp, TEST_ACTOR, type Tenant, type TestApp } from '../test/support/start-app.js';
import { violationsOn } from './support/accessibility.js';
import { takePicture, violationsInThemes } from './support/pictures.js';
import { visit } from './support/visitor.js';

const PAGES = [
  { name: 'home', path: '/', until: 'Ready for requests' },
  { name: 'reference', path: '/v1/docs', until: 'First request' },
  { name: 'reference-guide', path: '/v1/docs/limits', until: 'Strikes and bans' },
  { name: 'reference-errors', path: '/v1/docs/errors', until: 'What to do:' },
  { name: 'reference-operation', path: '/v1/docs/createPet', until: 'Responses' },
  { name: 'reference-deprecated', path: '/v1/docs/getPet', until: 'deprecated' },
  { name: 'reference-objects', path: '/v1/docs/objects', until: 'NewPet' },
  { name: 'not-found', path: '/nothing', until: 'There is nothing at this address' },
  { name: 'docs-not-found', path: '/v1/docs/listPet', until: 'The reference has no such page' },
  { name: 'graphiql', path: '/graphiql', until: 'ListPets' },
];

let app: TestApp;
let browser: Browser;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp({ gateway: PETSTORE });
  browser = await startBrowser();
  tenant = await app.tenant();
});
// An address may ask 600 times a minute without a key, and the clock of the app stands still.
beforeEach(() => {
  app.clock.now += 60_000;
});
afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

const giveKey = async (page: Page, token: string) => {
  await page.getByRole('dialog').getByLabel('API key').fill(token);
  await page.keyboard.press('Enter');
};
const signIn = async (page: Page, token: string) => {
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await giveKey(page, token);
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
};

test.each(PAGES)(
  'Explorers-1: $path has no accessibility violation, no console error, no overflow and no request to another host',
  async ({ name, path, until }) => {
    const provokes = name.endsWith('not-found') ? [404] : [];
    const { page, complaints, leave } = await visit(browser, app.url, { provokes });
    for (const width of [1280, 390, 1920]) {
      await page.setViewportSize({ width, height: 900 });
      // GraphiQL alone asks for the width, while it loads: the other pages need not load in each.
      if (width === 1280 || name === 'graphiql') await page.goto(`${app.url}${path}`);
      await page.getByText(until).first().waitFor();
      // The documentation leaves too little of the editor on a laptop.
      const isDocumented = await page.getByText('Root Types').isVisible();
      if (name === 'graphiql' && width < 1600) expect([width, isDocumented]).toEqual([width, false]);
      if (name === 'graphiql' && width > 1600) await page.getByText('Root Types').waitFor();
      const found = await violationsInThemes(page, `${name}-${width}`, { fullPage: true });
      expect([path, width, found]).toEqual([path, width, []]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      // On a phone nothing stands beside the text.
      const widths: number[] = await page.evaluate(
        '[...document.querySelectorAll("main")].map((main) => main.clientWidth)',
      );
      if (width === 390) expect(widths.filter((each) => each < 360)).toEqual([]);
    }
    expect(complaints).toEqual([]);
    await leave();
  },
);

test('Explorers-2: GraphiQL shows the schema without a key, and sends nothing until it has one', async () => {
  const { page, complaints, leave } = await visit(browser, app.url, { width: 1920 });
  const sent: string[] = [];
  page.on('request', (request) => sent.push(new URL(request.url()).pathname));
  await page.goto(`${app.url}/graphiql`);
  await page.getByRole('link', { name: 'Query' }).first().click();
  await page.getByRole('link', { name: 'pets', exact: true }).first().waitFor();
  await page.getByRole('button', { name: /^Execute query/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.waitFor();
  expect(await page.evaluate('document.activeElement?.id')).toBe('api-key');
  expect(await violationsOn(page)).toEqual([]);
  await takePicture(page, 'graphiql-key-1280-light');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  expect(sent).not.toContain('/graphql');
  expect(complaints).toEqual([]);
  await leave();
});

test('Explorers-3: GraphiQL asks for the key once, answers, and shows the remaining quota', async () => {
  const { page, complaints, leave } = await visit(browser, app.url);
  await page.goto(`${app.url}/graphiql`);
  await signIn(page, tenant.token);
  await page.getByRole('button', { name: /^Execute query/ }).click();
  await page.getByText('"data"').first().waitFor();
  await page.getByText(/this minute, .* today left/).waitFor();
  expect(await violationsOn(page)).toEqual([]);
  await takePicture(page, 'graphiql-answer-1280-light');
  await page.reload();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  expect(await page.evaluate('document.cookie + JSON.stringify(localStorage)')).not.toContain(tenant.token);
  expect(page.url()).not.toContain('pk_');
  expect(complaints).toEqual([]);
  await leave();
});

test('Explorers-4: the dialog refuses a key that the gateway does not accept, and asks again once a key is revoked', async () => {
  const { token, keyId } = await app.tenant();
  const { page, complaints, leave } = await visit(browser, app.url, { provokes: [401] });
  await page.goto(`${app.url}/graphiql`);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  const alert = page.getByRole('dialog').getByRole('alert');
  await giveKey(page, 'pk_nobody');
  await alert.getByText('not complete').waitFor();
  await giveKey(page, `pk_${'0'.repeat(33)}`);
  await alert.getByText('does not accept this key').waitFor();
  expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('pk_0');
  await giveKey(page, token);
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await app.app.services.apiKeys.revoke(TEST_ACTOR, keyId);
  await page.getByRole('button', { name: /^Execute query/ }).click();
  await alert.getByText('does not accept this key').waitFor();
  expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain(token);
  expect(complaints).toEqual([]);
  await leave();
});

test('Explorers-5: an example opens in a new tab, and the first tab keeps its text', async () => {
  const { page, complaints, leave } = await visit(browser, app.url);
  await page.goto(`${app.url}/graphiql`);
  await page.getByText('ListPets').first().waitFor();
  await page.getByLabel('Open an example in a new tab').selectOption('Add a pet');
  await page.getByRole('button', { name: 'AddPet' }).waitFor();
  await page.getByText('createPet').first().waitFor();
  await page.getByRole('button', { name: 'ListPets' }).click();
  await page.getByText('hasNextPage').first().waitFor();
  expect(complaints).toEqual([]);
  await leave();
});

test('Explorers-13: no example can be chosen, and lost, while the editors are loading', async () => {
  const { page, complaints, leave } = await visit(browser, app.url);
  let load = () => {};
  const mayLoad = new Promise<void>((resolve) => {
    load = resolve;
  });
  await page.route(/\/codemirror-[^/]*\.js$/, async (route) => {
    await mayLoad;
    await route.continue();
  });
  await page.goto(`${app.url}/graphiql`, { waitUntil: 'commit' });
  const examples = page.getByLabel('Open an example in a new tab');
  await examples.waitFor();
  expect(await examples.isDisabled()).toBe(true);
  load();
  await examples.selectOption('Add a pet');
  await page.getByRole('button', { name: 'AddPet' }).waitFor();
  expect(complaints).toEqual([]);
  await leave();
});

test('Explorers-6: the search works by keyboard alone, and finds a guide, an error code and a parameter', async () => {
  const { page, complaints, leave } = await visit(browser, app.url);
  for (const [words, path] of [
    ['strikes', '/v1/docs/limits#bans'],
    ['idempotency_mis', '/v1/docs/errors#idempotency_mismatch'],
    ['cursor', '/v1/docs/listPets#parameters'],
  ] as const) {
    await page.goto(`${app.url}/v1/docs`);
    await page.getByLabel('Search the reference').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type(words);
    await page.getByRole('list', { name: 'Search results' }).getByRole('link').first().waitFor();
    expect(await violationsOn(page)).toEqual([]);
    const links = page.getByRole('list', { name: 'Search results' }).getByRole('link');
    const targets = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    expect([words, targets]).toEqual([words, expect.arrayContaining([path])]);
    for (let at = 0; at <= targets.indexOf(path); at += 1) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(app.url + path);
  }
  await page.keyboard.press('/');
  await page.keyboard.type('zebra crossing');
  await page.getByText('Nothing found').waitFor();
  await page.keyboard.press('Escape');
  expect(await page.getByLabel('Search the reference').inputValue()).toBe('');
  expect(complaints).toEqual([]);
  await leave();
});

test('Explorers-7: a language is chosen once for all pages, and the copy button copies what is shown', async () => {
  const { page, complaints, leave } = await visit(browser, app.url);
  await page.goto(`${app.url}/v1/docs/createPet`);
  await page.getByText('Python', { exact: true }).first().click();
  await page.goto(`${app.url}/v1/docs/listPets`);
  await page.getByText('import requests').waitFor();
  await page.getByRole('button', { name: 'Copy: Request' }).click();
  const copied = await page.evaluate('navigator.clipboard.readText()');
  expect(copied).toContain('requests.get(');
  expect(copied).toContain(`${new URL(app.url).port}/v1/pets`);
  expect(complaints).toEqual([]);
  await leave();
});

test('Explorers-8: a form sends its request, and the answer replaces the example with every digit of an int64', async () => {
  const { page, complaints, leave } = await visit(browser, app.url, { provokes: [400] });
  const live = page.locator('.live');
  const caption = live.locator('.code-name');
  await page.goto(`${app.url}/v1/docs/createPet`);
  await signIn(page, tenant.token);
  await page
    .getByRole('textbox', { name: 'Body' })
    .fill('{"name": "Rex", "categoryId": 9223372036854775807}');
  await page.getByRole('button', { name: /^Send/ }).click();
  await caption.getByText('201 Created ·').waitFor();
  await live.getByText('"categoryId": 9223372036854775807').waitFor();
  expect(await page.getByText('429 key_banned').isVisible()).toBe(false);
  const { y = -1 } = (await caption.boundingBox()) ?? {};
  expect(y >= 0 && y < 900).toBe(true);
  expect(await violationsOn(page)).toEqual([]);
  await takePicture(page, 'reference-tried-1280-light', { fullPage: true });
  await page.getByRole('textbox', { name: 'Body' }).fill('{}');
  await page.getByRole('button', { name: /^Send/ }).click();
  await caption.getByText('400 Bad Request ·').waitFor();
  await page.getByRole('button', { name: 'Examples', exact: true }).click();
  await page.getByText('429 key_banned').waitFor();
  expect(complaints).toEqual([]);
  await leave();
});

test('Explorers-14: the code follows the form, and a changed payload gets a new Idempotency-Key', async () => {
  const { page, complaints, leave } = await visit(browser, app.url);
  const code = () => page.getByRole('region', { name: 'Request: curl' }).innerText();
  await page.goto(`${app.url}/v1/docs/listPets`);
  await page.getByRole('combobox', { name: 'status' }).selectOption('sold');
  await page.getByRole('textbox', { name: 'limit' }).fill('');
  await page.getByRole('textbox', { name: 'cursor' }).fill('a&b "c"');
  expect(await code()).toContain('/v1/pets?status=sold&cursor=a%26b+%22c%22"');
  await page.goto(`${app.url}/v1/docs/getPet`);
  expect(await code()).toContain('/v1/pets/4711"');
  await page.getByRole('textbox', { name: 'petId' }).fill('12');
  expect(await code()).toContain('/v1/pets/12"');
  await page.goto(`${app.url}/v1/docs/createPet`);
  const key = page.getByRole('textbox', { name: 'Idempotency-Key' });
  const first = await key.inputValue();
  expect(await code()).toContain(`Idempotency-Key: ${first}"`);
  await page.getByRole('textbox', { name: 'Body' }).fill(`{"name": "Rex's"}`);
  expect(await code()).toContain(String.raw`-d '{"name":"Rex'\''s"}'`);
  expect(await key.inputValue()).not.toBe(first);
  await key.fill('mine');
  await page.getByRole('textbox', { name: 'Body' }).fill('{}');
  expect(await code()).toContain('Idempotency-Key: mine"');
  expect(complaints).toEqual([]);
  await leave();
});

test('Explorers-15: without a key the form asks for one and spends nothing, and then sends the request', async () => {
  const { page, complaints, leave } = await visit(browser, app.url);
  const sent: string[] = [];
  page.on('request', (request) => sent.push(new URL(request.url()).pathname));
  await page.goto(`${app.url}/v1/docs/listPets`);
  await page.getByRole('button', { name: /^Send/ }).click();
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  expect(sent).not.toContain('/v1/pets');
  await page.getByRole('button', { name: /^Send/ }).click();
  await giveKey(page, tenant.token);
  await page.locator('.live .code-name').getByText('200 OK ·').waitFor();
  expect(sent.filter((path) => path === '/v1/pets')).toHaveLength(1);
  expect(complaints).toEqual([]);
  await leave();
});

test('Explorers-9: without JavaScript the reference is complete, and its choices and its list of pages work', async () => {
  const context = await browser.newContext({
    javaScriptEnabled: false,
    viewport: { width: 390, height: 844 },
  });
  const page = await context.newPage();
  await page.goto(`${app.url}/v1/docs/createPet`);
  await page.getByText('429 key_banned').click();
  await page.getByText('This API key is temporarily banned').waitFor();
  expect(await page.getByRole('button', { name: 'Send request' }).isVisible()).toBe(false);
  await page.getByRole('button', { name: 'Contents' }).click();
  await page.getByRole('navigation', { name: 'Reference' }).getByRole('link', { name: 'Pagination' }).click();
  await page.getByRole('heading', { name: 'Pagination', level: 1 }).waitFor();
  await context.close();
});

test('Explorers-10: the home page shows the state of the gateway, also when it stops', async () => {
  const other = await startApp();
  const { page, leave } = await visit(browser, other.url);
  await page.goto(other.url);
  await page.getByRole('status').getByText('Ready for requests').waitFor();
  await other.stop();
  await page.getByText('The gateway does not answer').waitFor({ timeout: 30_000 });
  await takePicture(page, 'home-gone-1280-light');
  expect(await violationsOn(page)).toEqual([]);
  await leave();
});

test('Explorers-21: the home page sends its first request at a click, and shows the answer and the quota', async () => {
  const { token } = await app.tenant({ plan: 'PRO' });
  const { page, complaints, leave } = await visit(browser, app.url);
  await page.goto(app.url);
  const run = page.getByRole('button', { name: 'Run this request' });
  await run.click();
  await giveKey(page, token);
  await page.getByRole('figure', { name: /^200 OK · 299 of 300 this minute/ }).waitFor();
  expect((await page.locator('#first-answer code').innerText()).trim()).toBe('[]');
  await page.getByRole('radiogroup', { name: 'First request' }).getByText('GraphQL', { exact: true }).click();
  await run.click();
  await page.getByRole('figure', { name: /^200 OK · 298 of 300 this minute/ }).waitFor();
  await page.getByText('"nodes"').waitFor();
  expect(await page.locator('#answer-headers').innerText()).toMatch(
    /X-RateLimit-Limit: 300\s+X-RateLimit-Remaining: 298/,
  );
  await takePicture(page, 'home-answer-1280', { fullPage: true });
  expect(complaints).toEqual([]);
  await leave();
});

test('Explorers-11: the keyboard reaches the page, its list and its choices in reading order', async () => {
  const { page, leave } = await visit(browser, app.url);
  await page.goto(`${app.url}/v1/docs/createPet`);
  await page.getByLabel('Search the reference').waitFor();
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement?.textContent')).toBe('Skip to the page');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  expect(await page.evaluate("document.activeElement?.closest('main') !== null")).toBe(true);
  await page.locator('#request-0').focus();
  await page.keyboard.press('ArrowRight');
  await page.getByText("method: 'POST'").waitFor();
  await leave();
});

test('Explorers-12: where Apollo cannot be reached the page offers GraphiQL, with the header of all pages', async () => {
  const { page, leave } = await visit(browser, app.url);
  await page.route(/apollographql/, (route) => route.abort());
  await page.goto(`${app.url}/graphql`);
  await page.getByRole('link', { name: 'Open GraphiQL instead' }).waitFor();
  expect(await violationsOn(page)).toEqual([]);
  await takePicture(page, 'sandbox-offer-1280-light');
  await page
    .getByRole('navigation', { name: 'Petstore Gateway' })
    .getByRole('link', { name: 'REST' })
    .click();
  await page.getByRole('heading', { name: 'Petstore Gateway' }).waitFor();
  await leave();
});

test.each([390, 1280, 1920])(
  'Explorers-16: while GraphiQL loads at %i px, the layout shifts by less than 0.1',
  async (width) => {
    const { page, leave } = await visit(browser, app.url, { width });
    await page.addInitScript(() => {
      const shifts: object[] = [];
      Object.assign(window, { shifts });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
          const { value, sources } = entry as PerformanceEntry & {
            value: number;
            sources: { node: Element | null }[];
          };
          shifts.push({ value, of: sources.map(({ node }) => node?.className) });
        }
      }).observe({ type: 'layout-shift', buffered: true });
    });
    await page.goto(`${app.url}/graphiql`);
    await page.getByText('ListPets').first().waitFor();
    if (width > 1600) await page.getByText('Root Types').waitFor();
    // A turn of the observer after the last frame.
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
    const shifts = (await page.evaluate('shifts')) as { value: number }[];
    const sum = shifts.reduce((total, { value }) => total + value, 0);
    expect([shifts, sum < 0.1]).toEqual([shifts, true]);
    await leave();
  },
);
