import { Table } from 'typeorm';
import { exactCollation, NewTables } from '../../../src/ground/migrations/tables.js';
import { defineNoun } from '../../../src/noun/define-noun.js';
import { boolean } from '../../../src/noun/kinds/boolean.js';
import { choice } from '../../../src/noun/kinds/choice.js';
import { date } from '../../../src/noun/kinds/date.js';
import { dateTime } from '../../../src/noun/kinds/date-time.js';
import { decimal } from '../../../src/noun/kinds/decimal.js';
import { text } from '../../../src/noun/kinds/text.js';
import { texts } from '../../../src/noun/kinds/texts.js';
import type { NounFacts } from '../../../src/testing/noun-facts.js';

/** A noun with the kinds that are neither text nor number. */
export const shipments = defineNoun({
  name: 'shipment',
  fields: {
    trackingCode: text({ max: 32, example: 'PX4711' }),
    fragile: boolean({ default: false, filter: true }),
    insured: boolean({ optional: true, filter: true, example: false }),
    deliveredAt: dateTime({ optional: true, filter: 'range', sort: true }),
    dueAt: dateTime({ example: '2026-12-24T18:00:00.000Z' }),
    packedAt: dateTime({ optional: true, min: '2000-01-01T00:00:00Z', max: '2100-01-01T00:00:00Z' }),
    orderedOn: date({ optional: true, min: '2000-01-01', max: '2099-12-31' }),
    tags: texts({ most: 10, max: 40, default: [], example: ['gift', 'heavy'] }),
    stops: texts({ most: 3, max: 20, optional: true, example: ['Zürich'] }),
    weightKg: decimal({ digits: 9, places: 3, min: '0.001', optional: true, example: '2.500' }),
    balance: decimal({ digits: 38, places: 10, default: '0' }),
    carrier: choice({ dhl: 'DHL.', ups: 'UPS.' }, { optional: true, filter: true }),
  },
  count: true,
  changes: true,
  check: ({ deliveredAt, dueAt, insured, tags }) => [
    ...(deliveredAt !== null && deliveredAt < '2000'
      ? [{ field: 'deliveredAt', message: 'is before 2000' }]
      : []),
    ...(insured === false && tags.includes('gold')
      ? [{ field: 'insured', message: 'must be true for gold' }]
      : []),
    ...(dueAt === '9999-12-31T23:59:59.999Z' ? [{ field: 'dueAt', message: 'is the end of time' }] : []),
  ],
  migrations: async () => [Shipments1790000000002],
});

class Shipments1790000000002 extends NewTables {
  protected readonly tables = [new Table(shipments.table.table)];
  protected override readonly collation = exactCollation;
}

export const SHIPMENTS: NounFacts = {
  noun: 'shipment',
  input: (n) => ({ trackingCode: `PX${n}`, fragile: n % 2 === 0, dueAt: '2026-12-24T18:00:00.000Z' }),
  change: (n) => ({ trackingCode: `Changed ${n}` }),
};
