import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { buildSchema, parse, validate } from 'graphql';
import { budgetOf } from '../../browser/pages/budget.js';
import { exampleQueries } from '../../browser/pages/graphiql/example-queries.js';
import { PLANS } from '../../src/tenants/projects/plans.js';
import { plain } from '../support/domains/served-domain.js';
import { graphql, rest, servedSchema } from '../support/http/client.js';
import { toys } from '../support/nouns/toys.js';
import { startApp, type TestApp } from '../support/start-app.js';

const PAGES = ['/', '/graphiql', '/v1/docs', '/v1/docs/limits', '/v1/docs/createToy', '/graphql'];
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
// Every browser sends this header in HTTP/1.1, and no proxy forwards it.
const LOCAL_BROWSER = { ...BROWSER, connection: 'keep-alive' };
const APOLLO = 'https://embeddable-sandbox.cdn.apollographql.com';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const page = (path: string, headers: Record<string, string> = {}) =>
  rest(app.url, path, { headers: { ...BROWSER, ...headers } });

/** The addresses that a page loads or links to. */
const addressesIn = (markup: string) =>
  [...markup.matchAll(/\s(?:src|href)="([^"]*)"/g)].map(([, url = '']) => url);

test.each(PAGES)(
  'Pages-1: %s is a page that needs no key, and its policy allows nothing inline',
  async (path) => {
    const { status, headers } = await page(path);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = new Map(
      (headers.get('content-security-policy') ?? '').split('; ').map((rule) => {
        const [name = '', ...sources] = rule.split(' ');
        return [name, sources.join(' ')];
      }),
    );
    const isSandbox = path === '/graphql';
    expect(policy.get('default-src')).toBe("'none'");
    expect(policy.get('script-src')).toBe(isSandbox ? `'self' ${APOLLO}` : "'self'");
    expect(policy.get('frame-src')).toBe(isSandbox ? 'https://sandbox.embed.apollographql.com' : undefined);
    expect(policy.get('style-src')).toBe("'self'");
    expect(policy.get('connect-src')).toBe("'self'");
    for (const rule of ['base-uri', 'form-action', 'frame-ancestors'])
      expect(policy.get(rule)).toBe("'none'");
    expect([...policy.values()].join(' ')).not.toMatch(/unsafe|\*/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cross-origin-opener-policy')).toMatch(/^same-origin/);
  },
);

test.each(PAGES)(
  'Pages-2: nothing on %s is inline or from another host, and everything it loads exists',
  async (path) => {
    const { text } = await page(path);
    expect(text).not.toMatch(/<style|\sstyle=|\son\w+=|javascript:/i);
    for (const [, attributes] of text.matchAll(/<script([^>]*)>/g)) {
      expect(attributes).toMatch(/^( type="module")? src="\/pages\/|^ type="application\/json"/);
    }
    const addresses = addressesIn(text);
    expect(addresses.filter((url) => !/^[/#]/.test(url) || url.startsWith('//'))).toEqual([]);
    const assets = addresses.filter((url) => url.startsWith('/pages/'));
    expect(assets.length).toBeGreaterThanOrEqual(2);
    for (const url of assets) {
      expect(url).toMatch(/-[\w-]{8}\.(js|css|svg)$/);
      const { status, headers } = await rest(app.url, url);
      expect([url, status, headers.get('cache-control')]).toEqual([
        url,
        200,
        'public, max-age=31536000, immutable',
      ]);
      const type = { js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' }[
        url.split('.').at(-1) ?? ''
      ];
      expect(headers.get('content-type')).toMatch(new RegExp(`^${type?.replace('+', '\\+')}`));
    }
    for (const url of addresses.filter((at) => at.startsWith('#')))
      expect(text).toContain(` id="${url.slice(1)}"`);
  },
);

test('Pages-3: assets are compressed for clients that accept it, and have the same content for all', async () => {
  for (const url of addressesIn((await page('/graphiql')).text).filter((at) => at.startsWith('/pages/'))) {
    const get = async (encoding: string) => {
      const response = await fetch(app.url + url, { headers: { 'accept-encoding': encoding } });
      expect(response.headers.get('vary')).toContain('Accept-Encoding');
      return { encoding: response.headers.get('content-encoding'), text: await response.text() };
    };
    const [whole, gzip, br] = [await get('identity'), await get('gzip'), await get('gzip, br')];
    expect([whole.encoding, gzip.encoding, br.encoding]).toEqual([null, 'gzip', 'br']);
    expect([gzip.text, br.text]).toEqual([whole.text, whole.text]);
  }
  expect((await rest(app.url, '/pages/nothing.js')).body.code).toBe('not_found');
  expect((await rest(app.url, '/pages/manifest.json')).status).toBe(404);
  expect((await rest(app.url, '/pages/..%2fpackage.json')).status).toBe(404);
});

test('Pages-4: pages and their assets spend nothing, with a key or without', async () => {
  const { token } = await app.tenant({ plan: 'FREE' });
  const urls = [
    ...PAGES,
    ...addressesIn((await page('/graphiql')).text).filter((at) => at.startsWith('/pages/')),
  ];
  for (let round = 0; round < 20; round += 1) {
    for (const url of urls) {
      expect((await page(url)).status).toBe(200);
      if (round < 3) expect((await page(url, { authorization: `Bearer ${token}` })).status).toBe(200);
    }
  }
  expect((await rest(app.url, '/v1/toys', { token })).headers.get('x-ratelimit-remaining')).toBe('59');
  expect((await rest(app.url, '/v1/toys')).headers.get('x-ratelimit-remaining')).toBe('59');
});

test.each(PAGES.filter((path) => path !== '/graphql'))(
  'Pages-5: %s allows GET, HEAD and OPTIONS, and answers 304 to a client that has it',
  async (path) => {
    const got = await page(path);
    const head = await rest(app.url, path, { method: 'HEAD', headers: BROWSER });
    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers.get('content-length')).toBe(got.headers.get('content-length'));
    expect((await rest(app.url, path, { method: 'OPTIONS' })).headers.get('allow')).toBe(
      'GET, HEAD, OPTIONS',
    );
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
      const refused = await rest(app.url, path, { method, headers: BROWSER });
      expect([refused.status, refused.body.code, refused.headers.get('allow')]).toEqual([
        405,
        'method_not_allowed',
        'GET, HEAD, OPTIONS',
      ]);
    }
    expect(got.headers.get('cache-control')).toBe('private, no-cache');
    const again = await page(path, { 'if-none-match': got.headers.get('etag') ?? '' });
    expect([again.status, again.text]).toEqual([304, '']);
  },
);

test.each([...PAGES, '/v1/openapi.json', '/v1/postman.json'])(
  'Pages-8: %s is sent compressed, and each encoding has its own ETag',
  async (path) => {
    const get = async (encoding: string, ifNoneMatch?: string) => {
      const headers = {
        'accept-encoding': encoding,
        ...(ifNoneMatch ? { 'if-none-match': ifNoneMatch } : {}),
      };
      const {
        status,
        headers: got,
        text,
      } = await (path.endsWith('.json') ? rest(app.url, path, { headers }) : page(path, headers));
      expect(got.get('vary')).toContain('Accept-Encoding');
      expect(got.get('cache-control')).toBe(path === '/graphql' ? 'no-store' : 'private, no-cache');
      return { status, encoding: got.get('content-encoding'), etag: got.get('etag') ?? '', text };
    };
    const [whole, gzip, br] = [await get('identity'), await get('gzip'), await get('gzip, br')];
    expect([whole.encoding, gzip.encoding, br.encoding]).toEqual([null, 'gzip', 'br']);
    expect([gzip.text, br.text]).toEqual([whole.text, whole.text]);
    expect(new Set([whole.etag, gzip.etag, br.etag]).size).toBe(3);
    expect(whole.etag).toMatch(/^"[\w-]{27}"$/);
    expect(await get('br', br.etag)).toMatchObject({ status: 304, etag: br.etag, text: '' });
    expect(await get('br', gzip.etag)).toMatchObject({ status: 200, etag: br.etag, text: whole.text });
  },
);

test.each([...PAGES, '/pages/nothing.js', '/dashboard', '/dashboard/assets/nothing.js'])(
  'Pages-9: no page of another site may read %s, not even one that may call the API',
  async (path) => {
    const studio = 'https://studio.apollographql.com';
    for (const method of ['GET', 'HEAD', ...(path === '/graphql' ? [] : ['OPTIONS', 'POST'])]) {
      const { headers } = await rest(app.url, path, { method, headers: { ...BROWSER, origin: studio } });
      const names = [...headers.keys()].filter((name) => name.startsWith('access-control-'));
      expect([method, names]).toEqual([method, []]);
    }
    const api = await rest(app.url, '/v1/openapi.json', { headers: { origin: studio } });
    expect(api.headers.get('access-control-allow-origin')).toBe(studio);
  },
);

test('Pages-6: a program that asks for JSON at / gets 404 in the Error body', async () => {
  const answer = await rest(app.url, '/', { headers: { accept: 'application/json' } });
  expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
  expect((await rest(app.url, '/', { headers: { accept: '*/*' } })).status).toBe(200);
});

test('Pages-14: people who follow a wrong link get a page, and programs the Error body as before', async () => {
  const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  for (const path of [
    '/nothing',
    '/v1/docs/nothing',
    '/pages/gone.js',
    '/dashboard/assets/gone.js',
    '/docs/x',
  ]) {
    const shown = await rest(app.url, path, { headers: { accept } });
    expect([path, shown.status, shown.headers.get('content-type')]).toEqual([
      path,
      404,
      'text/html; charset=utf-8',
    ]);
    expect(shown.text).toContain('There is nothing at this address');
    expect(shown.headers.get('content-security-policy')).toContain("default-src 'none'");
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json, text/html' }]) {
      const told = await rest(app.url, path, { headers });
      expect([path, told.status, told.headers.get('content-type')]).toEqual([
        path,
        404,
        'application/json; charset=utf-8',
      ]);
      expect(Object.keys(told.body)).toEqual(['code', 'message', 'status']);
    }
  }
  const posted = await rest(app.url, '/nothing', { method: 'POST', body: {}, headers: { accept } });
  expect([posted.status, posted.body.code]).toEqual([404, 'not_found']);
  const head = await rest(app.url, '/nothing', { method: 'HEAD', headers: { accept } });
  expect([head.status, head.text]).toEqual([404, '']);
});

test('Pages-15: /docs leads to the reference', async () => {
  const { status, headers } = await fetch(`${app.url}/docs`, { redirect: 'manual' });
  expect([status, headers.get('location')]).toEqual([301, '/v1/docs']);
});

test('Pages-18: a slash after the address of a page leads to it, and a deeper address is no request to the API', async () => {
  const accept = 'text/html';
  for (const [path, to] of [
    ['/v1/docs/', '/v1/docs'],
    ['/v1/docs/pagination/', '/v1/docs/pagination'],
  ] as const) {
    const { status, headers } = await fetch(app.url + path, { redirect: 'manual', headers: { accept } });
    expect([path, status, headers.get('location')]).toEqual([path, 301, to]);
  }
  for (const path of ['/v1/docs/a/b', '/v1/docs/..%2f/', '/v1/docs//example.com/']) {
    const { status, text } = await rest(app.url, path, { headers: { accept } });
    expect([path, status]).toEqual([path, 404]);
    expect(text).toContain('href="/v1/docs/listToys"');
  }
});

test('Pages-19: the quota on the front page is that of the demo project', async () => {
  const { text } = await page('/');
  const { perMinute } = PLANS.PRO;
  expect(text.replace(/<[^>]+>/g, '')).toContain(
    `X-RateLimit-Limit: ${perMinute}\nX-RateLimit-Remaining: ${perMinute - 1}`,
  );
});

test('Pages-7: the front page says what the product is, and links to the three ways in and to its state', async () => {
  const { text } = await page('/');
  for (const path of ['/dashboard/', '/graphql', '/graphiql', '/v1/docs', '/v1/openapi.json', '/readyz']) {
    expect(text).toContain(`href="${path}"`);
  }
  expect(text).toContain('/v1/toys?limit=1');
});

test('Pages-12: every page has the same header, which names the current part', async () => {
  for (const path of PAGES) {
    const { text } = await page(path);
    const [header = ''] = /<header class="site-header">[\s\S]*?<\/header>/.exec(text) ?? [];
    const links = [...header.matchAll(/<li><a href="([^"]+)"/g)].map(([, href]) => href);
    expect([path, links]).toEqual([path, ['/dashboard/', '/v1/docs', '/graphiql', '/graphql']]);
    const [, current = '/'] = /href="([^"]+)" aria-current/.exec(header) ?? [];
    expect([path, path.startsWith(current)]).toEqual([path, true]);
  }
});

