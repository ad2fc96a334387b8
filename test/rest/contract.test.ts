import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serverAudits } from 'graphql-http';
import { rest } from '../support/http/client.js';
import { startApp, type TestApp } from '../support/start-app.js';

test('Contract-9: the document names a staging server only if one is configured', async () => {
  const app = await startApp();
  const { body } = await rest(app.url, '/v1/openapi.json');
  await app.stop();
  expect(body.servers).toEqual([{ url: `${app.url}/v1`, description: 'Production' }]);
});

describe('GraphQL over HTTP', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());

  test('Contract-5: the 61 audits of graphql-http find no error, at most 3 warnings and 3 notices', async () => {
    const { token } = await app.tenant();
    const audits = serverAudits({
      url: `${app.url}/graphql`,
      fetchFn: (url: string, init?: RequestInit) =>
        fetch(url, { ...init, headers: { ...init?.headers, authorization: `Bearer ${token}` } }),
    });
    expect(audits).toHaveLength(61);
    const found: Record<string, string[]> = { ok: [], notice: [], warn: [], error: [] };
    for (const audit of audits) {
      const result = await audit.fn();
      found[result.status]?.push(`${audit.id} ${audit.name}`);
    }
    expect(found.error).toEqual([]);
    expect(found.warn?.length).toBeLessThanOrEqual(3);
    expect(found.notice?.length).toBeLessThanOrEqual(3);
  });
});

test('Contract-7: docs/settings.md names every variable that is read, and no other', async () => {
  const table = await readFile('docs/settings.md', 'utf8');
  const files = ['config', 'tracing-settings'].map((name) =>
    readFile(`src/ground/config/${name}.ts`, 'utf8'),
  );
  const source = (await Promise.all(files)).join();
  const read = new Set([...source.matchAll(/\(\s*'([A-Z_]{4,})'/g)].map(([, name]) => name));
  const told = new Set(
    [...table.matchAll(/^\| `([A-Z_]+)`(?:, `([A-Z_]+)`)?/gm)].flatMap(([, ...names]) =>
      names.filter(Boolean),
    ),
  );
  expect([...told].sort()).toEqual([...read].sort());
});
