import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from '@jest/globals';
import type { LimiterMeasures } from '../support/limiter/limiter-measures.js';

// Measured on the built program in a process of its own, whose heap has nothing else.
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
