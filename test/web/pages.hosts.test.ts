import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anyDatabase } from '../support/databases.js';
import { attach, plain, type ServingApp, startServing, visit } from '../support/domains/served-domain.js';
import { eventually } from '../support/eventually.js';
import { TEST_ACTOR } from '../support/start-app.js';

const BROWSER = { accept: 'text/html,*/*;q=0.8' };

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

  test("Reference-2: / is the reference on a project's hosts, which tell it the project's name, and the front page on the platform", async () => {
    const { id } = await named('named', 'Zoë & Söhne');
    await attach(app, id, { hostname: 'shop.example.com', isPrimary: true });
    await eventually('served', async () => (await visit(app, 'shop.example.com', '/healthz')).status === 200);
    const onDomain = await visit(app, 'shop.example.com', '/', { headers: BROWSER });
    const onGenerated = await read(generated('named'));
    for (const { status, text, headers } of [onDomain, onGenerated]) {
      expect(status).toBe(200);
      expect(text).toContain(' data-project>');
      expect(text).toContain('<title>Toys API · API reference</title>');
      expect(headers['content-security-policy']).toContain("script-src 'self';");
      // The dashboard is only on the platform.
      expect(text).not.toContain('/dashboard');
    }
    expect((await read(generated('named'), '/v1/docs')).text).toBe(onGenerated.text);
    const facts = await visit(app, 'shop.example.com', '/v1/docs/site.json');
    expect(JSON.parse(facts.text)).toEqual({ project: 'Zoë & Söhne', servers: [] });
    const platform = await read('localhost');
    expect(platform.text).toContain('<title>Petstore Gateway</title>');
    expect(platform.text).not.toContain('API reference');
    const { project } = JSON.parse((await read('localhost', '/v1/docs/site.json')).text);
    expect(project).toBe(null);
  });

  test('Reference-3: an unknown host gets no page: 421', async () => {
    for (const path of [
      '/',
      '/graphiql',
      '/v1/docs',
      '/v1/docs/limits',
      '/v1/docs/site.json',
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
    for (const other of [1, 4444, 65_535]) {
      expect((await read(`${generated('ports')}:${other}`)).text).toBe(usual.text);
    }
  });
});
