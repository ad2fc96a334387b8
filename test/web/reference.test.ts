import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { samplesOf } from '../../src/doors/web/shown/samples.js';
import { ERRORS } from '../../src/ground/kernel/errors.js';
import { LADDER_MINUTES, STRIKES_TO_BAN } from '../../src/request/rate-limit/rules/bans.js';
import { PLANS } from '../../src/tenants/projects/plans.js';
import { SCOPES } from '../support/gateway/tested-gateway.js';
import { rest } from '../support/http/client.js';
import { startApp, type TestApp } from '../support/start-app.js';

const BROWSER = { accept: 'text/html' };

interface Operation {
  operationId: string;
  parameters?: { name: string; schema: { pattern?: string } }[];
  responses: Record<string, { description: string; content?: object; headers?: object }>;
  deprecated?: boolean;
  'x-stability'?: string;
}

let app: TestApp;
let operations: (Operation & { method: string; path: string })[];
let document: { components: Record<'schemas' | 'headers', object>; servers: { url: string }[] };
beforeAll(async () => {
  app = await startApp();
  const { body } = await rest(app.url, '/v1/openapi.json');
  document = body;
  operations = Object.entries<Record<string, Operation>>(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  );
});
afterAll(() => app.stop());

const read = async (path: string) => (await rest(app.url, path, { headers: BROWSER })).text;

/** Every page of the reference, from the list beside the first one. */
async function allPages(): Promise<string[]> {
  const [list = ''] = /<nav id="contents"[\s\S]*?<\/nav>/.exec(await read('/v1/docs')) ?? [];
  return [...list.matchAll(/href="([^"]+)"/g)].map(([, path = '']) => path);
}

test('Reference-1: every operation has a page with its parameters, headers, statuses, codes and examples, and a form', async () => {
  expect(operations.length).toBeGreaterThanOrEqual(5);
  for (const { operationId, method, path, parameters = [], responses } of operations) {
    const text = await read(`/v1/docs/${operationId}`);
    expect(text).toContain(`>${method}</span> <code>/v1${path}</code>`);
    expect(text).toContain(`data-method="${method}" data-path="/v1${path}"`);
    for (const { name } of parameters) {
      expect(text).toContain(`<dt><code>${name}</code>`);
      expect(text).toContain(` name="${name}"`);
    }
    for (const [status, { description }] of Object.entries(responses)) {
      expect(text).toMatch(new RegExp(`<th scope="row"><span class="status status-\\d">${status}<`));
      for (const [, code] of description.matchAll(/`(\w+)`: /g)) {
        expect(text).toContain(`<a href="/v1/docs/errors#${code}"><code>${code}</code></a>`);
        expect(text).toContain(`>&quot;${code}&quot;</span>`);
      }
    }
    for (const label of ['curl', 'fetch', 'Python']) expect(text).toContain(`value="${label}"`);
  }
});

test('Reference-6: every schema, header, server and error code of the document is on a page', async () => {
  const pages = await Promise.all((await allPages()).map(read));
  const all = pages.join('');
  const objects = await read('/v1/docs/objects');
  const errors = await read('/v1/docs/errors');
  for (const name of Object.keys(document.components.schemas)) expect(objects).toContain(`id="${name}"`);
  for (const name of Object.keys(document.components.headers)) expect(all).toContain(`<code>${name}</code>`);
  for (const [code, { status, when }] of Object.entries(ERRORS)) {
    const [, shown, meaning = ''] =
      new RegExp(`<h3 id="${code}">.*>(\\d+)</span></h3>\n<p>(.*)</p>\n<p><strong>What to do:`).exec(
        errors,
      ) ?? [];
    expect([code, shown, meaning.replace(/<\/?code>/g, '`')]).toEqual([code, `${status}`, when]);
  }
  expect((await rest(app.url, '/v1/docs/site.json')).body.servers).toEqual(document.servers);
});

