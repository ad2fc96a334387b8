import { expect, test } from '@jest/globals';
import { changedPage, isIncomplete, PAGE_SIZE } from '../../browser/dashboard/src/items/changed-page.js';
import type { Item } from '../../browser/dashboard/src/items/item.js';
import type { ItemChange, ListPage } from '../../browser/dashboard/src/items/item-documents.js';
import { filteredBy, type Selection } from '../../browser/dashboard/src/items/selection.js';
import { readings } from '../support/nouns/readings.js';
import { toys } from '../support/nouns/toys.js';

const NEWEST: Selection = { noun: toys.description, filters: {}, orderBy: null };
const OLDEST: Selection = { ...NEWEST, orderBy: 'OLDEST' };
const SOLD: Selection = { ...NEWEST, filters: { status: 'sold' } };
const SEARCH: Selection = { ...NEWEST, filters: { nameStartsWith: 'Re' } };

const item = (id: number | string, fields: Partial<Item> = {}): Item => ({
  id: String(id),
  name: `Name ${id}`,
  categoryId: '1',
  status: 'available',
  createdAt: '2026-11-24T10:00:00.000Z',
  ...fields,
});
const created = (...of: Parameters<typeof item>): ItemChange => ({ kind: 'CREATED', item: item(...of) });
const updated = (...of: Parameters<typeof item>): ItemChange => ({ kind: 'UPDATED', item: item(...of) });
const deleted = (...of: Parameters<typeof item>): ItemChange => ({ kind: 'DELETED', item: item(...of) });

function pageOf(ids: readonly (number | string)[], { hasNextPage = false, fields = {} } = {}): ListPage {
  const nodes = ids.map((id) => item(id, fields));
  return { nodes, pageInfo: { endCursor: 'end', hasNextPage }, changesCursor: 'c1' };
}

function idsAfter(page: ListPage, change: ItemChange, selection = NEWEST, isFirst = true): string[] {
  return changedPage({ page, selection, isFirst }, change).nodes.map(({ id }) => id);
}

test('ChangedPage-1: a new item takes its place by id, with every digit, in both orders', () => {
  const large = ['9007199254740995', '9007199254740993'];
  expect(idsAfter(pageOf(large), created('9007199254740994'))).toEqual([
    '9007199254740995',
    '9007199254740994',
    '9007199254740993',
  ]);
  expect(idsAfter(pageOf([9, 7]), created(10))).toEqual(['10', '9', '7']);
  expect(idsAfter(pageOf([9, 7]), created(1))).toEqual(['9', '7', '1']);
  expect(idsAfter(pageOf([7, 9]), created(10), OLDEST)).toEqual(['7', '9', '10']);
  expect(idsAfter(pageOf([]), created(10))).toEqual(['10']);
});

test('ChangedPage-2: an item of the page before or after changes nothing', () => {
  const page = pageOf([9, 7], { hasNextPage: true });
  const later = { page, selection: NEWEST, isFirst: false };
  expect(changedPage(later, created(10))).toBe(page);
  expect(changedPage(later, created(5))).toBe(page);
  expect(changedPage(later, deleted(5))).toBe(page);
  expect(idsAfter(page, created(8), NEWEST, false)).toEqual(['9', '8', '7']);
  const none = pageOf([]);
  expect(changedPage({ page: none, selection: NEWEST, isFirst: false }, created(8))).toBe(none);
});

test('ChangedPage-3: a full page pushes its last row to the next page, whose cursor only the gateway knows', () => {
  const ids = Array.from({ length: PAGE_SIZE }, (_, at) => 100 - at);
  const { nodes, pageInfo } = changedPage(
    { page: pageOf(ids), selection: NEWEST, isFirst: true },
    created(101),
  );
  expect(nodes).toHaveLength(PAGE_SIZE);
  expect([nodes[0]?.id, nodes.at(-1)?.id]).toEqual(['101', String(100 - PAGE_SIZE + 2)]);
  expect(pageInfo).toEqual({ endCursor: null, hasNextPage: true });
});

test('ChangedPage-4: an update shows the new values in place; the same values again change nothing', () => {
  const page = pageOf([9, 7]);
  const shown = { page, selection: NEWEST, isFirst: true };
  const next = changedPage(shown, updated(7, { name: 'Rex', status: null }));
  expect(next.nodes[1]).toMatchObject({ id: '7', name: 'Rex', status: null });
  expect(next.nodes[0]).toBe(page.nodes[0]);
  expect(changedPage(shown, updated(7))).toBe(page);
  expect(changedPage(shown, created(7))).toBe(page);
});

test('ChangedPage-5: an item leaves a filtered page with its value, and enters it', () => {
  const page = pageOf([9, 7], { fields: { status: 'sold' } });
  expect(idsAfter(page, updated(7, { status: 'available' }), SOLD)).toEqual(['9']);
  expect(idsAfter(page, updated(8, { status: 'sold' }), SOLD)).toEqual(['9', '8', '7']);
  expect(idsAfter(page, updated(8, { status: null }), SOLD)).toEqual(['9', '7']);
  expect(idsAfter(page, deleted(9, { status: 'sold' }), SOLD)).toEqual(['7']);
});

