import { defineNoun, type RecordOf } from '../../../src/noun/define-noun.js';
import { choice } from '../../../src/noun/kinds/choice.js';
import { int64 } from '../../../src/noun/kinds/int64.js';
import { text } from '../../../src/noun/kinds/text.js';
import type { NounFacts } from '../../../src/testing/noun-facts.js';

/** The noun of the tests of the platform. */
export const toys = defineNoun({
  name: 'toy',
  headline: 'An API of toys',
  fields: {
    name: text({ max: 255, filter: 'start', example: 'Rex' }),
    categoryId: int64({ label: 'Category', example: 3n }),
    status: choice(
      { available: 'Can be bought.', pending: 'Is being bought.', sold: 'Was bought.' },
      { optional: true, filter: true, tones: ['good', 'busy', 'idle'] },
    ),
  },
  count: true,
  changes: true,
  migrations: async () => [(await import('./toys.migration.js')).Toys1780000001000],
  demo: [
    { name: 'Bella', categoryId: 1n, status: 'available' },
    { name: 'Max', categoryId: 2n, status: 'pending' },
    { name: 'Mochi', categoryId: 9_007_199_254_740_993n },
  ],
});

/** The table of toys. */
export const Toy = toys.entity;
export type Toy = RecordOf<typeof toys>;
export type ToyStatus = NonNullable<Toy['status']>;

export const TOYS: NounFacts = {
  noun: 'toy',
  input: (n) => ({ name: `Toy ${n}`, categoryId: BigInt(n) }),
  change: (n) => ({ name: `Changed ${n}` }),
  invalid: [
    [{ name: '' }, ['name']],
    [{ name: ' ' }, ['name']],
    [{ name: 'x'.repeat(256) }, ['name']],
    [{ name: 'a\u0000' }, ['name']],
    [{ name: '\ud800' }, ['name']],
    [{ name: '', categoryId: '9223372036854775808' }, ['categoryId', 'name']],
    [{ name: 'Rex', categoryId: '1.5' }, ['categoryId']],
    [{ name: 'Rex', categoryId: 'abc' }, ['categoryId']],
  ],
};
