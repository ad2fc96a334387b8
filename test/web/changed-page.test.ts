import { expect, test } from '@jest/globals';
import { changedPage, isIncomplete, PAGE_SIZE } from '../../browser/dashboard/src/items/changed-page.js';
import type { Item } from '../../browser/dashboard/src/items/item.js';
import type { ItemChange, ListPage } from '../../browser/dashboard/src/items/item-documents.js';
import type { Selection } from '../../browser/dashboard/src/items/selection.js';
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

test('ChangedPage-6: only the gateway knows the place in a list that is ordered by a text, and the rows that move up', () => {
  const page = pageOf([9, 7], { fields: { name: 'Rex' } });
  const shown = { page, selection: SEARCH, isFirst: true };
  const change = created(8, { name: 'Reto' });
  expect(changedPage(shown, change)).toBe(page);
  expect(isIncomplete(shown, [change])).toBe(true);
  expect(isIncomplete(shown, [created(8, { name: 'Luna' })])).toBe(false);
  expect(idsAfter(page, updated(7, { name: 'Luna' }), SEARCH)).toEqual(['9']);
  const few = pageOf([9, 7], { hasNextPage: true });
  expect(isIncomplete({ page: few, selection: NEWEST, isFirst: true }, [deleted(8)])).toBe(true);
  expect(isIncomplete({ page: pageOf([9]), selection: NEWEST, isFirst: true }, [deleted(8)])).toBe(false);
});
