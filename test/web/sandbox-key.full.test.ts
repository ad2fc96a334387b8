import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { startGateway } from '../support/gateway-process.js';
import { rest } from '../support/http/client.js';

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

test('Sandbox-6: the key is filled in by the process that made the demo project, not by a later one or with a public address', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-demo-'));
  const prefilled = async (name: string, extra: Record<string, string> = {}) => {
    const env = { DATABASE_URL: `sqlite:${join(folder, name)}`, DEMO: '1', ...extra };
    const gateway = await startGateway({ env });
    try {
      const key = await eventually('started', async () =>
        /Demo key|To create a key/.test(gateway.output()),
      ).then(() => /Demo key, shown only once: (pk_\w+)/.exec(gateway.output())?.[1]);
      const { text } = await rest(gateway.url, '/graphql', { headers: BROWSER });
      expect(text).toContain('sandbox-settings');
      return { key, isFilledIn: key !== undefined && text.includes(key), hasAnyKey: /pk_\w/.test(text) };
    } finally {
      await gateway.kill('SIGKILL');
    }
  };
  expect(await prefilled('a')).toMatchObject({ isFilledIn: true });
  expect(await prefilled('a')).toEqual({ key: undefined, isFilledIn: false, hasAnyKey: false });
  const exposed = await prefilled('b', { STAGING_BASE_URL: 'https://staging.example.com' });
  expect(exposed).toEqual({ key: expect.stringMatching(/^pk_/), isFilledIn: false, hasAnyKey: false });
  await rm(folder, { recursive: true, force: true });
});
