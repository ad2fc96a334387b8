import { createGateway } from '../../../src/app/gateway.js';
import { NewTable } from '../../../src/ground/migrations/table-changes.js';
import { defineNoun } from '../../../src/noun/define-noun.js';
import { decimal } from '../../../src/noun/kinds/decimal.js';
import { int64 } from '../../../src/noun/kinds/int64.js';
import { text } from '../../../src/noun/kinds/text.js';
import { texts } from '../../../src/noun/kinds/texts.js';
import { trashTableOf } from '../../../src/noun/tables/noun-trash.js';

/** A deleted note can be restored. */
const notes = defineNoun({
  name: 'note',
  fields: {
    title: text({ max: 40, filter: 'start', unique: true }),
    page: int64({ optional: true, filter: true }),
    weight: decimal({ digits: 38, places: 10, optional: true }),
    labels: texts({ most: 3, max: 10, default: [] }),
  },
  count: true,
  changes: true,
  softDelete: true,
});

export const NOTES = createGateway({
  name: 'Notes',
  nouns: [notes],
  migrations: [
    class Notes1790000000000 extends NewTable {
      table = notes.table.table;
    },
    class DeletedNotes1790000001000 extends NewTable {
      table = trashTableOf(notes.model, notes.table).definition;
    },
  ],
});
