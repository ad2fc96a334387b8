import { createGateway } from '../../../src/app/gateway.js';
import { NewTable } from '../../../src/ground/migrations/table-changes.js';
import { defineNoun } from '../../../src/noun/define-noun.js';
import { int64 } from '../../../src/noun/kinds/int64.js';
import { text } from '../../../src/noun/kinds/text.js';
import { trashTableOf } from '../../../src/noun/tables/noun-trash.js';

/** Not every key reads the costs of an offer. */
const offers = defineNoun({
  name: 'offer',
  fields: {
    title: text({ max: 40 }),
    costCents: int64({ readScope: 'costs', label: 'cost' }),
    supplier: text({ max: 40, optional: true, readScope: 'costs' }),
  },
  computed: (computed) => ({ halfCents: computed(int64({}), ({ costCents }) => costCents / 2n) }),
  actions: (action) => ({ cut: action({ run: ({ costCents }) => ({ costCents: costCents / 2n }) }) }),
  changes: true,
  softDelete: true,
});

export const OFFERS = createGateway({
  name: 'Offers',
  nouns: [offers],
  migrations: [
    class Offers1790000000000 extends NewTable {
      table = offers.table.table;
    },
    class DeletedOffers1790000001000 extends NewTable {
      table = trashTableOf(offers.model, offers.table).definition;
    },
  ],
});
