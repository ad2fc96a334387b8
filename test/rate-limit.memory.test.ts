import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';
import { MemoryLimiter } from '../src/rate-limit/memory-limiter.js';
import { charge, HOUR_MS, MINUTE_MS, NOON_MS } from './support/charges.js';
import type { LimiterMeasures } from './support/limiter-measures.js';

// Measured on the built program in a process of its own: under Jest each use of a global costs ten times as much.
let measures: LimiterMeasures;
beforeAll(async () => {
  const program = ['--expose-gc', 'dist/test/support/limiter-measures.js'];
  const { stdout } = await promisify(execFile)(process.execPath, program);
  measures = JSON.parse(stdout);
});

test('Limits: 100,000 addresses and 100,000 projects cost less than 50 MB', () => {
  expect(measures.twoHundredThousandMegabytes).toBeLessThan(50);
});

test('Limits: a million subjects cost less than 250 MB', () => {
  expect(measures.millionMegabytes).toBeLessThan(250);
});

test('Limits: a million subjects expire without a pause over 5 ms', () => {
  expect(measures.longestSweepMs).toBeLessThan(5);
});

test('Limits: 150,000 struck keys cost less than 50 MB', () => {
  expect(measures.bansMegabytes).toBeLessThan(50);
});

test('Limits: decisions per second in memory are of the order of a million', () => {
  expect(measures.decisionsPerSecond).toBeGreaterThan(250_000);
});

test('Limits: strikes and steps are forgotten, and their memory is free again', () => {
  let now = NOON_MS;
  const limiter = new MemoryLimiter(() => now);
  const quota = { perMinute: 0, perDay: null };
  for (let key = 0; key < 1_000; key += 1) {
    for (let sent = 0; sent < 11; sent += 1) limiter.charge(charge({ quota, keyId: `${key}` }));
  }
  now += 2 * HOUR_MS;
  for (let request = 0; limiter.hasBans && request < 2_000; request += 1) {
    limiter.charge(charge({ keyId: null }));
  }
  expect(limiter.hasBans).toBe(false);
});

const address = (index: number) => charge({ subject: `address:10.${index >> 16}.${index}`, keyId: null });
const project = (index: number) => charge({ subject: `project:${index}` });

function fill(limiter: MemoryLimiter, make: typeof project, count: number): void {
  for (let index = 0; index < count; index += 1) limiter.charge(make(index));
}

test('Limits: refused requests of unknown senders take no memory', () => {
  const limiter = new MemoryLimiter(() => NOON_MS);
  const quota = { perMinute: 0, perDay: null };
  for (let index = 0; index < 100; index += 1) limiter.charge({ ...address(index), quota });
  expect(limiter.subjectCount).toBe(0);
});

test('Limits: a full memory forgets expired subjects first, then addresses, projects last', () => {
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
