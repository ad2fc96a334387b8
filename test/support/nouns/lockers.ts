import { createGateway } from '../../../src/app/gateway.js';
import { NewTable } from '../../../src/ground/migrations/table-changes.js';
import { defineNoun } from '../../../src/noun/define-noun.js';
import { choice } from '../../../src/noun/kinds/choice.js';
import { text } from '../../../src/noun/kinds/text.js';

/** Nobody can read the PIN of a locker, nor its note. */
const lockers = defineNoun({
  name: 'locker',
  fields: {
    pin: text({
      max: 8,
      pattern: /^\d{4,8}$/,
      writeOnly: true,
      label: 'PIN',
      article: 'a PIN',
      example: '4711',
    }),
    place: text({ max: 40, example: 'Hall 2' }),
    note: text({ max: 40, optional: true, writeOnly: true }),
    size: choice({ small: 'One bag.', large: 'Two bags.' }, { filter: true, default: 'small' }),
  },
  check: ({ pin, place }) =>
    pin === '0000' ? [{ field: 'pin', message: `is too simple for ${place}` }] : [],
  count: true,
  changes: true,
});

class Lockers1790000000000 extends NewTable {
  table = lockers.table.table;
}

export const LOCKERS = createGateway({
  name: 'Lockers',
  nouns: [lockers],
  migrations: [Lockers1790000000000],
});
