import { expect, test } from '@jest/globals';
import { compare } from '../../bench/significance.js';

test('Bench-1: five slower processes of five are no chance, and the ratio is that of the geometric means', () => {
  const { ratio, probability } = compare([100, 101, 102, 103, 104], [90, 90.9, 91.8, 92.7, 93.6]);
  expect(ratio).toBeCloseTo(0.9, 10);
  // 2 of 252 divisions are as extreme: this one and its reverse.
  expect(probability).toBeCloseTo(2 / 252, 10);
});

test('Bench-2: one fast process of five is chance', () => {
  expect(compare([100, 101, 102, 103, 104], [99, 100.5, 101.5, 102.5, 180]).probability).toBeGreaterThan(0.2);
});

test('Bench-3: equal samples are equal', () => {
  const { ratio, probability } = compare([100, 100, 100], [100, 100, 100]);
  expect([ratio, probability]).toEqual([expect.closeTo(1, 10), 1]);
});
