import type { PetStatus } from './pet.entity.js';

export const PET_ORDERS = ['OLDEST', 'NEWEST'] as const;
export type PetOrder = (typeof PET_ORDERS)[number];

export const MAX_IDS = 100;

/**
 * The pets of a project that match every filter, ordered by id, or by name and id if names are filtered. `NEWEST` is the
 * exact reverse of `OLDEST`.
 */
export interface PetList {
  status: PetStatus | null;
  nameStartsWith: string | null;
  /** At most `MAX_IDS`, each once, ascending. */
  ids: readonly bigint[] | null;
  orderBy: PetOrder;
}

/** A place in a list: behind this pet, which may be deleted since. */
export interface PetPosition {
  id: bigint;
  /** Null = the list is ordered by id. */
  name: string | null;
}

export interface PetListRequest extends PetList {
  pageSize: number;
  after: PetPosition | null;
}

/** A row of a list. Its 64-bit integers are strings of digits, as in the response. */
export interface ListedPet {
  id: string;
  name: string;
  categoryId: string;
  status: PetStatus | null;
  createdAtMs: string;
}

export interface PetPage {
  pets: ListedPet[];
  hasNextPage: boolean;
}

/** The list of a status, or of all pets, that both doors have: oldest first. */
export function oldestFirst(status: PetStatus | null): PetList {
  return { status, nameStartsWith: null, ids: null, orderBy: 'OLDEST' };
}

/** The first page of these rows, which are in any order and perhaps more than the page has. */
export function pageOf(rows: ListedPet[], list: PetListRequest): PetPage {
  const pets = rows.sort(comparison(list));
  const hasNextPage = pets.length > list.pageSize;
  if (hasNextPage) pets.length = list.pageSize;
  return { pets, hasNextPage };
}

/** The rows that the list has behind its position. */
export function matching(rows: readonly ListedPet[], list: PetListRequest): ListedPet[] {
  const { status, nameStartsWith, after } = list;
  const compare = comparison(list);
  const position = after && { id: String(after.id), name: after.name ?? '' };
  return rows.filter(
    (pet) =>
      (status === null || pet.status === status) &&
      (nameStartsWith === null || pet.name.startsWith(nameStartsWith)) &&
      (position === null || compare(pet, position) > 0),
  );
}

type Place = Pick<ListedPet, 'id' | 'name'>;

function comparison({ nameStartsWith, orderBy }: PetList): (a: Place, b: Place) => number {
  const ascending = nameStartsWith === null ? compareIds : compareNames;
  return orderBy === 'OLDEST' ? ascending : (a, b) => ascending(b, a);
}

/** Ids are never negative. */
function compareIds({ id: a }: Place, { id: b }: Place): number {
  if (a === b) return 0;
  return (a.length === b.length ? a < b : a.length < b.length) ? -1 : 1;
}

function compareNames(a: Place, b: Place): number {
  const length = Math.min(a.name.length, b.name.length);
  for (let at = 0; at < length; at += 1) {
    const difference = rank(a.name.charCodeAt(at)) - rank(b.name.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return a.name.length - b.name.length || compareIds(a, b);
}

/** Both databases compare code points. In UTF-16 the units of those above U+FFFF precede U+E000 to U+FFFF. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