test('Pages-13: the printed schema needs no key, and has the fields of the noun', async () => {
  const { status, text, headers } = await rest(app.url, '/schema.graphql');
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(Object.keys(buildSchema(text).getQueryType()?.getFields() ?? {})).toContain('toys');
  const again = { 'if-none-match': headers.get('etag') ?? '' };
  expect((await rest(app.url, '/schema.graphql', { headers: again })).status).toBe(304);
});

test('GraphiQL-1: each example is a valid operation for a different task', async () => {
  const schema = await servedSchema(app.url);
  const examples = exampleQueries([toys.description]);
  const problems = examples.flatMap(({ query }) => validate(schema, parse(query)));
  expect(problems).toEqual([]);
  expect(new Set(examples.map(({ task }) => task)).size).toBe(examples.length);
});

test('GraphiQL-2: the remaining quota is read from the headers of any answer', async () => {
  const { token } = await app.tenant({ plan: 'FREE' });
  const { headers } = await graphql(app.url, '{ toys(first: 1) { nodes { id } } }', { token });
  expect(budgetOf(headers)).toBe('59 of 60 this minute, 999 of 1,000 today left');
  expect(budgetOf(new Headers())).toBe(null);
});

test('Sandbox-8: the query that Apollo Sandbox opens with is valid', async () => {
  const { text } = await page('/graphql');
  const [, json = ''] = /id="sandbox-settings">(.*?)<\/script>/s.exec(text) ?? [];
  const schema = await servedSchema(app.url);
  expect(validate(schema, parse(JSON.parse(json).initialState.document))).toEqual([]);
});