test('ChangedPage-6: only the gateway knows the rows that move up from the next page', () => {
  expect(isIncomplete({ page: pageOf([9, 7], { hasNextPage: true }) })).toBe(true);
  expect(isIncomplete({ page: pageOf([9]) })).toBe(false);
});

test('ChangedPage-7: in a list that a text orders, an item takes its place by code points, and leaves with its start', () => {
  const page = pageOf([7, 9], { fields: { name: 'Rex' } });
  expect(idsAfter(page, created(8, { name: 'Reto' }), SEARCH)).toEqual(['8', '7', '9']);
  expect(idsAfter(page, created(8, { name: 'Rex' }), SEARCH)).toEqual(['7', '8', '9']);
  expect(idsAfter(page, created(8, { name: 'Re\u{10ffff}' }), SEARCH)).toEqual(['7', '9', '8']);
  expect(idsAfter(page, created(8, { name: 'Luna' }), SEARCH)).toEqual(['7', '9']);
  expect(idsAfter(page, updated(7, { name: 'Luna' }), SEARCH)).toEqual(['9']);
});

const READING: Selection = { noun: readings.description, filters: {}, orderBy: 'POWER' };
const reading = (id: number, power: string | null, more: Partial<Item> = {}) => item(id, { power, ...more });

test.each([
  ['power', 'POWER', ['-10.0000000000', '-9.5000000000', '0.0000000000', '9.0000000000', '10.0000000000']],
  ['pulses', 'PULSES', ['-9007199254740993', '-9', '9', '10', '9007199254740993']],
  ['level', 'LEVEL', [1, 2, 9]],
  [
    'takenAt',
    'TAKEN_AT',
    ['0001-01-01T00:00:00.000Z', '1969-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ],
  ['meter', 'METER', ['Rex', 'Rex ', 'rex', '\ue000', '🐈']],
])(
  'ChangedPage-8: in a list by %s, a new item takes its place as the gateway orders it, in both directions',
  (field, orderBy, values) => {
    const all = [null, ...values].map((value, at) => item(at + 1, { [field]: value }));
    for (const order of [orderBy, `${orderBy}_DESC`]) {
      const selection = { ...READING, orderBy: order };
      const nodes = order === orderBy ? all : all.toReversed();
      for (const [at, each] of nodes.entries()) {
        const page = { ...pageOf([]), nodes: nodes.toSpliced(at, 1) };
        expect(
          changedPage({ page, selection, isFirst: true }, { kind: 'CREATED', item: each }).nodes,
        ).toEqual(nodes);
      }
    }
  },
);

test('ChangedPage-9: an item whose ordering value changes moves, and leaves a page whose end it passes', () => {
  const nodes = [reading(1, '1.0'), reading(2, '2.0'), reading(3, '3.0')];
  const page = { ...pageOf([], { hasNextPage: true }), nodes };
  const move = (power: string | null, isFirst = true) =>
    changedPage(
      { page, selection: READING, isFirst },
      { kind: 'UPDATED', item: reading(2, power) },
    ).nodes.map(({ id }) => id);
  expect(move('2.5')).toEqual(['1', '2', '3']);
  expect(move('0.5')).toEqual(['2', '1', '3']);
  expect(move(null)).toEqual(['2', '1', '3']);
  expect(move('0.5', false)).toEqual(['1', '3']);
  expect(move('4')).toEqual(['1', '3']);
});

test('ChangedPage-10: a range has what is from one bound on, and not the other bound; nothing without a value', () => {
  const ranged = { ...READING, orderBy: null, filters: { powerFrom: '2', powerBefore: '3' } };
  const enter = (power: string | null) =>
    idsAfter(pageOf([]), { kind: 'CREATED', item: reading(1, power) }, ranged);
  expect(
    ['1.9999999999', '2.0000000000', '2.9999999999', '3.0000000000', null].map(
      (power) => enter(power).length,
    ),
  ).toEqual([0, 1, 1, 0, 0]);
});

test('Sort-11: a filter that brings an order ends the order and the filters that would need another one', () => {
  const at: Selection = { ...READING, filters: { state: 'fine', meterStartsWith: 'N' }, orderBy: null };
  const ranged = filteredBy(at, 'levelFrom', '2');
  expect(ranged).toEqual({ filters: { state: 'fine', levelFrom: '2' }, orderBy: null });
  const sorted = { ...READING, orderBy: 'LEVEL_DESC' };
  expect(filteredBy(sorted, 'levelBefore', '2').orderBy).toBe('LEVEL_DESC');
  expect(filteredBy(sorted, 'powerFrom', '2').orderBy).toBeNull();
  expect(filteredBy({ ...sorted, filters: { levelFrom: '2' } }, 'levelBefore', '3').filters).toEqual({
    levelFrom: '2',
    levelBefore: '3',
  });
  expect(filteredBy({ ...sorted, filters: { levelFrom: '2' } }, 'levelFrom', null)).toEqual({
    filters: {},
    orderBy: 'LEVEL_DESC',
  });
});
