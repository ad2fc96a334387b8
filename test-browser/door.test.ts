import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../test/support/browser.js';
import { plain } from '../test/support/domains/served-domain.js';
import { atMachineSpeed } from '../test/support/own-time.js';
import { startApp, type TestApp } from '../test/support/start-app.js';
import { visit } from './support/visitor.js';

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

let app: TestApp;
let browser: Browser;
beforeAll(async () => {
  app = await startApp({ env: { PLATFORM_HOST: 'petstore.test' } });
  browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await app?.stop();
});

const assetsOf = (html: string) =>
  [...html.matchAll(/(?:src|href)="(\/dashboard\/[^"]+)"/g)].map(([, path = '']) => path);

test('Dashboard-2: pages are never stored, assets are cached for ever, all carry the policy, none is charged', async () => {
  for (const path of ['/dashboard', '/dashboard/', '/dashboard/settings/domains/1']) {
    const page = await fetch(`${app.url}${path}`);
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(page.headers.get('content-security-policy')).toBe(POLICY);
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('x-ratelimit-limit')).toBeNull();
    expect(page.headers.get('set-cookie')).toBeNull();
  }
  const html = await (await fetch(`${app.url}/dashboard/`)).text();
  const scripts = assetsOf(html).filter((path) => path.startsWith('/dashboard/assets/'));
  expect(scripts.length).toBeGreaterThanOrEqual(2);
  for (const path of scripts) {
    expect(path).toMatch(/-[\w-]{8}\.(?:js|css|svg)$/);
    const file = await fetch(`${app.url}${path}`, { method: 'HEAD' });
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  }
});

test('Dashboard-13: a compressed file has the same content; all scripts together are below 250 KB', async () => {
  const html = await (await fetch(`${app.url}/dashboard/`)).text();
  const scripts = assetsOf(html).filter((path) => path.endsWith('.js'));
  let compressed = 0;
  for (const path of scripts) {
    const as = async (encoding: string) => {
      const visited = await plainBytes(path, encoding);
      expect([visited.encoding, visited.vary]).toEqual([
        encoding === 'identity' ? undefined : encoding,
        'accept-encoding',
      ]);
      return visited.bytes;
    };
    const identity = await as('identity');
    const br = await as('br');
    const gzip = await as('gzip');
    expect(brotliDecompressSync(br).equals(identity)).toBe(true);
    expect(gunzipSync(gzip).equals(identity)).toBe(true);
    compressed += gzip.length;
  }
  expect(compressed).toBeLessThan(250_000);
});

test('Dashboard-16: the dashboard is served on platform hosts only, never on a project’s own hosts', async () => {
  const { slug } = await app.tenant();
  expect((await plain(app, 'petstore.test', '/dashboard/')).status).toBe(200);
  expect((await plain(app, `${slug}.petstore.test`, '/dashboard/')).status).toBe(404);
  expect((await plain(app, 'petstore.test', '/dashboard/assets/gone-12345678.js')).status).toBe(404);
  expect((await plain(app, 'petstore.test', '/dashboard/..%2f..%2fpackage.json')).text).not.toContain(
    'petstore-gateway',
  );
});

test('Dashboard-17: the dashboard is interactive within a second', async () => {
  const { page, complaints, open, leave } = await visit(browser, app.url);
  // The first request of a process reads and compresses the files.
  await open('/');
  const { tookMs } = await atMachineSpeed(async () => {
    await open('/');
    await page.getByLabel('API key').fill('pk_');
  });
  expect(tookMs).toBeLessThan(1_000);
  expect(complaints).toEqual([]);
  await leave();
});

async function plainBytes(path: string, encoding: string) {
  const { request } = await import('node:http');
  return new Promise<{ bytes: Buffer; encoding: string | undefined; vary: string | undefined }>(
    (resolve, reject) => {
      const sent = request(`${app.url}${path}`, { headers: { 'accept-encoding': encoding } }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const { 'content-encoding': used, vary } = response.headers;
          resolve({ bytes: Buffer.concat(chunks), encoding: used, vary });
        });
      });
      sent.on('error', reject);
      sent.end();
    },
  );
}
