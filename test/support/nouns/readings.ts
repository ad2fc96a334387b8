import { Table } from 'typeorm';
import { exactCollation, NewTables } from '../../../src/ground/migrations/tables.js';
import { defineNoun } from '../../../src/noun/define-noun.js';
import { choice } from '../../../src/noun/kinds/choice.js';
import { date } from '../../../src/noun/kinds/date.js';
import { dateTime } from '../../../src/noun/kinds/date-time.js';
import { decimal } from '../../../src/noun/kinds/decimal.js';
import { int64 } from '../../../src/noun/kinds/int64.js';
import { integer } from '../../../src/noun/kinds/integer.js';
import { text } from '../../../src/noun/kinds/text.js';
import type { NounFacts } from '../../../src/testing/noun-facts.js';

/** A noun whose lists are ordered by each kind that has an order, with and without ranges. */
export const readings = defineNoun({
  name: 'reading',
  fields: {
    meter: text({ max: 12, optional: true, sort: true, filter: 'start', example: 'North 4' }),
    power: decimal({ digits: 38, places: 10, optional: true, sort: true, filter: 'range' }),
    takenAt: dateTime({ optional: true, sort: true, filter: 'range' }),
    day: date({ filter: 'range' }),
    pulses: int64({ sort: true, filter: 'range', example: 9_007_199_254_740_993n }),
    level: integer({ min: 1, max: 9, optional: true, sort: true, filter: 'range' }),
    state: choice({ fine: 'Within its bounds.', high: 'Above them.' }, { optional: true, filter: true }),
  },
  count: true,
  changes: true,
  migrations: async () => [Readings1790000000003],
});

class Readings1790000000003 extends NewTables {
  protected readonly tables = [new Table(readings.table.table)];
  protected override readonly collation = exactCollation;
}

export const READINGS: NounFacts = {
  noun: 'reading',
  input: (n) => ({ meter: `M${n}`, day: '2026-11-24', pulses: BigInt(n) }),
  change: (n) => ({ meter: `Changed ${n}` }),
};
