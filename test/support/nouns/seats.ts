import { createGateway } from '../../../src/app/gateway.js';
import { NewTable } from '../../../src/ground/migrations/table-changes.js';
import { defineNoun } from '../../../src/noun/define-noun.js';
import { dateTime } from '../../../src/noun/kinds/date-time.js';
import { int64 } from '../../../src/noun/kinds/int64.js';
import { text } from '../../../src/noun/kinds/text.js';

/** The seat of one show in one hall: its number is unique with both. */
const seats = defineNoun({
  name: 'seat',
  fields: {
    hall: int64({ filter: true }),
    startsAt: dateTime({ optional: true, label: 'start' }),
    number: text({ max: 8, filter: 'start', unique: ['hall', 'startsAt'] }),
  },
});

class Seats1790000000000 extends NewTable {
  table = seats.table.table;
}

export const SEATS = createGateway({ name: 'Seats', nouns: [seats], migrations: [Seats1790000000000] });
