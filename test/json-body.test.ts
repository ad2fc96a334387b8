import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { withNumbersOrText } from '../src/http/json-body.js';

/** Long enough for the slower parser, and the same JSON. */
const lengthened = (text: string) => `${text}${' '.repeat(10_000)}`;

test('Json-1: both parsers of GraphQL bodies read the same, integers of any size included', () => {
  const integer = fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String);
  const number = fc.oneof(integer, fc.double({ noNaN: true, noDefaultInfinity: true }).map(String));
  const text = fc.oneof(
    fc.json(),
    fc
      .tuple(number, fc.json(), number)
      .map(([a, b, c]) => `{"a":${a},"b":[${c},{"c":"${a}"}],"d":${JSON.stringify(b)}}`),
  );
  fc.assert(
    fc.property(text, (json) => {
      expect(withNumbersOrText(json)).toEqual(withNumbersOrText(lengthened(json)));
    }),
    { numRuns: 500 },
  );
});

test('Json-2: what is no JSON is refused in the same words by both', () => {
  for (const text of ['', '{', '{"a":}', '[1,]', 'nul', '{"a":1}}', "{'a':1}", '01', '+1', '"\n"']) {
    const refusal = (json: string) => {
      try {
        withNumbersOrText(json);
        return 'accepted';
      } catch (error) {
        return (error as Error).message.replace(/ position \d+$/, '');
      }
    };
    expect(refusal(text)).toMatch(/expected|invalid/i);
    expect(refusal(text)).toBe(refusal(lengthened(text)));
  }
});

test('Json-3: of a key given twice in a short body the last one counts', () => {
  expect(withNumbersOrText('{"query":"a","query":"b"}')).toEqual({ query: 'b' });
});
