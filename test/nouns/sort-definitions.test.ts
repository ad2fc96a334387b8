import { describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/ground/config/config.js';
import { withDataSource } from '../../src/ground/database/data-source.js';
import { migrate, revertLastMigration } from '../../src/ground/migrating/migrate.js';
import { defineNoun } from '../../src/noun/define-noun.js';
import { boolean } from '../../src/noun/kinds/boolean.js';
import { choice } from '../../src/noun/kinds/choice.js';
import { dateTime } from '../../src/noun/kinds/date-time.js';
import { integer } from '../../src/noun/kinds/integer.js';
import type { Field } from '../../src/noun/kinds/kind.js';
import { text } from '../../src/noun/kinds/text.js';
import { texts } from '../../src/noun/kinds/texts.js';
import { money } from '../fields/money.js';
import { createTestDatabase, databaseKinds } from '../support/databases.js';
import { readings } from '../support/nouns/readings.js';
import { schemaOf } from '../support/written-schema.js';

const title = text({});
const define = (fields: Record<string, Field>) => defineNoun({ name: 'book', fields: { title, ...fields } });
const options = (more: object) => more as never;

test.each<[problem: string, fields: Record<string, Field>]>([
  ['a has the option sort, which boolean does not have', { a: boolean(options({ sort: true })) }],
  ['a has the option sort, which choice does not have', { a: choice({ x: 'X.' }, options({ sort: true })) }],
  [
    'a has the option sort, which texts does not have',
    { a: texts(options({ most: 1, max: 9, sort: true })) },
  ],
  [
    'sort of a cannot work: no list is ordered by a field of the kind money',
    { a: money(options({ currencies: ['EUR'], sort: true })) },
  ],
  ['filter of a cannot be range: the kind text', { a: text(options({ filter: 'range' })) }],
  ['filter of a cannot be range: the kind boolean', { a: boolean(options({ filter: 'range' })) }],
  ['filter of a cannot be start: the kind integer', { a: integer(options({ filter: 'start' })) }],
  ['filter of a cannot be has: the kind text has', { a: text(options({ filter: 'has' })) }],
  ['filter of a cannot be true: the kind texts', { a: texts(options({ most: 1, max: 9, filter: true })) }],
  ['filter of a cannot be true: the kind dateTime', { a: dateTime(options({ filter: true })) }],
  ['two orders have the name NEWEST', { newest: integer({ sort: true }) }],
  ['two orders have the name A_DESC', { a: integer({ sort: true }), aDesc: integer({ sort: true }) }],
  [
    'two filters have the argument aFrom',
    { a: integer({ filter: 'range' }), aFrom: integer({ filter: true }) },
  ],
  [
    'sort is a parameter of its lists in REST',
    { sort: integer({ filter: true }), a: integer({ sort: true }) },
  ],
  [
    'they come from filter of a, filter of b, filter of c, filter of d and sort of e',
    {
      ...Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, boolean({ filter: true })])),
      e: integer({ sort: true }),
    },
  ],
  [
    "filter: 'has' of a needs an index of a with 3225 bytes, and MySQL allows 3072",
    { a: texts({ most: 1, max: 800, filter: 'has' }) },
  ],
  [
    "filter: 'has' of a needs an index of a and b with \\d+ bytes",
    { a: texts({ most: 1, max: 500, filter: 'has' }), b: text({ max: 300, filter: 'whole' }) },
  ],
  [
    "filter: 'has' of aVeryLongNameOfAListOfTags needs the name has_books_a_very_long_name_of_a_list_of_tags__another_long_name_of_a_field, and MySQL allows 64",
    {
      aVeryLongNameOfAListOfTags: texts({ most: 1, max: 9, filter: 'has' }),
      anotherLongNameOfAField: boolean({ filter: true }),
    },
  ],
  ['The index of a is longer than MySQL allows', { a: text({ max: 800, sort: true }) }],
])(
  'Sort-7: an order or a filter that cannot work is refused at once, by field and option: %s',
  (problem, fields) => {
    expect(() => define(fields)).toThrow(new RegExp(problem, 'i'));
  },
);

test('Sort-8: an option that a kind does not have does not compile', () => {
  // @ts-expect-error no list is ordered by a truth value
  expect(boolean({ sort: true }).options.sort).toBe(true);
  // @ts-expect-error no list is ordered by a choice
  expect(choice({ a: 'A.' }, { sort: true }).filter).toBeNull();
  // @ts-expect-error a text has no ranges
  expect(text({ filter: 'range' }).filter).toBeNull();
  // @ts-expect-error lists of one moment would be lists of one record
  expect(dateTime({ filter: true }).filter).toBeNull();
});

test('Sort-9: one index serves the order and the ranges of a field, with each filter by value', () => {
  const names = (readings.table.table.indices ?? []).map(({ name }) => name);
  const fields = ['meter', 'power', 'taken_at', 'day', 'pulses', 'level'];
  expect(names.toSorted()).toEqual(
    [
      'readings_state',
      ...fields.flatMap((field) => [`readings_${field}`, `readings_state_${field}`]),
    ].toSorted(),
  );
});

describe.each(databaseKinds())('on %s', (kind) => {
  test('Sort-10: a written migration makes the indexes of a new order, and its revert drops them', async () => {
    const database = await createTestDatabase(kind);
    try {
      const target = loadConfig({ DATABASE_URL: database.url }).database;
      const code = { max: 20, unique: true } as const;
      const without = define({ at: dateTime({ optional: true }), code: text(code) });
      const sorted = define({
        at: dateTime({ optional: true, sort: true, filter: 'range' }),
        code: text({ ...code, sort: true }),
      });
      const schema = await schemaOf(without.table.table, sorted.table.table);
      const indexes = () =>
        withDataSource(
          target,
          { entities: [], migrations: [] },
          { poolSize: 1, queryTimeoutMs: 10_000 },
          async (source) => {
            const table = await source.createQueryRunner().getTable('books');
            return (table?.indices ?? [])
              .map(({ name, isUnique }) => `${name}${isUnique ? ' unique' : ''}`)
              .toSorted();
          },
        );
      await migrate(target, { entities: [], migrations: schema.migrations });
      expect(await indexes()).toEqual(['books_at', 'books_code', 'books_code_unique unique']);
      await revertLastMigration(target, { entities: [], migrations: schema.migrations });
      expect(await indexes()).toEqual(['books_code unique']);
    } finally {
      await database.remove();
    }
  });
});
