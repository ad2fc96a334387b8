import { expect, test } from '@jest/globals';
import { RecordRules } from '../../src/ground/kernel/record-rules.js';

interface Weighed {
  weightGrams: bigint | null;
}

const INT64 = { type: 'integer', format: 'int64', rule: 'is wrong' };

const rulesOf = (property: object) =>
  new RecordRules<Weighed>({
    type: 'object',
    properties: { weightGrams: { ...INT64, ...property } },
  });

/** Whether each way accepts the value: a body of REST, an input of GraphQL or a row of a file, and a change. */
function isAccepted(rules: RecordRules<Weighed>, value: bigint): boolean {
  const isSafe = Number.isSafeInteger(Number(value));
  const ways = [
    ...(isSafe ? [() => rules.parse({ weightGrams: Number(value) })] : []),
    () => rules.parse({ weightGrams: value }),
    () => rules.parseChanges({ weightGrams: value }),
  ];
  const outcomes = ways.map((way) => {
    try {
      return way().weightGrams === value;
    } catch (error) {
      expect(error).toMatchObject({
        errors: [{ field: 'weightGrams', message: expect.stringMatching(/^is wrong \(got /) }],
      });
      return false;
    }
  });
  expect(new Set(outcomes).size).toBe(1);
  return outcomes[0] === true;
}

const MAX = 2n ** 63n - 1n;
const BEYOND = 2n ** 53n + 1n;

test.each<[keywords: object, accepted: bigint[], refused: bigint[]]>([
  [{ minimum: 1 }, [1n, BEYOND, MAX], [0n, -5n, -MAX]],
  [{ maximum: 2 ** 53 - 1 }, [-MAX, 2n ** 53n - 1n], [2n ** 53n, MAX]],
  [{ exclusiveMinimum: 1 }, [2n, MAX], [1n, -MAX]],
  [{ exclusiveMaximum: 1 }, [0n, -MAX], [1n, BEYOND]],
  [{ multipleOf: 3 }, [0n, -3n, 3n * BEYOND], [1n, 3n * BEYOND + 1n]],
  [{ const: 5 }, [5n], [-5n, 4n]],
  [{ enum: [1, -2] }, [1n, -2n], [2n, 0n]],
  [{ minimum: -10, maximum: 10, multipleOf: 5 }, [-10n, 0n, 10n], [-15n, 7n, 15n]],
  [{}, [MAX, -MAX - 1n], [MAX + 1n]],
])(
  'NounRules-1: %j of a 64-bit field holds exactly, for new records and for changes',
  (keywords, accepted, refused) => {
    const rules = rulesOf(keywords);
    expect(accepted.map((value) => isAccepted(rules, value))).toEqual(accepted.map(() => true));
    expect(refused.map((value) => isAccepted(rules, value))).toEqual(refused.map(() => false));
  },
);

test.each<[property: object, told: string]>([
  [{ readOnly: true }, 'weightGrams has a keyword readOnly'],
  [{ minLength: 1 }, 'weightGrams has a keyword minLength'],
  [{ minimun: 1 }, 'weightGrams has a keyword minimun'],
  [{ minimum: 0.5 }, 'weightGrams has a minimum 0.5'],
  [{ maximum: 2 ** 63 }, 'weightGrams has a maximum 9223372036854776000'],
  [{ minimum: '1' }, 'weightGrams has a minimum 1'],
  [{ format: 'int32' }, 'weightGrams has a format int32'],
  [{ type: 'number', format: undefined }, 'weightGrams has a type number'],
  [{ type: ['integer', 'null'] }, 'weightGrams has a type integer,null'],
  [{ type: 'string', format: 'email' }, 'weightGrams has a format email'],
  [{ type: 'string', format: undefined, contentEncoding: 'base64' }, 'has a keyword contentEncoding'],
])('NounRules-2: %j is refused when the rules are made, with its field', (property, told) => {
  expect(() => rulesOf(property)).toThrow(told);
});

test('NounRules-4: a field without `format: int64` has 32 bits in both APIs and in files', () => {
  const rule = { type: 'integer', minimum: 1, rule: 'is wrong' };
  const rules = new RecordRules<{ pages: number }>({ type: 'object', properties: { pages: rule } });
  expect(rules.parse({ pages: 2 ** 31 - 1 })).toEqual({ pages: 2 ** 31 - 1 });
  for (const pages of [2 ** 31, 2n ** 31n, 2n ** 70n, 0]) {
    expect(() => rules.parse({ pages })).toThrow('pages');
  }
});

test('NounRules-3: a keyword about the whole record is refused when the rules are made', () => {
  const schema = { type: 'object', properties: { weightGrams: INT64 }, additionalProperties: false } as const;
  expect(() => new RecordRules(schema)).toThrow('the keyword additionalProperties, which is not enforced');
});

test('NounRules-5: no text is accepted that a database or UTF-8 cannot store, with or without a pattern', () => {
  for (const more of [{}, { pattern: '\\S' }]) {
    const text = { type: 'string', ...more, rule: 'is wrong' };
    const rules = new RecordRules<{ title: string }>({ type: 'object', properties: { title: text } });
    for (const title of ['Rex', '😀', '𠮷', 'a\ufffd']) expect(rules.parse({ title })).toEqual({ title });
    for (const title of ['a\u0000', '\ud800', '\udc08x', '😀\ud83d']) {
      expect(() => rules.parse({ title })).toThrow('title is wrong');
      expect(() => rules.parseChanges({ title })).toThrow('title is wrong');
    }
  }
});
