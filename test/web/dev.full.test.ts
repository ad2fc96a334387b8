import { appendFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { copyRepository } from '../support/own-noun/repository-copy.js';
import { freePort } from '../support/servers/daemon.js';

const PATIENCE_MS = 200_000;

test('Dev-1: npm run dev says both addresses, restarts the gateway after a change, and ends with all that it started', async () => {
  const copy = await copyRepository();
  const port = await freePort();
  const gateway = `http://127.0.0.1:${port}`;
  // The pages of this repository's build are the same.
  await copy.run(`mkdir dist && cp -r ${resolve('dist/public')} dist/`);
  const dev = copy.start(`DEMO=0 PORT=${port} npm run dev`);
  try {
    const [, dashboard = ''] = await eventually(
      'the addresses',
      () => /^Dashboard (\S+) {3}Gateway \S+ .*Ctrl-C/m.exec(dev.output()) ?? undefined,
      PATIENCE_MS,
    );
    expect(await (await fetch(dashboard)).text()).toContain('/@vite/client');
    const asked = await fetch(`${new URL(dashboard).origin}/graphql`, { method: 'POST' });
    expect(asked.headers.has('x-request-id')).toBe(true);
    await appendFile(join(copy.folder, 'src/main.ts'), "console.log('changed by a test');\n");
    await eventually('the restart', () => dev.output().includes('changed by a test'), PATIENCE_MS);
    await eventually('the new process', async () => (await fetch(`${gateway}/healthz`)).ok, PATIENCE_MS);
    expect((await dev.end()).output).not.toMatch(/error/i);
    await expect(fetch(`${gateway}/healthz`)).rejects.toThrow();
  } finally {
    await dev.end();
    await copy.remove();
  }
});
