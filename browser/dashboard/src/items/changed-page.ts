import { filteredFieldsOf } from '../../../nouns.js';
import type { Item } from './item.js';
import type { ItemChange, ListPage } from './item-documents.js';
import { compareValues, comparisonOf } from './order.js';
import type { Selection } from './selection.js';

export const PAGE_SIZE = 25;

/** A page of the list, and which one. */
interface ShownPage {
  page: ListPage;
  selection: Selection;
  isFirst: boolean;
}

/** The page after a change; the same object if the page shows nothing of the change. A row that is too much goes to the next page. */
export function changedPage({ page, selection, isFirst }: ShownPage, { kind, item }: ItemChange): ListPage {
  const { nodes, pageInfo } = page;
  const at = nodes.findIndex(({ id }) => id === item.id);
  const known = nodes[at];
  if (kind === 'DELETED' || !isSelected(item, selection)) {
    return known ? { ...page, nodes: nodes.toSpliced(at, 1) } : page;
  }
  const compare = comparisonOf(selection);
  if (known && isSame(known, item)) return page;
  if (known && compare(known, item) === 0) return { ...page, nodes: nodes.with(at, { ...known, ...item }) };
  if (known) {
    // The value that orders the list is another one: the item moves, perhaps to another page.
    const left = { ...page, nodes: nodes.toSpliced(at, 1) };
    return changedPage({ page: left, selection, isFirst }, { kind, item: { ...known, ...item } });
  }
  const follower = nodes.findIndex((node) => compare(node, item) > 0);
  if (follower === 0 && !isFirst) return page;
  if (follower === -1 && (pageInfo.hasNextPage || (nodes.length === 0 && !isFirst))) return page;
  const more = nodes.toSpliced(follower === -1 ? nodes.length : follower, 0, item);
  if (more.length <= PAGE_SIZE) return { ...page, nodes: more };
  // Only the gateway knows the cursor of the row that is the last one now.
  return {
    ...page,
    nodes: more.slice(0, PAGE_SIZE),
    pageInfo: { ...pageInfo, hasNextPage: true, endCursor: null },
  };
}

/** Whether only the gateway knows rows that belong on the page: those of the next one that move up. */
export function isIncomplete({ page }: Pick<ShownPage, 'page'>): boolean {
  return page.pageInfo.hasNextPage && page.nodes.length <= PAGE_SIZE / 2;
}

/** Whether the list with these filters has the item. */
function isSelected(item: Item, { noun, filters }: Selection): boolean {
  return filteredFieldsOf(noun).every(({ argument, field, match }) => {
    const wanted = filters[argument];
    if (wanted === undefined) return true;
    const value = item[field.name] ?? null;
    if (match === 'has') return Array.isArray(value) && value.includes(wanted);
    if (match === 'start') return String(value ?? '').startsWith(wanted);
    if (match === 'whole') return String(value ?? '') === wanted;
    if (value === null) return false;
    const isBefore = compareValues(field, value, wanted) < 0;
    return match === 'before' ? isBefore : !isBefore;
  });
}

function isSame(known: Item, item: Item): boolean {
  return Object.entries(item).every(([name, value]) => isEqual(known[name], value));
}

/** Lists and records are other objects in each answer. */
function isEqual(one: unknown, other: unknown): boolean {
  return one === other || (typeof other === 'object' && JSON.stringify(one) === JSON.stringify(other));
}
