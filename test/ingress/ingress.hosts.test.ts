import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anyDatabase } from '../support/databases.js';
import { insertOrder } from '../support/domains/acme-rig.js';
import {
  attach,
  change,
  plain,
  remove,
  type ServingApp,
  startServing,
  visit,
} from '../support/domains/served-domain.js';
import { eventually } from '../support/eventually.js';
import { graphql } from '../support/http/client.js';
import { inOwnTicks } from '../support/own-time.js';
import { startApp, type Tenant, type TestApp } from '../support/start-app.js';

const MISDIRECTED = { status: 421, code: 'misdirected' };

describe.each([anyDatabase()])('on %s', (kind) => {
  let app: ServingApp;
  let owner: Tenant;
  let stranger: Tenant;

  beforeAll(async () => {
    const env = {
      PUBLIC_BASE_URL: 'https://api.petstore.test',
      STAGING_BASE_URL: 'https://stage.petstore.test',
    };
    app = await startServing(kind, { env });
    owner = await app.tenant();
    stranger = await app.tenant();
    const { projectId } = owner;
    await attach(app, projectId, { hostname: 'shop.example.com', isPrimary: true });
    await attach(app, projectId, { hostname: 'waiting.example.com', certificate: false });
    const redirectTo = 'shop.example.com';
    for (const redirectStatus of [301, 302, 307, 308]) {
      await attach(app, projectId, {
        hostname: `old${redirectStatus}.example.com`,
        redirectTo,
        redirectStatus,
      });
    }
    await attach(app, projectId, { hostname: 'expired.example.com', certificateEndsAtMs: app.clock.now - 1 });
    await eventually('known', async () => (await visit(app, 'shop.example.com', '/healthz')).status === 200);
  });
  afterAll(() => app.stop());

  test.each([
    'petstore.localhost',
    'PetStore.LocalHost.:80',
    'localhost:4000',
    '127.0.0.1',
    '192.0.2.7:8080',
    '[::1]:4000',
    '[2001:db8::7]',
    'api.petstore.test',
    'stage.petstore.test',
  ])('Domains-Host-1: any key works on the platform host %s', async (host) => {
    for (const { token } of [owner, stranger]) {
      expect((await plain(app, host, '/v1/toys', { token })).status).toBe(200);
    }
  });

  test("Domains-Host-2: a project's generated host accepts its own keys only, published or not, in any case and with a port", async () => {
    for (const host of [
      `${owner.slug}.petstore.localhost`,
      `${owner.slug.toUpperCase()}.PETSTORE.localhost.:4000`,
    ]) {
      expect((await plain(app, host, '/v1/toys', { token: owner.token })).status).toBe(200);
      const foreign = await plain(app, host, '/v1/toys', { token: stranger.token });
      expect([foreign.status, foreign.code]).toEqual([401, 'unauthorized']);
    }
  });

  test("Domains-Host-22: another project's key is refused on a project's hosts also when it has to be looked up", async () => {
    const ask = { [`${owner.slug}.petstore.localhost`]: plain, 'shop.example.com': visit };
    const query = { method: 'POST', body: '{"query":"{project{slug}}"}' };
    const headers = { 'content-type': 'application/json' };
    for (const [host, send] of Object.entries(ask)) {
      for (const [{ token }, status] of [
        [stranger, 401],
        [owner, 200],
      ] as const) {
        for (const [path, init] of [
          ['/v1/toys', {}],
          ['/graphql', { ...query, headers }],
        ] as const) {
          app.app.services.apiKeys.callers.clear();
          expect([host, path, (await send(app, host, path, { ...init, token })).status]).toEqual([
            host,
            path,
            status,
          ]);
        }
      }
    }
  });

  test('Domains-Host-3: on a custom domain a foreign key is refused like no key, at both doors, and charged to its address', async () => {
    const at = (token?: string, path = '/v1/toys') =>
      visit(app, 'shop.example.com', path, token === undefined ? {} : { token });
    expect((await at(owner.token)).status).toBe(200);
    const [none, foreign] = [await at(), await at(stranger.token)];
    expect([none.status, foreign.status]).toEqual([401, 401]);
    expect(foreign.text).toBe(none.text);
    expect(foreign.headers['x-ratelimit-limit']).toBe('60');
    expect(Number(foreign.headers['x-ratelimit-remaining'])).toBe(
      Number(none.headers['x-ratelimit-remaining']) - 1,
    );
    const query = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"{project{slug}}"}',
    };
    const graphql = (token: string) => visit(app, 'shop.example.com', '/graphql', { ...query, token });
    expect(JSON.parse((await graphql(owner.token)).text).data.project.slug).toBe(owner.slug);
    expect((await graphql(stranger.token)).status).toBe(401);
  });

  test.each(['nobody.example.com', 'nobody.petstore.localhost', 'a.b.petstore.localhost', 'example.com'])(
    'Domains-Host-4: an unknown host answers 421 and closes, with rate-limit headers at the doors: %s',
    async (host) => {
      for (const path of ['/v1/toys', '/nowhere', '/graphql', '/v1/%zz', '/%zz']) {
        const answer = await plain(app, host, path, { token: owner.token });
        expect([path, answer.status]).toEqual([path, 421]);
        expect(answer.headers.connection).toBe('close');
        const isDoor = path.startsWith('/v1') || path.startsWith('/graphql');
        expect('x-ratelimit-limit' in answer.headers).toBe(isDoor);
      }
      expect(await plain(app, host, '/v1/toys')).toMatchObject(MISDIRECTED);
      expect((await plain(app, host, '/v1/toys', { method: 'OPTIONS' })).status).toBe(421);
      expect((await plain(app, host, '/nowhere', { method: 'OPTIONS' })).status).toBe(421);
      const graphql = await plain(app, host, '/graphql', { token: owner.token });
      expect(JSON.parse(graphql.text).errors[0].extensions).toEqual({ code: 'MISDIRECTED', status: 421 });
    },
  );

  test('Domains-Host-20: at other addresses of a project each GET links to the same path on the primary domain', async () => {
    const primary = `https://shop.example.com:${app.httpsPort}`;
    await attach(app, owner.projectId, { hostname: 'second.example.com' });
    await eventually(
      'known',
      async () => (await visit(app, 'second.example.com', '/healthz')).status === 200,
    );
    const { token } = owner;
    const path = '/v1/toys?limit=3&x=<a>';
    const link = `<${primary}/v1/toys?limit=3&x=%3Ca%3E>; rel="canonical"`;
    const generated = `${owner.slug}.petstore.localhost`;
    // Twice, because the second answer comes from the cache.
    for (const _ of ['first', 'again']) {
      expect((await visit(app, 'second.example.com', path, { token })).headers.link).toContain(link);
      expect((await plain(app, generated, path, { token })).headers.link).toContain(link);
      expect((await visit(app, 'shop.example.com', path, { token })).headers.link).not.toContain('canonical');
      expect((await plain(app, '127.0.0.1', path, { token })).headers.link).not.toContain('canonical');
    }
    const docs = await plain(app, generated, '/v1/docs', { headers: { accept: 'text/html' } });
    expect([docs.status, docs.headers.link]).toEqual([200, `<${primary}/v1/docs>; rel="canonical"`]);
    const { body } = await graphql(app.url, '{ project { primaryUrl } }', { token });
    expect(body.data.project.primaryUrl).toBe(primary);
    const none = await graphql(app.url, '{ project { primaryUrl } }', { token: stranger.token });
    expect(none.body.data.project.primaryUrl).toBeNull();
  });

  test('Domains-Host-21: another primary domain is linked within a second, and one that is not served is not', async () => {
    const tenant = await app.tenant();
    const host = `${tenant.slug}.petstore.localhost`;
    const at = async () => {
      const page = await plain(app, host, '/v1/docs', { headers: { accept: 'text/html' } });
      const list = await plain(app, host, '/v1/toys?limit=1', { token: tenant.token });
      return `${page.headers.link ?? ''} ${list.headers.link}`;
    };
    const [one, two] = [
      await attach(app, tenant.projectId, { hostname: 'one.example.com', isPrimary: true }),
      await attach(app, tenant.projectId, { hostname: 'two.example.com' }),
    ];
    await eventually('the first is linked', async () => /one\.example.*one\.example/.test(await at()));
    await change(app, two.id, { isPrimary: true });
    await change(app, one.id, { isPrimary: false });
    await eventually('the second is linked', async () => /two\.example.*two\.example/.test(await at()));
    await change(app, two.id, { certificateEndsAtMs: app.clock.now - 1 });
    await eventually('none is linked', async () => !(await at()).includes('.example.com'));
    await remove(app, two);
    await change(app, one.id, { isPrimary: true });
    await eventually('the first is linked again', async () => /one\.example.*one\.example/.test(await at()));
  });

  test('Domains-Host-5: health checks answer under any Host', async () => {
    for (const host of ['nobody.example.com', 'waiting.example.com', 'shop.example.com']) {
      expect((await plain(app, host, '/healthz')).status).toBe(200);
      expect((await plain(app, host, '/readyz?x=1')).status).toBe(200);
    }
  });

  test.each([
    '/',
    '/v1/toys?limit=3&x=a%20b',
    '//evil.example/a',
    '/a?u=http://evil.example',
    '/%zz?%',
    '/@evil',
  ])(
    'Domains-Host-6: plain HTTP for a custom domain is redirected to HTTPS with its path and query to the byte: %s',
    async (path) => {
      const answer = await plain(app, 'SHOP.example.com:80', path, { method: 'POST', body: 'x' });
      expect(answer.status).toBe(308);
      expect(answer.headers.location).toBe(`https://shop.example.com:${app.httpsPort}${path}`);
    },
  );

  test.each([301, 302, 307, 308])(
    'Domains-Host-16: a redirect domain answers its %s with path and query to the byte',
    async (status) => {
      const from = `old${status}.example.com`;
      for (const path of [
        '/',
        '/v1/toys?limit=3',
        '//evil.example/%2e%2e/?a=%41&b',
        '/@evil.example',
        '/.evil.example',
      ]) {
        const answer = await visit(app, from, path, { method: 'PUT', token: owner.token, body: 'x' });
        expect([answer.status, answer.headers.location]).toEqual([
          status,
          `https://shop.example.com:${app.httpsPort}${path}`,
        ]);
        expect(new URL(String(answer.headers.location)).hostname).toBe('shop.example.com');
      }
      expect((await plain(app, from, '/a?b')).headers.location).toBe(`https://${from}:${app.httpsPort}/a?b`);
    },
  );

  test('Domains-Host-13: links name the host that the client has asked; only the canonical one names the primary domain', async () => {
    const asked = [
      {
        origin: `https://shop.example.com:${app.httpsPort}`,
        ask: visit,
        host: `shop.example.com:${app.httpsPort}`,
        canonical: '',
      },
      {
        origin: `http://${owner.slug}.petstore.localhost`,
        ask: plain,
        host: `${owner.slug}.petstore.localhost`,
        canonical: `, <https://shop.example.com:${app.httpsPort}/v1/toys?limit=1>; rel="canonical"`,
      },
    ];
    // From the third time on an answer comes from memory.
    for (const { origin, ask, host, canonical } of [...asked, ...asked, ...asked, ...asked]) {
      const options = { token: owner.token, servername: 'shop.example.com' };
      const { headers } = await ask(app as never, host, '/v1/toys?limit=1', options);
      expect(headers.link).toBe(`<${origin}/v1/toys?limit=1>; rel="first"${canonical}`);
    }
    const { headers } = await plain(app, 'localhost', '/v1/toys?limit=1', { token: owner.token });
    expect(headers.link).toBe(`<https://api.petstore.test/v1/toys?limit=1>; rel="first"`);
  });

  test('Domains-Host-7: without a valid certificate a domain is not served, neither plain nor by TLS', async () => {
    for (const host of ['waiting.example.com', 'expired.example.com']) {
      expect(await plain(app, host, '/v1/toys', { token: owner.token })).toMatchObject(MISDIRECTED);
      await expect(visit(app, host, '/v1/toys', { token: owner.token })).rejects.toThrow(/alert/);
    }
  });

  test('Domains-Host-8: over TLS the Host must equal the server name of the handshake', async () => {
    const others = [
      'old301.example.com',
      'localhost',
      '127.0.0.1',
      `${owner.slug}.petstore.localhost`,
      'nobody.example.com',
    ];
    for (const host of others) {
      const answer = await visit(app, host, '/v1/toys', {
        servername: 'shop.example.com',
        token: owner.token,
      });
      expect(answer).toMatchObject(MISDIRECTED);
      expect(answer.headers.connection).toBe('close');
    }
    const options = { servername: 'shop.example.com', token: owner.token };
    expect((await visit(app, 'Shop.EXAMPLE.com.:8443', '/v1/toys', options)).status).toBe(200);
    expect(
      (await visit(app, 'shop.example.com', '/v1/toys', { ...options, servername: 'SHOP.example.COM' }))
        .status,
    ).toBe(200);
  });

  test('Domains-Host-9: an ACME challenge is answered for its host only, before the redirect, without a key and uncounted', async () => {
    const challenge = (token: string, hostname: string, challengeEndsAtMs = app.clock.now + 1_000) =>
      insertOrder(app.db, { hostname, keyAuthorization: `${token}.print`, challengeEndsAtMs });
    await challenge('for-shop', 'shop.example.com');
    await challenge('for-waiting', 'waiting.example.com');
    await challenge('for-new', 'not-yet-known.example.com');
    await challenge('too-old', 'shop.example.com', app.clock.now - 1);
    const path = (token: string) => `/.well-known/acme-challenge/${token}`;
    const found = {
      'for-shop': 'shop.example.com',
      'for-waiting': 'waiting.example.com',
      'for-new': 'not-yet-known.example.com',
    };
    for (const [token, host] of Object.entries(found)) {
      const answer = await plain(app, host.toUpperCase(), `${path(token)}?x=1`);
      expect([answer.status, answer.text]).toEqual([200, `${token}.print`]);
      expect(answer.headers['content-type']).toBe('application/octet-stream');
      expect('x-ratelimit-limit' in answer.headers).toBe(false);
      expect((await plain(app, host, path(token), { method: 'HEAD' })).status).toBe(200);
    }
    for (const [host, token] of [
      ['waiting.example.com', 'for-shop'],
      ['localhost', 'for-shop'],
      ['nobody.example.com', 'for-shop'],
      ['shop.example.com', 'too-old'],
      ['shop.example.com', 'unknown'],
      ['shop.example.com', ''],
      ['shop.example.com', 'a/b'],
      ['shop.example.com', '%2e%2e'],
      ['shop.example.com', 'a'.repeat(129)],
    ] as const) {
      expect([host, token, (await plain(app, host, path(token))).status]).toEqual([host, token, 404]);
    }
    expect((await plain(app, 'shop.example.com', path('for-shop'), { method: 'POST' })).status).toBe(308);
    expect((await visit(app, 'shop.example.com', path('for-shop'))).status).toBe(404);
  });

  test('Domains-Host-10: a new project is served at its generated host within a second, also after a refused request', async () => {
    const slug = `fresh-${kind}`;
    const host = `${slug}.petstore.localhost`;
    expect((await plain(app, host, '/v1/toys')).status).toBe(421);
    const wanted = { slug, name: null, plan: 'FREE', perMinute: null, perDay: null } as const;
    await app.app.services.projects.create({ name: 'test', requestId: null }, wanted);
    const isServed = async () => (await plain(app, host, '/v1/toys')).status === 401;
    const { tookMs } = await inOwnTicks(() => eventually('served', isServed));
    expect(tookMs).toBeLessThan(1_000);
  });
});

