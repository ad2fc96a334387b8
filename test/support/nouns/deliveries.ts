import { Table } from 'typeorm';
import { exactCollation, NewTables } from '../../../src/ground/migrations/tables.js';
import { defineNoun } from '../../../src/noun/define-noun.js';
import { refuse } from '../../../src/noun/definition/action.js';
import { choice } from '../../../src/noun/kinds/choice.js';
import { dateTime } from '../../../src/noun/kinds/date-time.js';
import { int64 } from '../../../src/noun/kinds/int64.js';
import { integer } from '../../../src/noun/kinds/integer.js';
import { text } from '../../../src/noun/kinds/text.js';
import { texts } from '../../../src/noun/kinds/texts.js';
import type { NounFacts } from '../../../src/testing/noun-facts.js';

/** A noun with actions: with an input, without one, and with one that may be left out. */
export const deliveries = defineNoun({
  name: 'delivery',
  fields: {
    code: text({ max: 32, unique: true, example: 'PX4711' }),
    /** Only actions change it. */
    state: choice(
      { waiting: 'Not yet begun.', delivered: 'Arrived.', lost: 'Never arrived.' },
      { default: 'waiting', immutable: true, filter: true },
    ),
    deliveredAt: dateTime({ optional: true, min: '2000-01-01T00:00:00Z' }),
    signature: text({ max: 40, optional: true }),
    attempts: integer({ min: 0, max: 3, default: 0 }),
    weightGrams: int64({ optional: true }),
    tags: texts({ most: 3, max: 20, default: [] }),
  },
  changes: true,
  check: ({ state, deliveredAt, signature }) => [
    ...(state === 'delivered' && deliveredAt === null
      ? [{ field: 'deliveredAt', message: 'is missing' }]
      : []),
    ...(signature === 'X' ? [{ field: 'signature', message: 'must be more than a cross' }] : []),
  ],
  actions: (action) => ({
    deliver: action({
      description: 'Hands a delivery over.',
      input: {
        at: dateTime({ optional: true, description: 'When it was handed over; now, if it is not stated.' }),
        signature: text({ max: 60, example: 'Ada' }),
        weightGrams: int64({ optional: true }),
        tags: texts({ most: 5, max: 20, default: ['gift'] }),
      },
      run(delivery, { at, signature, weightGrams, tags }, { now }) {
        if (delivery.state === 'delivered') refuse(`It was delivered at ${delivery.deliveredAt}.`);
        if (at !== null && at > now) refuse([{ field: 'at', message: 'must not be in the future' }]);
        return { state: 'delivered', deliveredAt: at ?? now, signature, weightGrams, tags };
      },
    }),
    retry: action({ run: ({ attempts }) => ({ attempts: attempts + 1 }) }),
    markLost: action({
      label: 'Mark as lost',
      description: 'Gives a delivery up.',
      input: {
        reason: choice({ stolen: 'Somebody has it.', unknown: 'Nobody knows.' }, { default: 'unknown' }),
      },
      run: ({ tags }, { reason }) => ({ state: 'lost', tags: [...tags, reason] }),
    }),
  }),
  migrations: async () => [Deliveries1790000000003],
});

class Deliveries1790000000003 extends NewTables {
  protected readonly tables = [new Table(deliveries.table.table)];
  protected override readonly collation = exactCollation;
}

export const DELIVERIES: NounFacts = {
  noun: 'delivery',
  input: (n) => ({ code: `PX${n}` }),
  change: (n) => ({ signature: `Changed ${n}` }),
  actions: {
    deliver: {
      input: { signature: 'Ada', weightGrams: '9007199254740993' },
      refused: {
        record: { state: 'delivered', deliveredAt: '2026-11-24T10:00:00.000Z' },
        input: { signature: 'Bo' },
      },
    },
    markLost: { input: { reason: 'stolen' } },
  },
};
