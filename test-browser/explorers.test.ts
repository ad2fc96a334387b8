import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../test/support/browser.js';
import { startApp, type Tenant, type TestApp } from '../test/support/start-app.js';
import { seriousViolations } from './support/accessibility.js';
import { visit } from './support/visitor.js';

const FOLDER = 'screenshots';
const PAGES = [
  { name: 'front', path: '/', until: 'Petstore Gateway' },
  { name: 'reference', path: '/v1/docs', until: 'List all animals' },
  { name: 'graphiql', path: '/graphiql', until: 'API key' },
];

let app: TestApp;
let browser: Browser;
let tenant: Tenant;
beforeAll(async () => {
  await mkdir(FOLDER, { recursive: true });
  app = await startApp();
  browser = await startBrowser();
  tenant = await app.tenant();
});
afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

describe.each([1280, 375])('at %i px', (width) => {
  test.each(PAGES)(
    'Explorers-1: $path has no serious fault of accessibility, no complaint and no other host',
    async ({ name, path, until }) => {
      for (const colorScheme of ['light', 'dark'] as const) {
        const { page, complaints, leave } = await visit(browser, app.url, { width, colorScheme });
        await page.goto(`${app.url}${path}`);
        await page.getByText(until).first().waitFor();
        expect(await seriousViolations(page)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
        await page.screenshot({ path: join(FOLDER, `${name}-${width}-${colorScheme}.png`), fullPage: true });
        expect(complaints).toEqual([]);
        await leave();
      }
    },
  );
});

test('Explorers-2: GraphiQL asks for the key once, answers, and shows what is left', async () => {
  const { page, complaints, leave } = await visit(browser, app.url);
  await page.goto(`${app.url}/graphiql`);
  await page.getByLabel('API key').fill(tenant.token);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: /^Execute query/ }).click();
  await page.getByText('"data"').first().waitFor();
  await page.reload();
  await page.getByRole('button', { name: /^Execute query/ }).waitFor();
  expect(await page.evaluate('document.cookie + JSON.stringify(localStorage)')).not.toContain(tenant.token);
  expect(page.url()).not.toContain('pk_');
  expect(complaints).toEqual([]);
  await leave();
});