test('Sandbox-4: the page offers GraphiQL where Apollo cannot be reached, and is never stored', async () => {
  const { text, headers } = await page('/graphql');
  expect(text).toMatch(/id="offer" hidden>[\s\S]*href="\/graphiql"[\s\S]*<\/main>/);
  expect(text).toMatch(/<noscript>[\s\S]*\/graphiql/);
  expect(headers.get('cache-control')).toBe('no-store');
  expect((await rest(app.url, '/graphql', { method: 'HEAD', headers: BROWSER })).status).toBe(200);
});

test('Sandbox-5: the demo key is filled in only for a browser on this machine, and only while it is known', async () => {
  const demo = await startApp();
  const settings = async (host: string, headers: Record<string, string> = {}) => {
    const { text } = await plain(demo, host, '/graphql', { headers: { ...LOCAL_BROWSER, ...headers } });
    const [, json = ''] = /id="sandbox-settings">(.*?)<\/script>/s.exec(text) ?? [];
    return JSON.parse(json).initialState.headers.Authorization;
  };
  expect(await settings('127.0.0.1:4000')).toBe('Bearer <API_KEY>');
  demo.app.pages.demoKey = 'pk_demo';
  for (const host of ['127.0.0.1:4000', 'localhost:4000', '[::1]:4000', 'petstore.localhost']) {
    expect([host, await settings(host)]).toEqual([host, 'Bearer pk_demo']);
  }
  for (const host of ['192.0.2.7:4000', '10.0.0.1']) {
    expect([host, await settings(host)]).toEqual([host, 'Bearer <API_KEY>']);
  }
  for (const name of ['x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'forwarded', 'via']) {
    expect([name, await settings('127.0.0.1:4000', { [name]: 'x' })]).toEqual([name, 'Bearer <API_KEY>']);
  }
  const { slug } = await demo.tenant();
  expect(await settings(`${slug}.petstore.localhost`)).toBe('Bearer <API_KEY>');
  await demo.stop();
});

test('Sandbox-7: the demo key is shown through no proxy and to no other site, and its page is never stored', async () => {
  const demo = await startApp();
  demo.app.pages.demoKey = 'pk_demo';
  const host = '127.0.0.1:4000';
  const ask = (headers: Record<string, string> = {}) =>
    plain(demo, host, '/graphql', { headers: { ...LOCAL_BROWSER, ...headers } });
  const own = [
    {},
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'same-origin', referer: `http://${host}/`, origin: `http://${host}` },
  ];
  for (const headers of own) {
    const shown = await ask(headers);
    expect([headers, shown.text.includes('pk_demo')]).toEqual([headers, true]);
    expect(shown.headers).toMatchObject({ 'cache-control': 'no-store' });
    expect(shown.headers.etag).toBeUndefined();
    expect(shown.headers['access-control-allow-origin']).toBeUndefined();
  }
  const foreign: Record<string, string>[] = [
    ...['cross-site', 'same-site', 'whatever'].map((site) => ({ 'sec-fetch-site': site })),
    ...['evil.test', 'https://evil.test/', `http://${host}.evil.test/`, 'http://127.0.0.1:4001/'].map(
      (referer) => ({ referer }),
    ),
    ...['null', 'https://studio.apollographql.com', 'http://localhost:4000'].map((origin) => ({ origin })),
    ...['x-forwarded-proto', 'x-forwarded-port', 'x-forwarded-prefix', 'cf-connecting-ip'].map((name) => ({
      [name]: 'x',
    })),
    { connection: 'close' },
    { connection: 'upgrade', upgrade: 'websocket' },
  ];
  for (const headers of foreign) {
    const { status, text } = await ask(headers);
    expect([headers, status, text.includes('pk_demo')]).toEqual([headers, 200, false]);
  }
  // As nginx sends it by default, and as its newest version does.
  const { port } = new URL(demo.url);
  for (const [version, ...more] of [['1.0'], ['1.0', 'Connection: keep-alive'], ['1.1']]) {
    const head = [`GET /graphql HTTP/${version}`, `Host: ${host}`, `Accept: ${BROWSER.accept}`, ...more];
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    let answer = '';
    for await (const chunk of socket) {
      answer += chunk;
      if (answer.includes('</html>')) break;
    }
    expect([version, more, answer.includes('200 OK')]).toEqual([version, more, true]);
    expect([version, more, answer.includes('pk_demo')]).toEqual([version, more, false]);
  }
  await demo.stop();
});

