import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, expect, test } from '@jest/globals';
import Fastify, { type FastifyInstance } from 'fastify';
import { describedGateway } from '../../src/app/gateway.js';
import { dashboardDoor } from '../../src/doors/web/dashboard.door.js';
import { GATEWAY } from '../support/gateway/tested-gateway.js';

let app: FastifyInstance;
let folder: string;
afterEach(async () => {
  await app?.close();
  await rm(folder, { recursive: true, force: true });
});

async function open(): Promise<string> {
  folder = await mkdtemp(join(tmpdir(), 'petstore-dashboard-'));
  app = Fastify();
  app.decorateRequest('site');
  app.addHook('onRequest', async (request) => {
    request.site = { projectId: null, origin: null, canonicalUrl: null, isServed: null };
  });
  await app.register(async (door) => dashboardDoor(door, describedGateway(GATEWAY), folder), {
    prefix: '/dashboard',
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}

/** Writes a file and its compressed forms, as the build does. */
async function build(path: string, content: string): Promise<void> {
  const file = join(folder, path);
  await writeFile(file, content);
  await writeFile(`${file}.br`, brotliCompressSync(content));
  await writeFile(`${file}.gz`, gzipSync(content));
}

test('Dashboard-28: a dashboard that is not built says how to build it, and is served as soon as it is built', async () => {
  const url = await open();
  const missing = await fetch(`${url}/dashboard`);
  expect([missing.status, missing.headers.get('cache-control')]).toEqual([503, 'no-store']);
  expect(await missing.text()).toMatch(/not built.*npm run build/);

  await build('index.html', '<!doctype html><p>here</p>');
  for (const path of ['/dashboard', '/dashboard/', '/dashboard/toys?status=sold']) {
    const page = await fetch(`${url}${path}`);
    expect([page.status, await page.text()]).toEqual([200, '<!doctype html><p>here</p>']);
  }
});

test('Dashboard-29: its files allow GET, HEAD and OPTIONS; every other method answers 405', async () => {
  const url = await open();
  await mkdir(join(folder, 'assets'));
  await build('index.html', 'page');
  await build('assets/index-12345678.js', 'script');
  for (const path of [
    '/dashboard',
    '/dashboard/',
    '/dashboard/toys',
    '/dashboard/assets/index-12345678.js',
  ]) {
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const { status, headers } = await fetch(url + path, { method });
      expect([path, method, status, headers.get('allow')]).toEqual([path, method, 405, 'GET, HEAD, OPTIONS']);
    }
    const options = await fetch(url + path, { method: 'OPTIONS' });
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
    const [got, head] = [await fetch(url + path), await fetch(url + path, { method: 'HEAD' })];
    expect([head.status, head.headers.get('etag')]).toEqual([200, got.headers.get('etag')]);
    const known = { 'if-none-match': got.headers.get('etag') ?? '' };
    expect((await fetch(url + path, { headers: known })).status).toBe(304);
  }
});

test('Dashboard-30: no file outside of its folder is ever sent, and a missing asset does not get the page', async () => {
  const url = await open();
  await build('index.html', 'page');
  for (const path of ['..%2f..%2fetc%2fpasswd', '%2e%2e/%2e%2e/etc/passwd', '....//etc/passwd', '%00']) {
    const { status, text } = await fetch(`${url}/dashboard/${path}`).then(async (answer) => ({
      status: answer.status,
      text: await answer.text(),
    }));
    expect(text).not.toContain('root:');
    expect([200, 400, 404]).toContain(status);
  }
  const gone = await fetch(`${url}/dashboard/assets/index-12345678.js`);
  expect(gone.headers.get('content-type')).not.toMatch(/html/);
  expect(gone.ok).toBe(false);
});
