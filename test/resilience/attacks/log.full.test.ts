import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { afterEach, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/servers/daemon.js';

const MAIN = resolve('dist/src/main.js');
const LONG_PATH = `/${'x'.repeat(15_000)}`;
/** Far more than a pipe buffers, at 1.7 KB a line. */
const REQUESTS = 2_000;
const AT_ONCE = 50;
const SHUTDOWN_SECONDS = 4;

let child: ChildProcess;
afterEach(() => {
  child.kill('SIGKILL');
});

/** Starts the built gateway with its log on this standard output; returns its URL once it answers. */
async function gatewayWith(stdout: 'pipe' | number): Promise<string> {
  const port = await freePort();
  child = spawn(process.execPath, ['--max-old-space-size=512', MAIN], {
    env: {
      PORT: String(port),
      DATABASE_URL: 'sqlite::memory:',
      LOG_LEVEL: 'info',
      SHUTDOWN_SECONDS: String(SHUTDOWN_SECONDS),
    },
    stdio: ['ignore', stdout, 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  await eventually('an answer', async () => (await fetch(`${url}/healthz`)).ok, 30_000);
  return url;
}

async function flood(url: string): Promise<Set<number>> {
  const statuses = new Set<number>();
  let left = REQUESTS;
  const ask = async () => {
    while (left > 0) {
      left -= 1;
      const answer = await fetch(url + LONG_PATH);
      await answer.arrayBuffer();
      statuses.add(answer.status);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  return statuses;
}

/** Sends SIGTERM and returns the exit code. */
async function endOf(): Promise<number | string> {
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal);
  child.kill('SIGTERM');
  const late = new Promise<string>((give) =>
    setTimeout(give, SHUTDOWN_SECONDS * 2_000, 'has not ended').unref(),
  );
  return Promise.race([ended, late]);
}

test('Attack-log-1: a full disk for the log neither ends the gateway nor blocks its shutdown', async () => {
  const full = openSync('/dev/full', 'w');
  const url = await gatewayWith(full);
  closeSync(full);
  for (let at = 0; at < 20; at += 1) expect((await fetch(`${url}/nowhere`)).status).toBe(404);
  expect(await endOf()).toBe(0);
});

test("Attack-log-2: closing the log's pipe does not end the gateway", async () => {
  const url = await gatewayWith('pipe');
  (child.stdout as Readable).destroy();
  for (let at = 0; at < 20; at += 1) expect((await fetch(`${url}/nowhere`)).status).toBe(404);
  expect(await endOf()).toBe(0);
});

test('Attack-log-3: while the log is not read, requests are served, and the process ends in time', async () => {
  const url = await gatewayWith('pipe');
  (child.stdout as Readable).pause();
  const statuses = await flood(url);
  expect([...statuses].filter((status) => status >= 500)).toEqual([]);
  expect(await endOf()).toBe(0);
});
