import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anyDatabase } from '../support/databases.js';
import { attach, plain, type ServingApp, startServing, visit } from '../support/domains/served-domain.js';
import { eventually } from '../support/eventually.js';
import { TEST_ACTOR } from '../support/start-app.js';

const BROWSER = { accept: 'text/html,*/*;q=0.8' };

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

describe.each([anyDatabase()])('on %s', (kind) => {
  let app: ServingApp;
  const generated = (slug: string) => `${slug}.petstore.localhost`;
  const named = async (slug: string, name: string) => {
    const quotas = { plan: 'PRO', perMinute: null, perDay: null } as const;
    return app.app.services.projects.create(TEST_ACTOR, { slug, name, ...quotas });
  };
  const read = (host: string, path = '/') => plain(app, host, path, { headers: BROWSER });

  beforeAll(async () => {
    app = await startServing(kind);
  });
  afterAll(() => app.stop());

  test('Pages-16: a host that is not served shows no page of ours, which could ask for a key', async () => {
    for (const path of ['/', '/nothing', '/v1/docs', '/graphql', '/.well-known/acme-challenge/unknown']) {
      const { status, headers, text } = await read('rebound.example', path);
      expect([path, status < 400, headers['content-type'], text.includes('key-dialog')]).toEqual([
        path,
        false,
        'application/json; charset=utf-8',
        false,
      ]);
    }
  });

  test("Reference-2: / is the reference with name and address on a project's hosts, and the front page on the platform", async () => {
    const { id } = await named('named', 'Zoë & Söhne');
    await attach(app, id, { hostname: 'shop.example.com', isPrimary: true });
    await eventually('served', async () => (await visit(app, 'shop.example.com', '/healthz')).status === 200);
    const onDomain = await visit(app, 'shop.example.com', '/', { headers: BROWSER });
    const onGenerated = await read(generated('named'));
    for (const { status, text, headers } of [onDomain, onGenerated]) {
      expect(status).toBe(200);
      expect(text).toContain('<title>Zoë &amp; Söhne · API reference</title>');
      expect(text).toContain('<h1><bdi>Zoë &amp; Söhne</bdi></h1>');
      expect(headers['content-security-policy']).toContain("script-src 'self';");
    }
    expect(onDomain.text).toContain('<code>https://shop.example.com/v1</code>');
    expect(onGenerated.text).toContain('<code>http://named.petstore.localhost/v1</code>');
    expect((await read(generated('named'), '/v1/docs')).text).toBe(onGenerated.text);
    const platform = await read('localhost');
    expect(platform.text).toContain('<title>Petstore Gateway</title>');
    expect(platform.text).not.toContain('API reference');
    // The dashboard is only on the platform, and the header of a project's host has its name.
    expect(onDomain.text).not.toContain('/dashboard');
    const guide = await read(generated('named'), '/v1/docs/authentication');
    expect(guide.text).toContain('http://named.petstore.localhost/v1/pets');
    expect(guide.text).toContain('<bdi>Zoë &amp; Söhne</bdi>');
  });

  test('Reference-3: an unknown host gets no page: 421', async () => {
    for (const path of [
      '/',
      '/graphiql',
      '/v1/docs',
      '/v1/docs/limits',
      '/schema.graphql',
      '/graphql',
      '/pages/x.css',
    ]) {
      expect([path, (await read('nobody.example.com', path)).status]).toEqual([path, 421]);
      expect([path, (await read(generated('nobody'), path)).status]).toEqual([path, 421]);
    }
  });

  test('Reference-5: a host has one page, whatever port a client writes into Host', async () => {
    await named('ports', 'Ports');
    const usual = await read(generated('ports'));
    const { port } = new URL(app.url);
    for (const other of [1, 4444, 65_535]) {
      const { text } = await read(`${generated('ports')}:${other}`);
      expect(text).toBe(
        usual.text.replaceAll('http://ports.petstore.localhost', `http://ports.petstore.localhost:${port}`),
      );
    }
  });

  test('Reference-4: thirty hostile names of projects are text on the page, and change nothing else on it', async () => {
    expect(new Set(HOSTILE).size).toBe(30);
    await named('harmless', 'a harmless name');
    const expected = (await read(generated('harmless'))).text
      .replaceAll('a harmless name', 'NAME')
      .replaceAll('harmless', 'SLUG');
    for (const [index, name] of HOSTILE.entries()) {
      const slug = `hostile-${index}`;
      await named(slug, name);
      const { status, text, headers } = await read(generated(slug));
      expect(status).toBe(200);
      expect(headers['set-cookie']).toBeUndefined();
      const [, title = ''] = /<title>(.*?) · API reference<\/title>/s.exec(text) ?? [];
      expect(asRead(title)).toBe(name);
      expect(title).not.toMatch(/[<>"'`]/);
      expect(text.replaceAll(title, 'NAME').replaceAll(slug, 'SLUG')).toBe(expected);
    }
  });
});

/** Decodes the text as a browser shows it. */
function asRead(markup: string): string {
  const signs: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#96': '`' };
  return markup.replace(/&([#\w]+);/g, (_, name) => signs[name] ?? `&${name};`);
}
