import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../test/support/browser.js';
import { startApp, TEST_ACTOR, type TestApp } from '../test/support/start-app.js';
import { violationsOn } from './support/accessibility.js';
import { visit } from './support/visitor.js';

const HOSTILE = [
  '<script>alert(1)</script>',
  '</title><script>alert(1)</script>',
  '</h1><img src=x onerror=alert(1)>',
  '"><img src=x onerror=alert(1)>',
  "'><svg/onload=alert(1)>",
  '<svg><script>alert(1)</script></svg>',
  '" onmouseover="alert(1)',
  "' onfocus='alert(1)' autofocus='",
  '` onclick=alert(1) `',
  'javascript:alert(1)',
  '<a href="javascript:alert(1)">x</a>',
  '<iframe srcdoc="<script>alert(1)</script>">',
  '<body onload=alert(1)>',
  '<style>*{display:none}</style>',
  '<link rel=stylesheet href=//evil.example>',
  '<meta http-equiv=refresh content="0;url=//evil.example">',
  '<base href=//evil.example>',
  '<!--',
  '--><script>alert(1)</script>',
  '<![CDATA[<script>alert(1)</script>]]>',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '&#60;script&#62;alert(1)',
  '<scr\tipt>alert(1)</scr\nipt>',
  '<ScRiPt>alert(1)</sCrIpT>',
  '\u003cimg src=x onerror=alert(1)\u003e',
  '＜script＞alert(1)＜/script＞',
  '\u202e<script>alert(1)</script>',
  '{{constructor.constructor("alert(1)")()}}',
  ['$', '{alert(1)}'].join(''),
  '<form action=//evil.example><input name=key></form>\r\nSet-Cookie: a=b',
];

let app: TestApp;
let browser: Browser;
beforeAll(async () => {
  app = await startApp();
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

/** Creates a project. Returns its generated address, which browsers find without DNS. */
async function hostOf(slug: string, name: string): Promise<string> {
  const quotas = { plan: 'PRO', perMinute: null, perDay: null } as const;
  await app.app.services.projects.create(TEST_ACTOR, { slug, name, ...quotas });
  return app.url.replace('127.0.0.1', `${slug}.petstore.localhost`);
}

test("Reference-16: on a project's host each page shows the project's name and the host's address", async () => {
  const url = await hostOf('named', 'Zoë & Söhne');
  const { page, complaints, leave } = await visit(browser, url, { provokes: [404] });
  for (const [path, title] of [
    ['/', 'Zoë & Söhne · API reference'],
    ['/v1/docs/authentication', 'Authentication · Zoë & Söhne · API reference'],
    ['/v1/docs/createToy', 'Add a toy · Zoë & Söhne · API reference'],
    ['/graphiql', 'GraphiQL · Zoë & Söhne'],
    ['/nothing', 'Not found · Zoë & Söhne'],
  ] as const) {
    await page.goto(url + path);
    await page.locator('.site-brand').getByText('Zoë & Söhne').waitFor();
    await page.getByRole('navigation', { name: 'Zoë & Söhne' }).waitFor();
    expect([path, await page.title()]).toEqual([path, title]);
    const text = await page.locator('main').innerText();
    expect([path, text.includes('127.0.0.1'), text.includes(`${url}/v1`)]).toEqual([
      path,
      false,
      /^\/(v1|$)/.test(path),
    ]);
  }
  expect(complaints).toEqual([]);
  await leave();
});

test('Reference-17: on the platform the introduction names the addresses of the settings', async () => {
  const other = await startApp({
    env: { PUBLIC_BASE_URL: 'https://api.example.com', STAGING_BASE_URL: 'https://staging.example.com' },
  });
  const { page, leave } = await visit(browser, other.url);
  await page.goto(`${other.url}/v1/docs`);
  const addresses = page.locator('#addresses');
  await addresses.getByText('Staging', { exact: true }).waitFor();
  expect((await addresses.innerText()).split(/\s+/)).toEqual([
    'Production',
    'https://api.example.com/v1',
    'Staging',
    'https://staging.example.com/v1',
  ]);
  const sample = page.getByRole('region', { name: 'First request: curl' });
  expect(await sample.innerText()).toContain(`${other.url}/v1/toys`);
  await leave();
  await other.stop();
});

test('Reference-4: thirty hostile names of projects are text on the page, and change nothing else on it', async () => {
  expect(new Set(HOSTILE).size).toBe(30);
  const shown = async (slug: string, name: string) => {
    // An address may send 600 requests a minute without a key, and the clock of the app stands still.
    app.clock.now += 60_000;
    const url = await hostOf(slug, name);
    const { page, complaints, leave } = await visit(browser, url);
    page.on('dialog', (dialog) => {
      complaints.push(`a script ran: ${dialog.message()}`);
      void dialog.dismiss();
    });
    await page.goto(`${url}/v1/docs`);
    await page.getByText('Toys API').first().waitFor({ state: 'detached' });
    const texts = await page.locator('h1 bdi, .site-brand bdi').allTextContents();
    const label = await page.locator('.site-nav').getAttribute('aria-label');
    const elements = await page.evaluate('document.querySelectorAll("*").length');
    expect([name, complaints]).toEqual([name, []]);
    expect([...texts, label]).toEqual([name, name, name]);
    await leave();
    return elements;
  };
  const expected = await shown('harmless', 'a harmless name');
  for (const [index, name] of HOSTILE.entries()) {
    expect([name, await shown(`hostile-${index}`, name)]).toEqual([name, expected]);
  }
});

test("Reference-18: a project's reference and GraphiQL have no accessibility violation", async () => {
  const url = await hostOf('axe', 'Accessible');
  const { page, leave } = await visit(browser, url);
  for (const path of ['/v1/docs', '/graphiql']) {
    await page.goto(url + path);
    await page.locator('.site-brand').getByText('Accessible').waitFor();
    expect([path, await violationsOn(page)]).toEqual([path, []]);
  }
  await leave();
});
