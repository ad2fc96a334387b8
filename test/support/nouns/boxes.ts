import { createGateway } from '../../../src/app/gateway.js';
import { NewFilledTable, NewTable } from '../../../src/ground/migrations/table-changes.js';
import { defineNoun } from '../../../src/noun/define-noun.js';
import { boolean } from '../../../src/noun/kinds/boolean.js';
import { choice } from '../../../src/noun/kinds/choice.js';
import { integer } from '../../../src/noun/kinds/integer.js';
import { reference } from '../../../src/noun/kinds/reference.js';
import { text } from '../../../src/noun/kinds/text.js';
import { texts } from '../../../src/noun/kinds/texts.js';
import { trashTableOf } from '../../../src/noun/tables/noun-trash.js';
import type { NounFacts } from '../../../src/testing/noun-facts.js';

/** Nothing decides on its writes, so a change alone locks the record. */
const racks = defineNoun({
  name: 'rack',
  fields: {
    place: text({ max: 20 }),
    labels: texts({ most: 3, max: 10, default: [], filter: 'has' }),
  },
});

/** Two lists that are filtered by a text, beside the other filters and orders. */
export const boxes = defineNoun({
  name: 'box',
  fields: {
    title: text({ max: 40, filter: 'start' }),
    code: text({ max: 20, unique: true, filter: 'whole' }),
    tags: texts({ most: 10, max: 40, default: [], filter: 'has', example: ['gift', 'heavy'] }),
    stops: texts({ most: 3, max: 20, optional: true, filter: 'has', example: ['Zürich'] }),
    carrier: choice({ dhl: 'DHL.', ups: 'UPS.' }, { optional: true, filter: true }),
    fragile: boolean({ default: false, filter: true }),
    rackId: reference('rack', { optional: true, filter: true, onDelete: 'unset' }),
    weight: integer({ default: 1, sort: true }),
  },
  // A heavy box has a tag.
  beforeWrite: ({ after }) =>
    after && after.weight > 100 && !after.tags.includes('hook')
      ? { tags: [...after.tags, 'hook'] }
      : undefined,
  actions: (action) => ({
    mark: action({
      input: { tag: text({ max: 40 }) },
      run: ({ tags }, { tag }) => ({ tags: [...tags.filter((each) => each !== tag), tag] }),
    }),
  }),
  check: ({ title }) => (title === 'refused' ? [{ field: 'title', message: 'is refused' }] : []),
  softDelete: true,
  count: true,
  changes: true,
});

class Racks1790000000000 extends NewTable {
  table = racks.table.table;
}
class Boxes1790000000001 extends NewTable {
  table = boxes.table.table;
}
class DeletedBoxes1790000000002 extends NewTable {
  table = trashTableOf(boxes.model, boxes.table).definition;
}
class HasRacksLabels1790000000005 extends NewFilledTable {
  table = racks.table.entries[0]?.table as NonNullable<typeof ofTags>;
}
const [ofTags, ofStops] = boxes.table.entries.map(({ table }) => table);
class HasBoxesTags1790000000003 extends NewFilledTable {
  table = ofTags as NonNullable<typeof ofTags>;
}
class HasBoxesStops1790000000004 extends NewFilledTable {
  table = ofStops as NonNullable<typeof ofStops>;
}

export const BOXES_GATEWAY = createGateway({
  name: 'Boxes',
  nouns: [boxes, racks],
  migrations: [
    Racks1790000000000,
    Boxes1790000000001,
    DeletedBoxes1790000000002,
    HasBoxesTags1790000000003,
    HasBoxesStops1790000000004,
    HasRacksLabels1790000000005,
  ],
});

export const BOXES: NounFacts = {
  noun: 'box',
  input: (n) => ({ title: `Box ${n}`, code: `B${n}`, tags: ['gift', `n${n}`], stops: ['Zürich'] }),
  change: (n) => ({ title: `Changed ${n}`, tags: [`changed ${n}`] }),
};
