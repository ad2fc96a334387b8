import type { PetOrder, PetStatus } from '../graphql/generated.js';
import { go, type Place } from '../routing/location.js';

export const PET_STATUSES: readonly PetStatus[] = ['available', 'pending', 'sold'];
const PET_ORDERS: readonly PetOrder[] = ['NEWEST', 'OLDEST'];

/** Which pets the user sees, in which order. */
export interface PetSelection {
  status: PetStatus | null;
  nameStartsWith: string | null;
  /** Null = the order that suits the list: a search by name, otherwise the newest pets first. */
  orderBy: PetOrder | null;
}

/** The user's position in the list. It is part of the URL, so that Back, Forward and a reload work. */
export interface Browsing extends PetSelection {
  /** Null = the first page. */
  after: string | null;
  /** The cursors of the previous pages, without the first page: lists can only be read forward. */
  trail: readonly string[];
}

export const ALL_PETS: Browsing = {
  status: null,
  nameStartsWith: null,
  orderBy: null,
  after: null,
  trail: [],
};

export function browsingOf({ query, kept }: Place): Browsing {
  const { trail } = (kept ?? {}) as { trail?: unknown };
  return {
    status: PET_STATUSES.find((each) => each === query.get('status')) ?? null,
    nameStartsWith: query.get('nameStartsWith') || null,
    orderBy: PET_ORDERS.find((each) => each === query.get('orderBy')) ?? null,
    after: query.get('after'),
    trail: Array.isArray(trail) ? trail.filter((each) => typeof each === 'string') : [],
  };
}

/** `replace`: the present entry of the browser's history changes, as for each letter of a search. */
export function browseTo({ trail, ...parameters }: Browsing, { replace = false } = {}): void {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null);
  const query = new URLSearchParams(given);
  go(`/pets${query.size > 0 ? `?${query}` : ''}`, { kept: { trail }, replace });
}

/** The first page of another selection. */
export function select(at: Browsing, changes: Partial<PetSelection>): Browsing {
  return { ...at, ...changes, after: null, trail: [] };
}

/** The order of the list. With a search, `OLDEST` means from A to Z. */
export function orderOf({ orderBy, nameStartsWith }: PetSelection): PetOrder {
  return orderBy ?? (nameStartsWith === null ? 'NEWEST' : 'OLDEST');
}

export function nextPage(at: Browsing, endCursor: string): Browsing {
  return { ...at, after: endCursor, trail: at.after === null ? [] : [...at.trail, at.after] };
}

export function previousPage(at: Browsing): Browsing {
  return { ...at, after: at.trail.at(-1) ?? null, trail: at.trail.slice(0, -1) };
}
