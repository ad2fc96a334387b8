import { Buffer } from 'node:buffer';
import { validator } from '../ground/kernel/validation.js';
import type { NounModel } from '../noun/definition/model.js';

type Field = NounModel['fields'][number];
type Compare = (one: unknown, other: unknown) => number;

/** The places of a decimal, so that its digits are those of an integer. */
const MOST_PLACES = 30;

/** How values of a kind are ordered, as the documents say; undefined = an own kind. */
export function comparisonOf({ kind }: Field): Compare | undefined {
  const key = KEYS[kind.name];
  return (
    key &&
    ((one, other) => {
      const [a, b] = [key(String(one)), key(String(other))];
      if (typeof a === 'bigint' || typeof b === 'bigint') return a < b ? -1 : Number(a > b);
      return Buffer.compare(a, b);
    })
  );
}

/** Not the way of the product: bytes of UTF-8, and decimals as integers. */
const KEYS: Readonly<Record<string, (text: string) => bigint | Buffer>> = {
  text: (text) => Buffer.from(text),
  date: (text) => Buffer.from(text),
  dateTime: (text) => BigInt(Date.parse(text)),
  int64: BigInt,
  integer: BigInt,
  decimal(text) {
    const [, sign, whole, part = ''] = /^(-?)(\d+)\.?(\d*)$/.exec(text) ?? [];
    return BigInt(`${sign}${whole}${part.padEnd(MOST_PLACES, '0')}`);
  },
};

/** Wrong comparisons, such as those of digits as text, order these differently. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  text: ['a', 'B', 'É', '\uffff', '😀'],
  date: ['1969-12-31', '2026-01-31', '2026-02-01', '2100-01-01'],
  dateTime: [
    '1969-12-31T23:59:59.999Z',
    '2026-02-01T00:00:00.000Z',
    '2026-02-01T00:00:00.001Z',
    '2100-01-01T00:00:00.000Z',
  ],
  int64: ['-10', '9', '10', '9007199254740993'],
  integer: [-10, 9, 10, 400],
  decimal: ['-10', '9.5', '9.25', '10'],
};

/** Values that the field may have, with those of the inputs. The noun may refuse some. */
export function orderingValues({ name, kind }: Field, stated: readonly unknown[]): readonly unknown[] {
  const problemsOf = validator({ type: 'object', properties: { [name]: kind.schema } });
  const isValid = (value: unknown) => problemsOf({ [name]: kind.parse?.(value) ?? value }).length === 0;
  const given = stated.filter((value) => value !== undefined && value !== null);
  return [...new Set([...(VALUES[kind.name] ?? []).filter(isValid), ...given])];
}
