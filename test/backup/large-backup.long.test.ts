import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Backups } from '../support/backups/backups.js';
import { onDatabase } from '../support/backups/every-table.js';
import { petstore } from '../support/command-line.js';
import { databaseKinds } from '../support/databases.js';
import { createTenant, type GatewayProcess, startGateway } from '../support/gateway-process.js';
import { KeepAliveClient } from '../support/http/keep-alive-client.js';

/** `BACKUP_PETS=1000000` is the full size; the figures are then printed. */
const PETS = Number(process.env.BACKUP_PETS ?? 50_000);
const MEMORY_BYTES = 96 * 1024 * 1024;
const STATEMENT_PETS = 20_000;
const CLIENTS = 20;
const PAUSE_MS = 10;
/** A quiet phase before and after the command, with as many reads as fit. */
const QUIET_MS = Math.min(20_000, PETS / 50);

describe.each(databaseKinds())('on %s', (kind) => {
  let backups: Backups;
  let databaseUrl: string;
  let gateway: GatewayProcess;
  let token: string;

  beforeAll(async () => {
    backups = await Backups.make();
    databaseUrl = await backups.migrated(kind);
    token = await createTenant(databaseUrl);
    await onDatabase(databaseUrl, addPets);
    gateway = await startGateway({ env: { DATABASE_URL: databaseUrl } });
  });
  afterAll(async () => {
    await gateway.kill('SIGKILL');
    await backups.remove();
  });

  test('Backup-7: a large backup takes bounded memory, and every reader is answered meanwhile', async () => {
    const file = backups.newFile();
    const before = await readDuring(gateway, token, () => pause(QUIET_MS));
    const backup = await readDuring(gateway, token, () => measured(['backup', file], databaseUrl));
    const after = await readDuring(gateway, token, () => pause(QUIET_MS));
    expect(backup.result).toMatchObject({ code: 0, rows: { pets: PETS } });
    expect(backup.result.peakBytes).toBeLessThan(MEMORY_BYTES);
    for (const { statuses } of [before, backup, after]) expect(statuses).toEqual(new Set([200]));

    const verify = await measured(['backup', 'verify', file], databaseUrl);
    const restore = await measured(['restore', file, '--into', await backups.newDatabase(kind)], databaseUrl);
    expect(restore).toMatchObject({ code: 0, rows: { pets: PETS } });
    expect(restore.peakBytes).toBeLessThan(MEMORY_BYTES);
    if (process.env.BACKUP_PETS === undefined) return;
    const p99Ms = { before: before.p99Ms, during: backup.p99Ms, after: after.p99Ms };
    console.info(kind, { p99Ms, backup: backup.result, verify, restore });
  });
});

async function addPets(data: { query(sql: string): Promise<unknown> }): Promise<void> {
  const columns = 'project_id, id, name, category_id, status, created_at_ms';
  await data.query(`INSERT INTO pets (${columns}) SELECT id, 1, 'Bella the 1st', 1, 'sold', 1 FROM projects`);
  for (let pets = 1, more = 1; pets < PETS; pets += more) {
    more = Math.min(pets, PETS - pets, STATEMENT_PETS);
    await data.query(
      `INSERT INTO pets (${columns}) SELECT project_id, id + ${pets}, CONCAT('Bella the ', id + ${pets}, 'th'), id % 50, status, 1
        FROM pets WHERE id <= ${more}`,
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
      const cursor = Buffer.from(`pet:${Math.floor(Math.random() * PETS)}`).toString('base64url');
      const { status, answeredAt } = await client.send(`/v1/pets?limit=20&cursor=${cursor}`);
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
