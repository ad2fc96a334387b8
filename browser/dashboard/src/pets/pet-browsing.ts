import type { PetStatus } from '../graphql/generated.js';
import { go, type Place } from '../routing/location.js';

export const PET_STATUSES: readonly PetStatus[] = ['available', 'pending', 'sold'];

/** The user's position in the list. It is part of the URL, so that Back, Forward and a reload work. */
export interface Browsing {
  status: PetStatus | null;
  /** Null = the first page. */
  after: string | null;
  /** The cursors of the previous pages, without the first page: lists can only be read forward. */
  trail: readonly string[];
}

export function browsingOf({ query, kept }: Place): Browsing {
  const status = query.get('status');
  const { trail } = (kept ?? {}) as { trail?: unknown };
  return {
    status: PET_STATUSES.find((each) => each === status) ?? null,
    after: query.get('after'),
    trail: Array.isArray(trail) ? trail.filter((each) => typeof each === 'string') : [],
  };
}

export function browseTo({ status, after, trail }: Browsing): void {
  const query = new URLSearchParams({ ...(status ? { status } : {}), ...(after ? { after } : {}) });
  go(`/pets${query.size > 0 ? `?${query}` : ''}`, { kept: { trail } });
}

export function nextPage(at: Browsing, endCursor: string): Browsing {
  return { ...at, after: endCursor, trail: at.after === null ? [] : [...at.trail, at.after] };
}

export function previousPage(at: Browsing): Browsing {
  return { ...at, after: at.trail.at(-1) ?? null, trail: at.trail.slice(0, -1) };
}
