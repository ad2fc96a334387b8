import { type ChildProcess, execFileSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/ground/config/config.js';
import { Database } from '../../src/ground/database/database.js';
import { petstore } from '../support/command-line.js';
import { createTestDatabase, type TestDatabase } from '../support/databases.js';
import { DATABASE_SCHEMA } from '../support/gateway/tested-gateway.js';
import { startGateway } from '../support/gateway-process.js';
import { rest } from '../support/http/client.js';
import { Toy } from '../support/nouns/toys.js';
import { slowness } from '../support/own-time.js';

describe('a large file on SQLite', () => {
  const ROWS = 200_000;
  const MEMORY_BYTES = 200_000_000;
  /** A tenth of the speed of a development machine. */
  const ROWS_PER_SECOND = 10_000;
  let database: TestDatabase;
  let csv: string;
  let token: string;

  const run = (args: string[], onStart: (child: ChildProcess) => void = () => {}) =>
    petstore([...args, '--json'], { databaseUrl: database.url, onStart });
  const stored = async () => {
    const db = await Database.open(loadConfig({ DATABASE_URL: database.url }).database, DATABASE_SCHEMA);
    const rows = await db.repository(Toy).count();
    await db.close();
    return rows;
  };

  beforeAll(async () => {
    database = await createTestDatabase('sqlite');
    const quotas = ['--plan', 'enterprise', '--per-minute', '1000000', '--per-day', '1000000'];
    await run(['projects', 'create', 'shop', ...quotas]);
    token = (await run(['keys', 'create', 'shop'])).json.key;
    csv = join(database.url.slice('sqlite:'.length), '..', 'large.csv');
    const rows = Array.from(
      { length: ROWS },
      (_, at) => `Bella the ${at}th,${at % 50},${at % 2 ? 'sold' : ''}\n`,
    );
    await writeFile(csv, `name,categoryId,status\n${rows.join('')}`);
  });
  afterAll(() => database.remove());

  test('Import-15: the file is imported fast and in bounded memory', async () => {
    let peakBytes = 0;
    let timer: NodeJS.Timeout | undefined;
    const before = await stored();
    const pace = await slowness();
    // `--again`: a retry imports the same file.
    const { code, json } = await run(['toys', 'import', 'shop', csv, '--again'], (child) => {
      timer = setInterval(() => {
        peakBytes = Math.max(peakBytes, residentBytes(child));
      }, 50);
    });
    clearInterval(timer);
    expect(code).toBe(0);
    expect(json.imported).toBe(ROWS);
    expect(json.rowsPerSecond * Math.max(pace, await slowness())).toBeGreaterThan(ROWS_PER_SECOND);
    expect(peakBytes).toBeGreaterThan(0);
    expect(peakBytes).toBeLessThan(MEMORY_BYTES);
    expect(await stored()).toBe(before + ROWS);
  });

  test('Import-16: meanwhile a gateway on the same file answers every write in time', async () => {
    const gateway = await startGateway({ env: { DATABASE_URL: database.url } });
    const before = await stored();
    const pace = await slowness();
    let isOver = false;
    const answers: { status: number; tookMs: number }[] = [];
    const writers = [1, 2, 3, 4].map(async (at) => {
      while (!isOver) {
        const startedAtMs = performance.now();
        const body = { name: `Writer ${at}`, categoryId: 1 };
        const { status } = await rest(gateway.url, '/v1/toys', { method: 'POST', token, body });
        answers.push({ status, tookMs: performance.now() - startedAtMs });
      }
    });
    const { code } = await run(['toys', 'import', 'shop', csv, '--again']);
    isOver = true;
    await Promise.all(writers);
    await gateway.kill('SIGKILL');
    expect(code).toBe(0);
    expect(answers.length).toBeGreaterThan(20);
    expect(answers.filter(({ status }) => status !== 201)).toEqual([]);
    const slowestMs = Math.max(...answers.map(({ tookMs }) => tookMs));
    expect(slowestMs).toBeLessThan(2_000 * Math.max(pace, await slowness()));
    expect(await stored()).toBe(before + ROWS + answers.length);
  });

  test('Import-20: long rows that are all refused are imported in bounded memory', async () => {
    const row = `${'\u0001'.repeat(99_000)},1\n`;
    const source = `${csv}.long.csv`;
    await writeFile(source, `name,categoryId\n${row.repeat(300)}`);
    const { code, json } = await run(['toys', 'import', 'shop', source]);
    await rm(source);
    await rm(`${csv}.long.refused.csv`, { force: true });
    expect(code).toBe(1);
    expect(json).toMatchObject({ refused: 300, complete: true });
  });

  test('Export-9: all toys are exported fast and in bounded memory', async () => {
    const rows = await stored();
    const pace = await slowness();
    let peakBytes = 0;
    let timer: NodeJS.Timeout | undefined;
    const { code, json } = await run(['toys', 'export', 'shop', `${csv}.export.csv`], (child) => {
      timer = setInterval(() => {
        peakBytes = Math.max(peakBytes, residentBytes(child));
      }, 50);
    });
    clearInterval(timer);
    await rm(`${csv}.export.csv`);
    expect({ code, exported: json.exported }).toEqual({ code: 0, exported: rows });
    expect(json.rowsPerSecond * Math.max(pace, await slowness())).toBeGreaterThan(ROWS_PER_SECOND);
    expect(peakBytes).toBeGreaterThan(0);
    expect(peakBytes).toBeLessThan(MEMORY_BYTES);
  });

  test('Import-17: an import waits while another process holds the write lock, instead of failing', async () => {
    const other = await Database.open(loadConfig({ DATABASE_URL: database.url }).database, DATABASE_SCHEMA);
    const before = await stored();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const holding = other.transaction(async (manager) => {
      await manager.query('UPDATE toys SET status = NULL WHERE id = 0');
      await held;
    });
    await writeFile(`${csv}.one.csv`, `name,categoryId\nRex ${before},1\n`);
    const importing = run(['toys', 'import', 'shop', `${csv}.one.csv`], (child) =>
      child.stderr?.on('data', (text) => {
        if (String(text).includes('Waiting for up to a minute')) release();
      }),
    );
    const { code, json } = await importing;
    // An import that did not wait leaves the lock to the test.
    release();
    await holding;
    await other.close();
    expect({ code, imported: json.imported }).toEqual({ code: 0, imported: 1 });
    expect(await stored()).toBe(before + 1);
  });
});

function residentBytes(child: ChildProcess): number {
  try {
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(child.pid)])) * 1024;
  } catch {
    // The process has just ended.
    return 0;
  }
}