test('Domains-Host-12: a flood of random generated hosts costs few queries, and known projects stay served', async () => {
  const queries: string[] = [];
  const app = await startApp({ onQuery: (sql) => queries.push(sql) });
  const owner = await app.tenant();
  const ask = (slug: string, options = {}) => plain(app, `${slug}.petstore.localhost`, '/v1/toys', options);
  expect((await ask(owner.slug, { token: owner.token })).status).toBe(200);
  queries.length = 0;
  const startedAt = performance.now();
  const flood = Array.from({ length: 400 }, (_, index) => ask(`random-${index}`));
  expect((await ask(owner.slug, { token: owner.token })).status).toBe(200);
  const statuses = (await Promise.all(flood)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([421]));
  const lookUps = queries.filter((sql) => /FROM .?projects/.test(sql));
  expect(lookUps.length).toBeLessThanOrEqual(2 + (performance.now() - startedAt) / 20);
  await app.stop();
});

describe('TLS that ends in front of the gateway', () => {
  let app: TestApp;
  let owner: Tenant;
  const https = { 'x-forwarded-proto': 'https' };
  const start = async (env: Record<string, string>) => {
    app = await startApp({ env });
    owner = await app.tenant();
    await attach(app, owner.projectId, { hostname: 'shop.example.com', certificate: false });
    await attach(app, owner.projectId, {
      hostname: 'unproved.example.com',
      certificate: false,
      verifiedAtMs: null,
    });
    await eventually(
      'known',
      async () => (await plain(app, 'shop.example.com', '/', { headers: https })).status === 200,
    );
  };
  const get = (host: string, headers: Record<string, string> = {}) =>
    plain(app, host, '/v1/toys', { token: owner.token, headers });

  test('Domains-Host-11: a verified domain is served to a trusted proxy that says https, and to no other client', async () => {
    await start({ TRUSTED_PROXIES: '127.0.0.1' });
    expect((await get('shop.example.com', https)).status).toBe(200);
    expect((await get('shop.example.com')).status).toBe(421);
    expect((await get('unproved.example.com', https)).status).toBe(421);
    expect((await get('proxy.internal', { ...https, 'x-forwarded-host': 'shop.example.com' })).status).toBe(
      200,
    );
    await app.stop();
  });

  test('Domains-Host-17: the scheme and host that an untrusted client claims are ignored', async () => {
    app = await startApp();
    owner = await app.tenant();
    await attach(app, owner.projectId, { hostname: 'shop.example.com', certificate: false });
    expect((await get('shop.example.com', https)).status).toBe(421);
    expect((await get('nobody.example.com', { 'x-forwarded-host': 'localhost' })).status).toBe(421);
    await app.stop();
  });

  test('Domains-Host-14: only http and https from a trusted proxy become the scheme of a link', async () => {
    await start({ TRUSTED_PROXIES: '127.0.0.1' });
    const link = async (headers: Record<string, string>) => {
      const answer = await get(`${owner.slug}.petstore.localhost`, headers);
      return [answer.status, /<(.*?)\/v1/.exec(String(answer.headers.link))?.[1]];
    };
    const plainly = `http://${owner.slug}.petstore.localhost`;
    const securely = plainly.replace('http', 'https');
    for (const said of ['https', 'HTTPS', 'http, https', 'evil,https']) {
      expect([said, await link({ 'x-forwarded-proto': said })]).toEqual([said, [200, securely]]);
    }
    for (const said of ['https://evil.test/?', 'javascript', 'https evil', 'https, http', 'https,', ' ']) {
      expect([said, await link({ 'x-forwarded-proto': said })]).toEqual([said, [200, plainly]]);
    }
    await app.stop();
  });

  test('Domains-Host-18: an invalid host or port is refused with 400', async () => {
    await start({ TRUSTED_PROXIES: '127.0.0.1' });
    const host = `${owner.slug}.petstore.localhost`;
    for (const port of ['99999', '65536', '0', '00080']) {
      expect([port, (await get(`${host}:${port}`)).status]).toEqual([port, 400]);
      const forwarded = await get('localhost', { 'x-forwarded-host': `${host}:${port}` });
      expect([port, forwarded.status]).toEqual([port, 400]);
    }
    for (const said of [`${host}/x`, `evil.test?${host}`, `${host}@evil.test`, `a b`]) {
      expect([said, (await get('localhost', { 'x-forwarded-host': said })).status]).toEqual([said, 400]);
    }
    for (const port of ['1', '65535']) {
      const { headers } = await get('localhost', { 'x-forwarded-host': `evil.test, ${host}:${port}` });
      expect(headers.link).toContain(`<http://${host}:${port}/v1/toys?`);
    }
    await app.stop();
  });

  test('Domains-Host-15: behind a proxy that ends TLS an undecodable path answers 400 and is not redirected', async () => {
    await start({ TRUSTED_PROXIES: '127.0.0.1', PUBLIC_HTTPS_PORT: '443' });
    for (const path of ['/%zz', '/v1/toys/%zz', '/graphql/%ff', '/%', '/v1/%e0%a4%a?x']) {
      const answer = await plain(app, 'shop.example.com', path, { token: owner.token, headers: https });
      expect([path, answer.status, answer.headers.location]).toEqual([path, 400, undefined]);
      const redirected = await plain(app, 'shop.example.com', path);
      expect(redirected.headers.location).toBe(`https://shop.example.com${path}`);
    }
    expect((await plain(app, 'shop.example.com', '/?%zz', { headers: https })).status).toBe(200);
    await app.stop();
  });

  test('Domains-Host-19: with PUBLIC_HTTPS_PORT plain HTTP is redirected to that port, which is omitted when it is 443', async () => {
    await start({ TRUSTED_PROXIES: '127.0.0.1', PUBLIC_HTTPS_PORT: '443' });
    const answer = await get('shop.example.com');
    expect([answer.status, answer.headers.location]).toEqual([308, 'https://shop.example.com/v1/toys']);
    await app.stop();
  });
});
