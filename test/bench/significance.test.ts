import { expect, test } from '@jest/globals';
import { compare, judge } from '../../bench/significance.js';
import { seeded } from '../support/limiter/seeded.js';

/** The standard deviation among processes of one build for which the judge promises to find 5 %. Measured: 4 to 14 %. */
const NOISE = 0.02;
const PAIRS = 12;
const EQUAL_ROWS = 11;

test('Bench-1: 16 dearer processes of 16 are no chance, and the ratio is that of the costs', () => {
  const before = Array.from({ length: 16 }, (_, pair) => 100 + pair);
  const { ratio, interval, probability } = compare(
    before,
    before.map((cost) => 1.1 * cost),
  );
  expect(ratio).toBeCloseTo(1.1, 10);
  expect(interval).toEqual([expect.closeTo(1.1, 10), expect.closeTo(1.1, 10)]);
  // 2 of 2^16 ways to distribute the signs are as extreme: this one and its reverse.
  expect(probability).toBeCloseTo(2 / 2 ** 16, 10);
});

test('Bench-2: one slow process is chance', () => {
  const before = [100, 101, 102, 103, 104, 105, 106, 107];
  const after = [101, 100, 103, 102, 105, 104, 107, 190];
  expect(compare(before, after).probability).toBeGreaterThan(0.2);
});

test('Bench-3: equal samples are equal', () => {
  const { ratio, probability } = compare([100, 100, 100], [100, 100, 100]);
  expect([ratio, probability]).toEqual([expect.closeTo(1, 10), 1]);
});

test('Bench-7: a row that costs 5 % more is found in nine of ten runs, with less than one false alarm in 100 rows', () => {
  const random = seeded(4);
  const runs = Array.from({ length: 200 }, () => verdictsOf([1.05, ...Array(EQUAL_ROWS).fill(1)], random));
  const found = runs.filter(([first]) => first === 'slower');
  const alarms = runs.flatMap(([, ...equal]) => equal).filter((verdict) => verdict !== 'within the noise');
  expect(found.length / runs.length).toBeGreaterThan(0.9);
  expect(alarms.length / (runs.length * EQUAL_ROWS)).toBeLessThan(0.01);
});

function verdictsOf(ratios: readonly number[], random: () => number) {
  const costs = (ratio: number) =>
    Array.from({ length: PAIRS }, () => 100 * ratio * Math.exp(NOISE * normal(random)));
  return judge(ratios.map((ratio) => compare(costs(1), costs(ratio))));
}

/** The sum of twelve uniform numbers is nearly normal, with a variance of 1. */
function normal(random: () => number): number {
  return Array.from({ length: 12 }, random).reduce((sum, one) => sum + one, -6);
}
