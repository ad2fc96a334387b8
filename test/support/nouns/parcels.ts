import { Table } from 'typeorm';
import { exactCollation, NewTables } from '../../../src/ground/migrations/tables.js';
import { defineNoun } from '../../../src/noun/define-noun.js';
import { choice } from '../../../src/noun/kinds/choice.js';
import { text } from '../../../src/noun/kinds/text.js';
import type { NounFacts } from '../../../src/testing/noun-facts.js';

/** A noun with a value that every record has and no two share, and without a number. */
export const parcels = defineNoun({
  name: 'parcel',
  fields: {
    trackingCode: text({
      max: 12,
      pattern: /^[A-Z]{2}\d+$/,
      unique: true,
      filter: 'whole',
      example: 'PX4711',
    }),
    addressee: text({ max: 100, example: 'Ada Lovelace' }),
    state: choice({ sent: 'On its way.', delivered: 'Arrived.' }, { optional: true, filter: true }),
  },
  migrations: async () => [Parcels1790000000001],
});

class Parcels1790000000001 extends NewTables {
  protected readonly tables = [new Table(parcels.table.table)];
  protected override readonly collation = exactCollation;
}

export const PARCELS: NounFacts = {
  noun: 'parcel',
  input: (n) => ({ trackingCode: `PX${n}`, addressee: `Ada ${n}` }),
  change: (n) => ({ addressee: `Changed ${n}` }),
  invalid: [
    [{ trackingCode: '4711' }, ['trackingCode']],
    [{ trackingCode: 'px1', addressee: '' }, ['addressee', 'trackingCode']],
  ],
};