test('Recipes-7: the page about clients has each recipe of docs/clients.md with an anchor, and each file beside them', async () => {
  const text = await read('/v1/docs/clients');
  const recipes = await readFile('docs/clients.md', 'utf8');
  const titles = [...recipes.matchAll(/^#+ (.*)$/gm)].slice(1).map(([, title = '']) => title);
  expect(titles.length).toBeGreaterThan(14);
  const [list = ''] = /aria-label="On this page"[\s\S]*?<\/nav>/.exec(text) ?? [];
  const links = [...list.matchAll(/<a href="#(.+?)">(.+?)<\/a>/g)];
  expect(links.map(([, , title]) => title)).toEqual(expect.arrayContaining(titles));
  for (const [, anchor] of links) expect(text).toContain(`<h2 id="${anchor}">`);
  expect(text.match(/value="[\w-]+\.\w+"/g)).toHaveLength((await readdir('docs/clients')).length);
  const [, origin] = /data-origin="(.+?)"/.exec(text) ?? [];
  expect(text).toContain(`${origin}/v1/toys`);
});

test('Reference-15: the guides name the plans, the bans, the scopes and the deprecated operations of the code', async () => {
  const limits = await read('/v1/docs/limits');
  for (const [name, quota] of Object.entries(PLANS)) {
    const cells = quota
      ? [quota.perMinute, quota.perDay].map((each) => each.toLocaleString('en'))
      : ['agreed', 'agreed'];
    expect(limits).toContain(`${name}</th>\n${cells.map((cell) => `<td>${cell}</td>`).join('\n')}`);
  }
  const [first, ...further] = LADDER_MINUTES;
  expect(limits).toContain(
    `${STRIKES_TO_BAN} strikes ban the key for ${first} minute, then for ${further.join(', then ')} minutes`,
  );
  const authentication = await read('/v1/docs/authentication');
  for (const scope of SCOPES) expect(authentication).toContain(`<th scope="row"><code>${scope}</code></th>`);
  expect(await read('/')).toContain(`--scopes ${SCOPES.join(',')}`);
  const [, versions = ''] = (await read('/v1/docs/versions')).split('<main');
  const named = operations.filter((operation) => operation.deprecated || operation['x-stability']);
  expect([...versions.matchAll(/<li><a href="\/v1\/docs\/(\w+)"/g)].map(([, id]) => id).sort()).toEqual(
    named.map(({ operationId }) => operationId).sort(),
  );
});

test('Reference-7: every link inside the reference leads to a page and a place that exist', async () => {
  const paths = await allPages();
  expect(paths.length).toBe(operations.length + 11);
  const texts = new Map(await Promise.all(paths.map(async (path) => [path, await read(path)] as const)));
  for (const [from, text] of texts) {
    expect([from, text.match(/<h1>/g)?.length]).toEqual([from, 1]);
    const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect([from, new Set(ids).size]).toEqual([from, ids.length]);
    for (const [, href = ''] of text.matchAll(/href="((?:\/v1\/docs|#)[^"]*)"/g)) {
      const [path = '', id] = href.split('#');
      const target = texts.get(path === '' ? from : path);
      expect([from, href, target !== undefined]).toEqual([from, href, true]);
      if (id) expect([from, href, target?.includes(` id="${id}"`)]).toEqual([from, href, true]);
    }
  }
});

test('Reference-8: no page shows a regular expression, and each pattern of the document is described in words', async () => {
  const patterns: [string, { description?: string }][] = [];
  JSON.stringify(document, (name, value) => {
    if (value && typeof value === 'object' && typeof value.pattern === 'string') patterns.push([name, value]);
    return value;
  });
  expect(patterns.length).toBeGreaterThanOrEqual(1);
  const all = (await Promise.all((await allPages()).map(read))).join('');
  for (const [name, schema] of patterns) {
    expect([name, all.includes(String((schema as { pattern?: string }).pattern))]).toEqual([name, false]);
  }
  expect(await read('/v1/docs/createToy')).toContain('visible ASCII characters without spaces');
});

test('Reference-9: a beta operation links to what beta means', async () => {
  const beta = operations.filter((operation) => operation['x-stability'] === 'beta');
  expect(beta.length).toBeGreaterThanOrEqual(1);
  for (const { operationId } of beta) {
    expect(await read(`/v1/docs/${operationId}`)).toContain('href="/v1/docs/versions#beta"');
  }
  expect(await read('/v1/docs/versions')).toMatch(/id="beta"[\s\S]*may still change/);
});

test('Reference-10: the search can find every page, parameter, header, schema and code, and its links exist', async () => {
  const { status, body, headers } = await rest(app.url, '/v1/docs/search.json');
  expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  const titles = body.map(({ title }: { title: string }) => title);
  const names = [
    ...operations.flatMap(({ parameters = [] }) => parameters.map(({ name }) => name)),
    ...operations.flatMap(({ responses }) =>
      Object.values(responses).flatMap(({ headers = {} }) => Object.keys(headers)),
    ),
    ...Object.keys(document.components.schemas),
    ...Object.keys(ERRORS),
    ...['Authentication', 'Pagination', 'Idempotency', 'Limits and bans', 'Strikes and bans', 'Beta'],
  ];
  // The title of an error also has its status.
  const words = titles.flatMap((title: string) => [title, title.split(' ')[0]]);
  expect(names.filter((name) => !words.includes(name))).toEqual([]);
  for (const { title, url } of body as { title: string; url: string }[]) {
    const [path = '', id] = url.split('#');
    const text = await read(path);
    expect([title, text.includes('<h1>'), !id || text.includes(` id="${id}"`)]).toEqual([title, true, true]);
  }
});

test('Reference-11: a page that does not exist answers 404, and no text of a client is kept', async () => {
  for (const slug of ['no-such-page', 'listtoys', '__proto__', 'x'.repeat(90), '%3Cscript%3E']) {
    const { status, body } = await rest(app.url, `/v1/docs/${slug}`);
    expect([slug, status, body.code]).toEqual([slug, 404, 'not_found']);
    const page = await rest(app.url, `/v1/docs/${slug}`, { headers: BROWSER });
    expect([slug, page.status, page.text.includes(slug)]).toEqual([slug, 404, false]);
  }
});

test('Reference-12: the fetch samples run, and the gateway answers them as the page says', async () => {
  const { token } = await app.tenant();
  const [sampled = ''] = /<input[^>]*value="fetch"[\s\S]*?<pre[^>]*>([\s\S]*?)<\/pre>/.exec(
    await read('/v1/docs/createToy'),
  ) ?? [''];
  const code = sampled
    .replace(/^[\s\S]*<pre[^>]*>/, '')
    .replace(/<[^>]+>/g, '')
    .replace(/&#39;/g, "'")
    .replace(/&#96;/g, '`')
    .replace(/&quot;/g, '"')
    .replace(/&gt;/g, '>')
    .replace(/http:\/\/127\.0\.0\.1:\d+/, app.url)
    .replace("import { env } from 'node:process';", '')
    .replace('env.API_KEY', 'token');
  const AsyncFunction = (async () => {}).constructor as new (
    ...args: string[]
  ) => (token: string) => Promise<object>;
  const answer = await new AsyncFunction('token', `${code}\nreturn answer;`)(token);
  expect(answer).toMatchObject({ name: 'Rex', categoryId: 3, status: 'available' });
});

test('Reference-13: a page of the reference takes at most 100 KB uncompressed and 14 KB compressed', async () => {
  for (const path of await allPages()) {
    const whole = await fetch(app.url + path, { headers: { ...BROWSER, 'accept-encoding': 'identity' } });
    const bytes = (await whole.arrayBuffer()).byteLength;
    const sent = await fetch(app.url + path, {
      method: 'HEAD',
      headers: { ...BROWSER, 'accept-encoding': 'br' },
    });
    expect([path, bytes <= 100_000]).toEqual([path, true]);
    expect([path, Number(sent.headers.get('content-length')) <= 14_000]).toEqual([path, true]);
  }
});

test('Reference-14: the samples send every character of a body, in a shell and in JavaScript', async () => {
  const request = {
    method: 'POST',
    url: 'http://127.0.0.1/v1/toys',
    query: [],
    headers: [['Idempotency-Key', 'a$HOME"`x`\'!']] as [string, string][],
    needsKey: true,
  };
  for (const body of [
    '{"name": "Rex\'s \\"$HOME\\" `x` \\\\", "categoryId": 3}',
    '{"name": "Rex", "categoryId": 9223372036854775807}',
    '[{"name": {"a": null}}]',
    "no JSON \\ '",
  ]) {
    const [curl, fetchCall] = samplesOf({ ...request, body });
    const { stdout } = await execute('sh', ['-c', `curl() { printf '%s\\0' "$@"; }\n${curl?.text}`]);
    const words = stdout.split('\0');
    expect(withoutSpaces(words[words.indexOf('-d') + 1])).toBe(withoutSpaces(body));
    expect(words).toContain(`Idempotency-Key: ${request.headers[0]?.[1]}`);
    const script = fetchCall?.text.split('\n\n')[1]?.replace(/^[\s\S]*?fetch\(/, 'return [') ?? '';
    const [, init] = new Function('env', script.replace(/\);[\s\S]*/, '];'))({ API_KEY: 'pk' });
    expect(withoutSpaces(init.body)).toBe(withoutSpaces(body));
    expect(init.headers['Idempotency-Key']).toBe(request.headers[0]?.[1]);
  }
});

const execute = promisify(execFile);
const withoutSpaces = (text = '') => text.replaceAll(' ', '');
