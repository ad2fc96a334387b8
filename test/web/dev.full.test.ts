import { appendFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { copyRepository, type RepositoryCopy } from '../support/repository/repository-copy.js';
import { freePort } from '../support/servers/daemon.js';

const PATIENCE_MS = 200_000;
const SAYS_ADDRESSES = /^Dashboard (\S+) {3}Gateway \S+ .*Ctrl-C/m;

let copy: RepositoryCopy;
beforeAll(async () => {
  copy = await copyRepository();
  // The browser files of this repository's build are the same.
  await copy.run(`mkdir dist && cp -r ${resolve('dist/public')} dist/`);
});
afterAll(() => copy.remove());

test('Dev-1: npm run dev says both addresses, restarts the gateway after a change, and ends with all that it started', async () => {
  const { port, gateway } = await freeAddress();
  const dev = copy.start(`DEMO=0 PORT=${port} npm run dev`);
  try {
    const dashboard = await addressOf(dev);
    const page = await (await fetch(dashboard)).text();
    expect(page).toContain('/@vite/client');
    // The nouns come from the gateway.
    expect(page).toMatch(
      /<script type="application\/json" id="gateway">\{"name":"Petstore Gateway","nouns":\[/,
    );
    const asked = await fetch(`${new URL(dashboard).origin}/graphql`, { method: 'POST' });
    expect(asked.headers.has('x-request-id')).toBe(true);
    await appendFile(join(copy.folder, 'src/main.ts'), "console.log('changed by a test');\n");
    await eventually('the restart', () => dev.output().includes('changed by a test'), PATIENCE_MS);
    await eventually('the new process', () => answers(gateway), PATIENCE_MS);
    expect((await dev.end()).output).not.toMatch(/error/i);
    expect(await answers(gateway)).toBe(false);
  } finally {
    await dev.end();
  }
});

test('Dev-2: a second npm run dev on the same port refuses; closing the terminal of the first ends its gateway', async () => {
  const { port, gateway } = await freeAddress();
  const first = copy.start(`echo pid $$; DEMO=0 PORT=${port} exec node browser/dev.js`);
  try {
    await addressOf(first);
    const second = await copy.run(`DEMO=0 PORT=${port} npm run dev`);
    expect(second.output).toContain(`A program answers at ${gateway} already. Stop it, or set PORT`);
    expect(second.output).not.toMatch(SAYS_ADDRESSES);
    expect(second.code).toBe(1);
    expect(await answers(gateway)).toBe(true);
    process.kill(Number(/^pid (\d+)/.exec(first.output())?.[1]), 'SIGHUP');
    expect((await first.finished).code).toBe(0);
    expect(await answers(gateway)).toBe(false);
  } finally {
    await first.end();
  }
});

async function freeAddress() {
  const port = await freePort();
  return { port, gateway: `http://127.0.0.1:${port}` };
}

/** The address of the dashboard, once both serve. */
async function addressOf(dev: { output(): string }): Promise<string> {
  const said = () => SAYS_ADDRESSES.exec(dev.output()) ?? undefined;
  const [, dashboard = ''] = await eventually('the addresses', said, PATIENCE_MS);
  return dashboard;
}

async function answers(gateway: string): Promise<boolean> {
  return (await fetch(`${gateway}/healthz`).catch(() => null)) !== null;
}
