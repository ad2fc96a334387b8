import { pets } from '../../../src/pets/pets.js';
import type { TestNoun } from '../nouns/test-noun.js';

export const PETS: TestNoun = {
  description: pets.description,
  input: (n) => ({ name: `Pet ${n}`, categoryId: String(n) }),
  change: (n) => ({ name: `Changed ${n}` }),
  text: 'name',
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
  int64: {
    field: 'categoryId',
    digits: ['9223372036854775807', '-9223372036854775808', '9007199254740993', '0'],
  },
  filter: { field: 'status', values: ['sold', 'pending'] },
  boundLists: (id, { name }) => [`nameStartsWith: ${JSON.stringify(name)}`, `ids: ["${id}"]`],
};

/** The table of pets. */
export const Pet = pets.entity;
