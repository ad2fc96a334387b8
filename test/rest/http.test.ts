import { beforeAll, expect, test } from '@jest/globals';
import { rest } from '../support/http/client.js';
import { onAnyDatabase } from '../support/on-databases.js';
import { startApp, type Tenant } from '../support/start-app.js';

onAnyDatabase((app, kind) => {
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await app().tenant();
  });
  const get = (path: string, headers = {}) => rest(app().url, path, { token: tenant.token, headers });

  test.each(['/v1/toys?limit=1', '/v1/openapi.json', '/', '/graphiql', '/v1/docs'])(
    'RFC9110-7: HEAD %s answers as GET does, without a body: 200, and 304 to a client that has it',
    async (path) => {
      const head = (headers = {}) =>
        rest(app().url, path, {
          method: 'HEAD',
          token: tenant.token,
          headers: { accept: '*/*', ...headers },
        });
      const known = await head();
      expect([known.status, known.text]).toEqual([200, '']);
      const etag = known.headers.get('etag') ?? '';
      expect((await get(path, { accept: '*/*' })).headers.get('etag')).toBe(etag);
      for (const tag of [etag, '*']) {
        const unchanged = await head({ 'if-none-match': tag });
        expect([unchanged.status, unchanged.text, unchanged.headers.get('etag')]).toEqual([304, '', etag]);
      }
    },
  );

  test('RFC9110-3: OPTIONS needs no key and lists Allow; other methods answer 405 with Allow', async () => {
    const expected = {
      '/v1/toys': 'GET, HEAD, POST, OPTIONS',
      '/v1/toys/1': 'GET, HEAD, PATCH, DELETE, OPTIONS',
      '/v1/toys/changes': 'GET, HEAD, OPTIONS',
    };
    for (const [path, allow] of Object.entries(expected)) {
      const options = await rest(app().url, path, { method: 'OPTIONS' });
      expect([options.status, options.headers.get('allow')]).toEqual([204, allow]);
      expect((await rest(app().url, '/v1/nope', { method: 'OPTIONS' })).status).toBe(404);
      for (const method of ['PUT', 'PATCH', 'DELETE', 'PROPFIND'].filter((each) => !allow.includes(each))) {
        const refused = await rest(app().url, path, { method, token: tenant.token, body: 'not json' });
        expect([method, refused.status, refused.body.code]).toEqual([method, 405, 'method_not_allowed']);
        expect(refused.headers.get('allow')).toBe(allow);
      }
    }
  });

  test('RFC9110-4: Accept without JSON answers 406; any other Accept is served', async () => {
    const served = [
      'application/json',
      '*/*',
      'application/*;q=0.1',
      'text/html, */*;q=0.1',
      // The type of the responses themselves.
      'application/json; charset=utf-8',
      'application/json;charset="UTF-8"',
    ];
    for (const accept of served) {
      expect([accept, (await get('/v1/toys?limit=1', { accept })).status]).toEqual([accept, 200]);
    }
    const refused = await get('/v1/toys', { accept: 'text/html' });
    expect([refused.status, refused.body.code]).toEqual([406, 'not_acceptable']);
  });

  test('RFC9110-5: unknown paths answer 404 in the Error body, also with a key and outside /v1', async () => {
    for (const path of [
      '/v1',
      '/v1/',
      '/v1/nope',
      '/v1/toys/1/2',
      '/nope',
      '/v1/toys/',
      `/v1/toys/${'1'.repeat(300)}`,
    ]) {
      const missing = await get(path);
      expect([path, missing.status, missing.body.code]).toEqual([path, 404, 'not_found']);
    }
    expect((await rest(app().url, '/v1/nope')).status).toBe(401);
  });

  test('CORS-1: a page of Apollo Studio may send requests and read every header; another origin may not', async () => {
    const preflight = (origin: string) =>
      rest(app().url, '/v1/toys', {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization,idempotency-key',
        },
      });
    const allowed = await preflight('https://studio.apollographql.com');
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://studio.apollographql.com');
    expect(allowed.headers.get('access-control-allow-headers')).toBe('authorization,idempotency-key');
    expect((await preflight('https://evil.example')).headers.get('access-control-allow-origin')).toBeNull();
    const read = await get('/v1/toys?limit=1', { origin: 'https://studio.apollographql.com' });
    const exposed = read.headers.get('access-control-expose-headers') ?? '';
    for (const name of ['ETag', 'Link', 'Location', 'Retry-After', 'Deprecation', 'Sunset', 'X-Request-Id']) {
      expect(exposed).toContain(name);
    }
  });

  test('CORS-2: a preflight for an unknown path gets 404 in the form of the door', async () => {
    const preflight = async (path: string) => {
      const headers = {
        origin: 'https://studio.apollographql.com',
        'access-control-request-method': 'GET',
      };
      const { status, body } = await rest(app().url, path, { method: 'OPTIONS', headers });
      return [status, body];
    };
    const error = { code: 'not_found', message: 'There is nothing at this path.', status: 404 };
    for (const path of ['/v1/nope', '/v1/toys/1/2', '/nope']) {
      expect([path, ...(await preflight(path))]).toEqual([path, 404, error]);
    }
    const extensions = { code: 'NOT_FOUND', status: 404 };
    expect(await preflight('/graphql/nope')).toEqual([
      404,
      { errors: [{ message: error.message, extensions }] },
    ]);
  });

  test('CORS-3: the origins of CORS_ORIGINS may call as well, and answers vary by Origin', async () => {
    const origins = ['https://one.example', 'https://two.example:8443'];
    const open = await startApp({ kind, env: { CORS_ORIGINS: origins.join(',') } });
    const ask = async (origin: string, method: string) => {
      const { headers } = await rest(open.url, '/v1/toys', { method, headers: { origin } });
      const [allowed, vary] = ['access-control-allow-origin', 'vary'].map((name) => headers.get(name));
      return { allowed, varies: vary?.split(', ').includes('Origin'), headers };
    };
    try {
      for (const origin of [...origins, 'https://studio.apollographql.com']) {
        for (const method of ['GET', 'OPTIONS']) {
          expect(await ask(origin, method)).toMatchObject({ allowed: origin, varies: true });
        }
      }
      for (const origin of ['https://two.example', 'http://one.example', 'null']) {
        for (const method of ['GET', 'OPTIONS']) {
          expect(await ask(origin, method)).toMatchObject({ allowed: null, varies: true });
        }
      }
      const { headers } = await ask('https://one.example', 'OPTIONS');
      expect(headers.get('access-control-allow-methods')).toBe('GET, HEAD, POST');
      expect(headers.get('access-control-max-age')).toBe('600');
      expect(headers.get('vary')).toContain('Access-Control-Request-Headers');
    } finally {
      await open.stop();
    }
  });
});
