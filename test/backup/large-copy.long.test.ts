import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Backups } from '../support/backups/backups.js';
import { onDatabase } from '../support/backups/every-table.js';
import { petstore } from '../support/command-line.js';
import { type DatabaseKind, databaseKinds } from '../support/databases.js';
import { createTenant, type GatewayProcess, startGateway } from '../support/gateway-process.js';
import { KeepAliveClient } from '../support/http/keep-alive-client.js';

/** `COPY_TOYS=1000000` is the full size; the figures are then printed. */
const TOYS = Number(process.env.COPY_TOYS ?? 50_000);
const MEMORY_BYTES = 96 * 1024 * 1024;
/** Where a test has both kinds, the copy goes from one to the other. */
const OTHER = otherKinds();
const STATEMENT_TOYS = 20_000;
const CLIENTS = 20;
const PAUSE_MS = 10;
/** A quiet phase before and after the command, with as many reads as fit. */
const QUIET_MS = Math.min(20_000, TOYS / 50);

describe.each(databaseKinds())('on %s', (kind) => {
  let backups: Backups;
  let databaseUrl: string;
  let gateway: GatewayProcess;
  let token: string;

  beforeAll(async () => {
    backups = await Backups.make();
    databaseUrl = await backups.migrated(kind);
    token = await createTenant(databaseUrl);
    await onDatabase(databaseUrl, addToys);
    gateway = await startGateway({ env: { DATABASE_URL: databaseUrl } });
  });
  afterAll(async () => {
    await gateway.kill('SIGKILL');
    await backups.remove();
  });

  test('Copy-14: a large copy takes bounded memory, and every reader is answered meanwhile', async () => {
    const into = await backups.newDatabase(OTHER[kind]);
    const args = ['copy', '--from', databaseUrl, '--into', into];
    const before = await readDuring(gateway, token, () => pause(QUIET_MS));
    const copy = await readDuring(gateway, token, () => measured(args, databaseUrl));
    const after = await readDuring(gateway, token, () => pause(QUIET_MS));
    expect(copy.result).toMatchObject({ code: 0, rows: { toys: TOYS } });
    expect(copy.result.peakBytes).toBeLessThan(MEMORY_BYTES);
    for (const { statuses } of [before, copy, after]) expect(statuses).toEqual(new Set([200]));
    if (process.env.COPY_TOYS === undefined) return;
    const p99Ms = { before: before.p99Ms, during: copy.p99Ms, after: after.p99Ms };
    console.info(`${kind} into ${OTHER[kind]}`, { p99Ms, copy: copy.result });
  });

  if (kind === 'sqlite') {
    test('Backup-7: a large backup takes bounded memory, and every reader is answered meanwhile', async () => {
      const file = backups.newFile();
      const during = await readDuring(gateway, token, () => measured(['backup', file], databaseUrl));
      expect(during.result).toMatchObject({ code: 0 });
      expect(during.result.peakBytes).toBeLessThan(MEMORY_BYTES);
      expect(during.statuses).toEqual(new Set([200]));
      const verify = await measured(['backup', 'verify', file], databaseUrl);
      expect(verify).toMatchObject({ code: 0 });
      if (process.env.COPY_TOYS === undefined) return;
      console.info('backup of sqlite', { p99Ms: during.p99Ms, backup: during.result, verify });
    });
  }
});

async function addToys(data: { query(sql: string): Promise<unknown> }): Promise<void> {
  const columns = 'project_id, id, name, category_id, status, created_at_ms';
  await data.query(`INSERT INTO toys (${columns}) SELECT id, 1, 'Bella the 1st', 1, 'sold', 1 FROM projects`);
  for (let toys = 1, more = 1; toys < TOYS; toys += more) {
    more = Math.min(toys, TOYS - toys, STATEMENT_TOYS);
    await data.query(
      `INSERT INTO toys (${columns}) SELECT project_id, id + ${toys}, CONCAT('Bella the ', id + ${toys}, 'th'), id % 50, status, 1
        FROM toys WHERE id <= ${more}`,
    );
  }
}

interface Reads<T> {
  result: T;
  p99Ms: number;
  statuses: Set<number>;
}

/** Reads random pages at a fixed rate while the work runs. A late request counts from the time when it was due. */
async function readDuring<T>(
  { url }: GatewayProcess,
  token: string,
  work: () => Promise<T>,
): Promise<Reads<T>> {
  const clients = Array.from({ length: CLIENTS }, () => new KeepAliveClient(url, token));
  const tookMs: number[] = [];
  const statuses = new Set<number>();
  let isOver = false;
  const startedAtMs = performance.now();
  const loops = clients.map(async (client, at) => {
    for (let turn = 0; !isOver; turn += 1) {
      const dueAtMs = startedAtMs + (turn * CLIENTS + at) * PAUSE_MS;
      await pause(Math.max(0, dueAtMs - performance.now()));
      const cursor = Buffer.from(`toy:${Math.floor(Math.random() * TOYS)}`).toString('base64url');
      const { status, answeredAt } = await client.send(`/v1/toys?limit=20&cursor=${cursor}`);
      statuses.add(status);
      tookMs.push(answeredAt - dueAtMs);
    }
  });
  const result = await work();
  isOver = true;
  await Promise.all(loops);
  for (const client of clients) client.close();
  tookMs.sort((a, b) => a - b);
  return { result, p99Ms: tookMs[Math.floor(tookMs.length * 0.99)] ?? 0, statuses };
}

/** Runs a command, and returns its exit code, its rows, its time and its largest resident memory. */
async function measured(args: string[], databaseUrl: string) {
  let peakBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const onStart = (child: ChildProcess) => {
    timer = setInterval(async () => {
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
      const [, peak] = /^VmHWM:\s+(\d+) kB$/m.exec(status) ?? [];
      peakBytes = Math.max(peakBytes, Number(peak ?? 0) * 1024);
    }, 50);
  };
  const startedAtMs = performance.now();
  const { code, json } = await petstore([...args, '--json'], { databaseUrl, onStart });
  clearInterval(timer);
  return { code, rows: json.rows, seconds: (performance.now() - startedAtMs) / 1000, peakBytes };
}

function otherKinds(): Record<DatabaseKind, DatabaseKind> {
  const kinds = databaseKinds();
  const server = kinds.find((kind) => kind !== 'sqlite') ?? 'sqlite';
  return { sqlite: server, mysql: 'sqlite', mariadb: 'sqlite' };
}
