import { filteredFieldsOf } from '../../../nouns.js';
import type { Item } from './item.js';
import type { ItemChange, ListPage } from './item-documents.js';
import { orderingSearch, orderOf, type Selection } from './selection.js';

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
  if (known) return isSame(known, item) ? page : { ...page, nodes: nodes.with(at, { ...known, ...item }) };
  // Such a list is ordered by a text, as the database compares it.
  if (orderingSearch(selection)) return page;
  const isNewestFirst = orderOf(selection) === 'NEWEST';
  const id = BigInt(item.id);
  const follower = nodes.findIndex((node) => BigInt(node.id) < id === isNewestFirst);
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

/** Whether the changes leave something that only the gateway knows: rows of the next page, or a place in a list ordered by a text. */
export function isIncomplete({ page, selection }: ShownPage, changes: readonly ItemChange[]): boolean {
  if (page.pageInfo.hasNextPage && page.nodes.length <= PAGE_SIZE / 2) return true;
  const shown = new Set(page.nodes.map(({ id }) => id));
  return (
    orderingSearch(selection) !== undefined &&
    changes.some(({ kind, item }) => kind !== 'DELETED' && isSelected(item, selection) && !shown.has(item.id))
  );
}

/** Whether the list with these filters has the item. */
function isSelected(item: Item, { noun, filters }: Selection): boolean {
  return filteredFieldsOf(noun).every(({ argument, field, match }) => {
    const wanted = filters[argument];
    const value = String(item[field.name] ?? '');
    return wanted === undefined || (match === 'start' ? value.startsWith(wanted) : value === wanted);
  });
}

function isSame(known: Item, item: Item): boolean {
  return Object.entries(item).every(([name, value]) => known[name] === value);
}