test('CORS-4: a local demo may be called from development servers on the same machine, and from no other origin', async () => {
  const mayCall = async (from: string, demo: TestApp) => {
    const headers = { origin: from, 'access-control-request-headers': 'authorization' };
    const preflight = await rest(demo.url, '/v1/toys', { method: 'OPTIONS', headers });
    const answer = await rest(demo.url, '/v1/toys', { headers: { origin: from } });
    const allowed = [preflight, answer].map((got) => got.headers.get('access-control-allow-origin'));
    expect(allowed[0]).toBe(allowed[1]);
    return allowed[0] === from;
  };
  const local = await startApp({ env: { DEMO: '1' } });
  for (const origin of ['http://localhost:5173', 'http://127.0.0.1:3000', 'http://localhost']) {
    expect([origin, await mayCall(origin, local)]).toEqual([origin, true]);
  }
  for (const origin of ['https://evil.test', 'http://localhost.evil.test', 'http://10.0.0.1:3000', 'null']) {
    expect([origin, await mayCall(origin, local)]).toEqual([origin, false]);
  }
  await local.stop();
  const configured: Record<string, string>[] = [
    { DEMO: '0' },
    { PUBLIC_BASE_URL: 'https://api.example.com' },
    { STAGING_BASE_URL: 'https://staging.example.com' },
    { CORS_ORIGINS: 'https://app.example.com' },
  ];
  for (const env of configured) {
    const demo = await startApp({ env: { DEMO: '1', ...env } });
    expect([env, await mayCall('http://localhost:5173', demo)]).toEqual([env, false]);
    await demo.stop();
  }
});
