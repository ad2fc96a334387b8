import { expect, test } from '@jest/globals';
import { got } from '../../src/ground/kernel/got.js';

const LONG = 'x'.repeat(40);

test.each<[unknown, string]>([
  ['abc', '"abc"'],
  ['', '""'],
  [undefined, 'nothing'],
  [null, 'null'],
  [1.5, '1.5'],
  [2n ** 63n, '9223372036854775808'],
  [[1, 2], 'a list of 2'],
  [{ a: 1 }, 'an object'],
  ['"\n\x1b[2J\u202E\u009b', '"\\"\\n\\u001b[2J\\u202e\\u009b"'],
  [`${LONG}y`, `"${LONG}…"`],
  ['x'.repeat(1_000_000), `"${LONG}…"`],
  [10n ** 90n, `1${'0'.repeat(39)}…`],
  [`${'x'.repeat(39)}😀`, `"${'x'.repeat(39)}…"`],
  ['pk_0123456789abcdefghijABCDEFGHIJ', '"pk_…"'],
  [`${'x'.repeat(36)}pk_0123456789abcdefghij`, `"${'x'.repeat(36)}pk_…"`],
])(
  'Errors-4: a message repeats the start of a value, and never a key or a control character: %j',
  (value, shown) => {
    expect(got('must be right', value)).toBe(`must be right (got ${shown})`);
  },
);
