import { expect, test } from '@jest/globals';
import { compareDecimals, plainDecimal, sortableDecimal } from '../../src/ground/kernel/decimals.js';
import { seeded } from '../support/limiter/seeded.js';

const next = seeded(7);
const digits = (most: number) => String(next()).slice(2, 3 + Math.floor(next() * most));
/** Numbers of few digits, so that many are close to each other, and of many. */
const NUMBERS = Array.from({ length: 300 }, (_, at) => {
  const most = at % 2 === 0 ? 2 : 15;
  return `${next() < 0.5 ? '-' : ''}${digits(most)}${next() < 0.7 ? `.${digits(most)}` : ''}`;
});
const EDGES = [
  '0',
  '-0',
  '0.0',
  '-0.10',
  '0.1',
  '00.1',
  '9',
  '-9',
  '9.9',
  '-9.9',
  '-9.99',
  '10',
  '-10',
  '1.',
  '-1.5',
  '-1.50',
  '-1',
];

/** Exact, by another way: as integers of 40 digits behind the point. */
function scaled(text: string): bigint {
  const [, sign, whole = '', part = ''] = /^(-?)(\d*)\.?(\d*)$/.exec(text) ?? [];
  return BigInt(`${sign}${whole}${part.padEnd(40, '0')}`);
}

test('Decimals-1: texts sort as their numbers, bytewise, and equal numbers have equal texts', () => {
  const numbers = [...EDGES, ...NUMBERS];
  const wrong: string[] = [];
  for (const one of numbers) {
    for (const other of numbers) {
      const [a, b] = [scaled(one), scaled(other)];
      const expected = a === b ? 0 : a < b ? -1 : 1;
      const compared = Buffer.compare(Buffer.from(sortableDecimal(one)), Buffer.from(sortableDecimal(other)));
      if (compared !== expected || Math.sign(compareDecimals(one, other)) !== expected)
        wrong.push(`${one} and ${other}`);
    }
  }
  expect(wrong).toEqual([]);
});

test('Decimals-2: the plain text of a sortable one is the number with all its places', () => {
  for (const number of [...EDGES, ...NUMBERS]) {
    const plain = plainDecimal(sortableDecimal(number), 16);
    expect([number, scaled(plain)]).toEqual([number, scaled(number)]);
    expect(plain).toMatch(/^-?(0|[1-9]\d*)\.\d{16}$/);
    expect(plainDecimal(number, 16)).toBe(plain);
  }
  expect(plainDecimal('-0.00', 0)).toBe('0');
});

test('Decimals-3: a text that is no decimal is read once, however long it is: a rule compares it with its bounds', () => {
  const zeros = '0'.repeat(50_000);
  for (const text of [
    `${zeros}.${zeros}x`,
    `${zeros}.${zeros}`,
    `${'.'.repeat(50_000)}`,
    `-${zeros}1${zeros}`,
  ]) {
    expect(compareDecimals(text, text)).toBe(0);
  }
});
