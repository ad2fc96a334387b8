import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describedGateway } from '../../src/app/gateway.js';
import { Pages } from '../../src/doors/web/pages.js';
import { loadConfig } from '../../src/ground/config/config.js';
import { startProblem } from '../../src/process/start-problem.js';
import { plain } from '../support/domains/served-domain.js';
import { GATEWAY } from '../support/gateway/tested-gateway.js';
import { startApp, type TestApp } from '../support/start-app.js';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

/** Sends the path as it is: `fetch` would resolve its dots. */
const get = (path: string) => plain(app, 'localhost', path, { headers: { accept: '*/*' } });

const TRAVERSALS = [
  ...['../package.json', '../../package.json', '../../../package.json', '../pages/manifest.json'],
  ...['..%2fpackage.json', '..%2f..%2f..%2fpackage.json', '%2e%2e/package.json', '%2e%2e%2fpackage.json'],
  ...['..%252fpackage.json', '%252e%252e%252fpackage.json', '..%5cpackage.json', '....//package.json'],
  ...['%00', '..%2fpackage.json%00.js', '%c0%ae%c0%ae/package.json', '%', '/etc/passwd', '%2fetc%2fpasswd'],
  ...['__proto__', 'constructor', 'toString'],
];

test('Static-1: no path of a client reaches the disk, however its dots and slashes are encoded', async () => {
  const page = (await get('/dashboard/')).text;
  expect(page).toContain('<div id="root">');
  for (const base of ['/pages/', '/dashboard/', '/dashboard/assets/']) {
    for (const path of TRAVERSALS.map((traversal) => base + traversal)) {
      const { status, text } = await get(path);
      // Below /dashboard/ a path that is no file is a page of the dashboard.
      const isPage = base === '/dashboard/' && status === 200;
      expect([path, isPage ? text === page : [400, 404].includes(status)]).toEqual([path, true]);
      expect([path, isPage || typeof JSON.parse(text).code]).toEqual([path, isPage || 'string']);
    }
  }
});

test('Static-2: files that only the build or the server reads are not served', async () => {
  const { text } = await get('/graphiql');
  const [script = ''] = /\/pages\/graphiql-[\w-]{8}\.js/.exec(text) ?? [];
  expect((await get(script)).status).toBe(200);
  const pages = ['platform/home.html', 'platform%2Fhome.html', 'search.json', 'openapi.json'].map(
    (name) => `/pages/${name}`,
  );
  for (const path of [
    ...pages,
    `${script}.br`,
    `${script}.gz`,
    '/pages/manifest.json',
    '/pages/built-from',
  ]) {
    expect([path, (await get(path)).status]).toEqual([path, 404]);
  }
});

test('Static-3: without a build the start says how to make one, and blames no setting', async () => {
  const settings = {
    projects: app.app.services.projects,
    servers: () => [],
    gateway: describedGateway(GATEWAY),
    schemaText: () => '',
    openApiText: async () => '',
  };
  const error = await Pages.open(settings, '/no/such/folder').catch((reason) => reason);
  expect(startProblem(error, loadConfig({}))).toBe(
    'The pages for browsers are not built. Run: npm run build',
  );
});
