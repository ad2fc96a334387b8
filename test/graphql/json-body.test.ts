import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'lossless-json';
import { JsonBody, withBigInts, withNumbersOrText } from '../../src/request/http/content/json-body.js';
import { scanJson } from '../../src/request/http/content/json-scan.js';

const integer = fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }).map(String);
const number = fc.oneof(integer, fc.double({ noNaN: true, noDefaultInfinity: true }).map(String));
const json = fc.oneof(
  fc.json(),
  fc
    .tuple(number, fc.json(), number)
    .map(([a, b, c]) => `{"a":${a},"b":[${c},{"c":"${a}"}],"d":${JSON.stringify(b)}}`),
);
const bodyOf = (text: string) => new JsonBody(Buffer.from(text), withNumbersOrText, null);
const refusalOf = (read: () => unknown) => {
  try {
    read();
    return 'accepted';
  } catch (error) {
    return (error as Error).message;
  }
};

/** The values of a text as `JSON.parse` reads it. An empty list or object counts twice. */
function count(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  const items = Object.values(value);
  return (
    1 +
    Math.max(
      1,
      items.map(count).reduce((sum, items) => sum + items, 0),
    )
  );
}

test('Json-1: integers of any size are exact: text in GraphQL, bigint in REST', () => {
  const numberOrText = (digits: string) => {
    const isExact = !/^-?\d+$/.test(digits) || Number.isSafeInteger(Number(digits));
    return isExact ? Number(digits) : digits;
  };
  fc.assert(
    fc.property(json, (text) => {
      expect(withNumbersOrText(text)).toEqual(parse(text, null, numberOrText));
    }),
    { numRuns: 500 },
  );
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.string(), (id, name) => {
      const text = `{ ${JSON.stringify(name)} : ${id} , "\\u0000other":1.5, "${name.length}b" : [${id}] }`;
      const { [name]: found, ...others } = withBigInts(text) as Record<string, unknown>;
      expect([found, Object.keys(others).length]).toEqual([id, 2]);
    }),
  );
});

test('Json-2: invalid JSON is refused with the problem, and without the text', () => {
  for (const text of [
    '',
    '{',
    '{"secret":}',
    '["secret",]',
    'nul',
    '{"secret":1}}',
    "{'secret':1}",
    '{"secret":"secret" "secret"}',
    `{${2n ** 64n}:1}`,
    '01',
    '+1',
    '"\n"',
    `[${'"secret",'.repeat(20)}"secret" secret]`,
  ]) {
    const refusal = refusalOf(() => bodyOf(text).parse());
    expect(refusal).toMatch(/^body must be valid JSON in UTF-8: (Expected|Unexpected|Bad)/);
    expect(refusal).not.toContain('secret');
  }
});

test('Json-3: if a GraphQL body has a name twice, the last one counts', () => {
  expect(withNumbersOrText('{"query":"a","query":"b"}')).toEqual({ query: 'b' });
});

test('Json-4: reading invalid JSON takes no longer than reading valid JSON', () => {
  const integer = String(2n ** 64n);
  const quotes = '\\"'.repeat(45_000);
  const millisecondsOf = (text: string) => {
    const startedAt = performance.now();
    refusalOf(() => bodyOf(text).parse());
    refusalOf(() => bodyOf(text).members('query'));
    return performance.now() - startedAt;
  };
  // Valid JSON, and the same text without its last quotation mark.
  const validMs = millisecondsOf(`[${integer},"${quotes}"]`);
  expect(millisecondsOf(`[${integer},"${quotes}`)).toBeLessThan(validMs + 250);
});

test('Json-5: the values are counted before parsing: 5,000 are read, 5,001 are refused', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom('', ' ', '\n\t'), (text, space) => {
      const spaced = JSON.stringify(JSON.parse(text), null, space);
      expect(scanJson('body', spaced)).toBe(count(JSON.parse(text)));
    }),
    { numRuns: 500 },
  );
  const list = (values: number) => `[${Array.from({ length: values - 1 }, () => '"[,{"').join()}]`;
  expect(bodyOf(list(5_000)).parse()).toHaveLength(4_999);
  for (const text of [list(5_001), `{"a":${list(5_001)}}`, '[0],'.repeat(25_000)]) {
    expect(refusalOf(() => bodyOf(text).parse())).toBe('body must not have more than 5000 values');
  }
});

test('Json-6: 100 levels are read, 101 are refused', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
  expect(bodyOf(nested(100)).parse()).toHaveLength(1);
  for (const text of [nested(101), '{"a":'.repeat(101), '['.repeat(100_000)]) {
    expect(refusalOf(() => bodyOf(text).parse())).toBe(
      'body must not nest deeper than 100 lists and objects',
    );
  }
});

test('Json-7: single members are read as the parser reads them, and nothing else is parsed', () => {
  const others = fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 5 });
  fc.assert(
    fc.property(fc.jsonValue(), others, fc.jsonValue(), (first, between, last) => {
      const members = { query: first, ...between, 'q\\uery"': 1, variables: { query: 'inner' } };
      const text = `${JSON.stringify(members, null, 1).slice(0, -1)}, "\\u0071uery" : ${JSON.stringify(last)} }`;
      expect(bodyOf(text).members('query')).toEqual({ query: JSON.parse(text).query });
    }),
  );
  expect(bodyOf('[{"query":"a"}]').members('query')).toEqual({});
  expect(bodyOf('{"query":"a","variables":[}').members('query')).toEqual({ query: 'a' });
  const long = JSON.stringify({ extensions: { a: 'x'.repeat(1_000) }, query: 'x'.repeat(10_000) });
  expect(bodyOf(long).members('query', 'extensions')).toEqual({ query: 'x'.repeat(10_000) });
});
