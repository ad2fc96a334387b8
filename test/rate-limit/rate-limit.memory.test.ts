import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';
import { MemoryLimiter } from '../../src/rate-limit/memory/memory-limiter.js';
import { charge, HOUR_MS, MINUTE_MS, NOON_MS } from '../support/limiter/charges.js';
import type { LimiterMeasures } from '../support/limiter/limiter-measures.js';

// Measured on the built program in a separate process: under Jest each use of a global costs ten times as much.
let measures: LimiterMeasures;
beforeAll(async () => {
  const program = ['--expose-gc', 'dist/test/support/limiter/limiter-measures.js'];
  const { stdout } = await promisify(execFile)(process.execPath, program);
  measures = JSON.parse(stdout);
});

test('Limits-Memory-1: 100,000 addresses and 100,000 projects take less than 50 MB', () => {
  expect(measures.twoHundredThousandMegabytes).toBeLessThan(50);
});

test('Limits-Memory-2: a million subjects take less than 250 MB', () => {
  expect(measures.millionMegabytes).toBeLessThan(250);
});

test('Limits-Memory-3: a million subjects expire without a pause over 5 ms', () => {
  expect(measures.longestSweepMs).toBeLessThan(5);
});

test('Limits-Memory-4: 150,000 keys with strikes take less than 50 MB', () => {
  expect(measures.bansMegabytes).toBeLessThan(50);
});

test('Limits-Memory-5: the memory limiter decides 250,000 times a second or more', () => {
  expect(measures.decisionsPerSecond).toBeGreaterThan(250_000);
});

test('Limits-Memory-6: forgotten strikes and steps free their memory', () => {
  let now = NOON_MS;
  const limiter = new MemoryLimiter(() => now);
  limiter.trackChanges();
  const quota = { perMinute: 0, perDay: null };
  for (let key = 0; key < 1_000; key += 1) {
    for (let sent = 0; sent < 11; sent += 1) limiter.charge(charge({ quota, keyId: `${key}` }));
  }
  now += 2 * HOUR_MS;
  for (let request = 0; request < 2_000; request += 1) limiter.charge(charge({ keyId: null }));
  const bans = [...limiter.takeChanges(1_000)].flatMap((changes) => changes.bans);
  expect(bans).toHaveLength(1_000);
  expect(bans.filter(({ record }) => record !== null)).toEqual([]);
});

const address = (index: number) => charge({ subject: `address:10.${index >> 16}.${index}`, keyId: null });
const project = (index: number) => charge({ subject: `project:${index}` });

function fill(limiter: MemoryLimiter, make: typeof project, count: number): void {
  for (let index = 0; index < count; index += 1) limiter.charge(make(index));
}

test('Limits-Memory-7: refused requests of unknown senders take no memory', () => {
  const limiter = new MemoryLimiter(() => NOON_MS);
  const quota = { perMinute: 0, perDay: null };
  for (let index = 0; index < 100; index += 1) limiter.charge({ ...address(index), quota });
  expect(limiter.subjectCount).toBe(0);
});

test('Limits-Memory-8: a full memory evicts expired subjects first, then addresses, projects last', () => {
  let now = NOON_MS;
  const limiter = new MemoryLimiter(() => now, 100);
  fill(limiter, address, 50);
  fill(limiter, project, 20);
  now += MINUTE_MS;
  for (let index = 50; index < 80; index += 1) limiter.charge(address(index));
  expect(limiter.subjectCount).toBe(50);
  expect(limiter.peek(project(0)).day?.remaining).toBe(999);

  fill(limiter, address, 10_000);
  expect(limiter.subjectCount).toBe(100);
  for (let index = 0; index < 20; index += 1) {
    expect(limiter.peek(project(index)).day?.remaining).toBe(999);
  }
  fill(limiter, project, 10_000);
  expect(limiter.subjectCount).toBe(100);
});
