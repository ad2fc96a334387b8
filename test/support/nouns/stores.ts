import { Table } from 'typeorm';
import { createGateway } from '../../../src/app/gateway.js';
import { exactCollation, NewTables } from '../../../src/ground/migrations/tables.js';
import { defineNoun } from '../../../src/noun/define-noun.js';
import { reference } from '../../../src/noun/kinds/reference.js';
import { text } from '../../../src/noun/kinds/text.js';
import type { NounFacts } from '../../../src/testing/noun-facts.js';

/** It refers to crates, which refer to it. */
const warehouses = defineNoun({
  name: 'warehouse',
  fields: {
    name: text({ max: 60, filter: 'start', example: 'North' }),
    city: text({ max: 60, example: 'Zürich' }),
    mainCrateId: reference('crate', { optional: true }),
  },
  changes: true,
  migrations: async () => [Stores1790000000003],
});

/** Of a warehouse that need not exist. */
const crates = defineNoun({
  name: 'crate',
  fields: {
    code: text({ max: 32, example: 'C4711' }),
    warehouseId: reference('warehouse', { filter: true, optional: true }),
  },
  changes: true,
});

/** Of a warehouse that cannot be deleted meanwhile. */
const pallets = defineNoun({
  name: 'pallet',
  fields: {
    code: text({ max: 32, unique: true, example: 'P4711' }),
    warehouseId: reference('warehouse', { filter: true, mustExist: true, onDelete: 'refuse' }),
  },
});

/** Of a warehouse whose deletion they survive. */
const bins = defineNoun({
  name: 'bin',
  fields: {
    code: text({ max: 32, example: 'B4711' }),
    home: reference('warehouse', {
      filter: true,
      optional: true,
      mustExist: true,
      onDelete: 'unset',
      as: 'homeWarehouse',
      list: 'homeBins',
    }),
  },
  changes: true,
  check: ({ code, home }) =>
    code.startsWith('Fixed') && home === null ? [{ field: 'home', message: 'must be set for Fixed' }] : [],
});

/** A tree. */
const sections = defineNoun({
  name: 'section',
  fields: {
    name: text({ max: 60, example: 'Cold' }),
    parentId: reference('section', { filter: true, optional: true, mustExist: true, onDelete: 'refuse' }),
  },
});

const NOUNS = [warehouses, crates, pallets, bins, sections] as const;

class Stores1790000000003 extends NewTables {
  protected readonly tables = NOUNS.map(({ table }) => new Table(table.table));
  protected override readonly collation = exactCollation;
}

export default createGateway({ name: 'Stores', nouns: [...NOUNS] });

export const CRATES: NounFacts = {
  noun: 'crate',
  input: (n) => ({ code: `C${n}`, warehouseId: String(n + 1) }),
  change: (n) => ({ code: `Changed ${n}` }),
};

export const PALLETS: NounFacts = {
  noun: 'pallet',
  existing: {
    warehouse: [
      { name: 'North', city: 'Zürich' },
      { name: 'South', city: 'Lugano' },
    ],
  },
  input: (n) => ({ code: `P${n}`, warehouseId: 1n }),
  change: (n) => ({ code: `Changed ${n}`, warehouseId: 2n }),
};
