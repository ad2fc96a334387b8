import { filteredFieldsOf, type NounDescription } from '../../../nouns.js';
import { go, type Place } from '../routing/location.js';
import { isSearchable, ordersOf, type Selection } from './selection.js';

/** The user's position in the list. It is part of the URL, so that Back, Forward and a reload work. */
export interface Browsing extends Selection {
  /** Null = the first page. */
  after: string | null;
  /** The cursors of the previous pages, without the first page: lists can only be read forward. */
  trail: readonly string[];
}

/** The first page of the whole list. */
export function wholeListOf(noun: NounDescription): Browsing {
  return { noun, filters: {}, orderBy: null, after: null, trail: [] };
}

export function browsingOf(noun: NounDescription, { query, kept }: Place): Browsing {
  const { trail } = (kept ?? {}) as { trail?: unknown };
  const given = filteredFieldsOf(noun).flatMap((filter): [string, string][] => {
    const value = query.get(filter.argument);
    return value && isSearchable(filter, value) ? [[filter.argument, value]] : [];
  });
  return {
    noun,
    filters: Object.fromEntries(given),
    orderBy: ordersOf(noun).find((each) => each === query.get('orderBy')) ?? null,
    after: query.get('after'),
    trail: Array.isArray(trail) ? trail.filter((each) => typeof each === 'string') : [],
  };
}

/** `replace`: the present entry of the browser's history changes, as for each letter of a search. */
export function browseTo(to: Browsing, { replace = false } = {}): void {
  const { noun, filters, orderBy, after, trail } = to;
  const given = Object.entries({ ...filters, orderBy, after });
  const query = new URLSearchParams(given.filter((entry): entry is [string, string] => entry[1] !== null));
  go(`/${noun.plural}${query.size > 0 ? `?${query}` : ''}`, { kept: { trail }, replace });
}

/** The first page of another selection. */
export function select(at: Browsing, changes: Partial<Omit<Selection, 'noun'>>): Browsing {
  return { ...at, ...changes, after: null, trail: [] };
}

export function nextPage(at: Browsing, endCursor: string): Browsing {
  return { ...at, after: endCursor, trail: at.after === null ? [] : [...at.trail, at.after] };
}

export function previousPage(at: Browsing): Browsing {
  return { ...at, after: at.trail.at(-1) ?? null, trail: at.trail.slice(0, -1) };
}
