import { execFileSync } from 'node:child_process';
import { copyFile, rm, stat } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import libsql from 'libsql';
import { petstore } from '../../support/command-line.js';
import { createTestDatabase } from '../../support/databases.js';
import { eventually } from '../../support/eventually.js';
import { createTenant, type GatewayProcess, startGateway } from '../../support/gateway-process.js';
import { type Habit, ToyLoad } from '../../support/toy-load.js';

const HABITS: Habit[] = ['create', 'create', 'create with key', 'create by both doors with key', 'read'];
const FULL_MS = 3_000;

/** As a full disk: no file of the process may grow beyond these bytes. Needs no right. */
function limitFiles({ processId }: GatewayProcess, bytes: number | 'unlimited'): void {
  execFileSync('prlimit', [`--pid=${processId}`, `--fsize=${bytes}:unlimited`]);
}

test.each(['without a change log', 'with a change log'])(
  'Reliability-21: after a full disk no acknowledged write is lost %s, /readyz says why, and the one file has all data',
  async (how) => {
    const database = await createTestDatabase('sqlite');
    const path = database.url.slice('sqlite:'.length);
    const gateway = await startGateway({ env: { DATABASE_URL: database.url, SHUTDOWN_SECONDS: '4' } });
    const token = await createTenant(database.url, 'ENTERPRISE', { isLogged: how === 'with a change log' });
    const load = new ToyLoad(gateway.url, token, HABITS);
    const readiness = async () => {
      const response = await fetch(`${gateway.url}/readyz`);
      return { status: response.status, text: await response.text() };
    };
    const command = (...args: string[]) => petstore([...args, '--json'], { databaseUrl: database.url });
    try {
      await eventually('toys made', () => load.acknowledged.size >= 20);
      const sizes = await Promise.all([path, `${path}-wal`].map(async (file) => (await stat(file)).size));
      limitFiles(gateway, Math.max(...sizes));
      await eventually('not ready', async () => (await readiness()).status === 503);
      expect((await readiness()).text).toMatch(/The database stores nothing: its disk/);
      const beganAt = performance.now();
      const created = await command('projects', 'create', 'neighbour');
      expect(created).toMatchObject({ code: 0 });
      await eventually('a while', () => performance.now() - beganAt > FULL_MS, 60_000);
      limitFiles(gateway, 'unlimited');
      await eventually('ready again', async () => (await readiness()).status === 200);
      await load.settle();
      expect(await load.findings()).toEqual({ missing: [], duplicate: [] });
      const refused = load.answers.filter(({ status }) => status >= 400);
      // A full disk cannot free the key of a refused request. Until the lock ends, a repeat gets 409.
      const isHeld = ({ status, habit }: (typeof refused)[number]) => status === 409 && habit.endsWith('key');
      const isRetryable = (answer: (typeof refused)[number]) =>
        (answer.status === 503 || isHeld(answer)) && Number(answer.headers['retry-after']) > 0;
      expect(refused.filter((answer) => !isRetryable(answer))).toEqual([]);
      expect(refused.length).toBeGreaterThan(0);
      expect(gateway.faults()).toEqual([]);

      const backup = `${path}.backup`;
      expect(await command('backup', backup)).toMatchObject({ code: 0, json: { complete: true } });
      await gateway.kill('SIGTERM');
      expect(await gateway.ended).toEqual({ code: 0, signal: null });
      const alone = `${path}.alone`;
      await copyFile(path, alone);
      for (const file of [backup, alone]) {
        const copy = new libsql(file);
        expect(copy.prepare('PRAGMA integrity_check').all()).toMatchObject([{ integrity_check: 'ok' }]);
        const names = new Set(
          copy
            .prepare('SELECT name FROM toys')
            .all()
            .map((row) => (row as { name: string }).name),
        );
        copy.close();
        expect([...load.acknowledged.keys()].filter((name) => !names.has(name))).toEqual([]);
      }
    } finally {
      load.abandon();
      await gateway.kill('SIGKILL');
      await database.remove();
    }
  },
);

test('Backup-15: a backup that meets a full disk fails, says so, and leaves no file', async () => {
  const database = await createTestDatabase('sqlite');
  const path = database.url.slice('sqlite:'.length);
  try {
    expect(await petstore(['migrate'], { databaseUrl: database.url })).toMatchObject({ code: 0 });
    const run = petstore(['backup', `${path}.backup`, '--json'], {
      databaseUrl: database.url,
      onStart: ({ pid }) => execFileSync('prlimit', [`--pid=${pid}`, '--fsize=50000']),
    });
    expect(await run).toMatchObject({ code: 1, json: { error: { code: 'unavailable' } } });
    await expect(stat(`${path}.backup`)).rejects.toThrow('ENOENT');
  } finally {
    await rm(`${path}.backup`, { force: true });
    await database.remove();
  }
});
