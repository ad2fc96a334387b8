import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { withNumbersOrText } from '../../src/http/content/json-body.js';

const lengthened = (text: string) => `${text}${' '.repeat(10_000)}`;
/** Adds more brackets than the faster parser accepts. */
const bySlowerParser = (json: string) =>
  (withNumbersOrText(`[${json},"${'['.repeat(5_000)}"]`) as unknown[])[0];

test('Json-1: both parsers of GraphQL bodies give the same result, including integers of any size', () => {
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
      expect(withNumbersOrText(json)).toEqual(bySlowerParser(json));
    }),
    { numRuns: 500 },
  );
});

test('Json-2: both parsers refuse invalid JSON in the same words', () => {
  for (const text of [
    '',
    '{',
    '{"a":}',
    '[1,]',
    'nul',
    '{"a":1}}',
    "{'a':1}",
    `{${2n ** 64n}:1}`,
    '01',
    '+1',
    '"\n"',
  ]) {
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

test('Json-3: if a short body has a key twice, the last one counts', () => {
  expect(withNumbersOrText('{"query":"a","query":"b"}')).toEqual({ query: 'b' });
});

test('Json-4: reading invalid JSON takes no longer than reading valid JSON', () => {
  const integer = String(2n ** 64n);
  const quotes = '\\"'.repeat(45_000);
  const millisecondsOf = (text: string) => {
    const startedAt = performance.now();
    try {
      withNumbersOrText(text);
    } catch {}
    return performance.now() - startedAt;
  };
  // Valid JSON, and the same text without its last quotation mark.
  const valid = `[${integer},"${quotes}"]`;
  const hostile = [`[${integer},"${quotes}`, `${integer}${quotes}`, `[${integer}${quotes}]`];
  const limitMs = 100 + 20 * millisecondsOf(valid);
  for (const text of hostile) expect(millisecondsOf(text)).toBeLessThan(limitMs);
});
