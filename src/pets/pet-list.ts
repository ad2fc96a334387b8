import { KeysetCursors } from '../ground/kernel/keyset-cursors.js';
import type { ListOrder } from '../ground/kernel/validation.js';
import { PET } from './pet.description.js';
import type { PetStatus } from './pet.entity.js';

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
  orderBy: ListOrder;
}

export interface PetListRequest extends PetList {
  pageSize: number;
  /** Behind this pet, which may be deleted since; `text` is its name if the list is ordered by name. */
  after: { id: bigint; text: string } | null;
  /** Whether the page comes with its position in the change log. */
  isFollowed?: boolean;
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
  /** From which changes of the page can be followed; null = the change log is off, or it was not asked for. */
  changesCursor: string | null;
}

/** The list of a status, or of all pets, that both doors have: oldest first. */
export function oldestFirst(status: PetStatus | null): PetList {
  return { status, nameStartsWith: null, ids: null, orderBy: 'OLDEST' };
}

/** The first page of these rows, which are in any order and perhaps more than the page has. */
export function pageOf(rows: ListedPet[], list: PetListRequest): Omit<PetPage, 'changesCursor'> {
  const pets = rows.sort(comparison(list));
  const hasNextPage = pets.length > list.pageSize;
  if (hasNextPage) pets.length = list.pageSize;
  return { pets, hasNextPage };
}

/** The rows that the list has behind its position. */
export function matching(rows: readonly ListedPet[], list: PetListRequest): ListedPet[] {
  const { status, nameStartsWith, after } = list;
  const compare = comparison(list);
  const position = after && { id: String(after.id), name: after.text };
  return rows.filter(
    (pet) =>
      (status === null || pet.status === status) &&
      (nameStartsWith === null || pet.name.startsWith(nameStartsWith)) &&
      (position === null || compare(pet, position) > 0),
  );
}

type OrderedPet = Pick<ListedPet, 'id' | 'name'>;

function comparison({ nameStartsWith, orderBy }: PetList): (a: OrderedPet, b: OrderedPet) => number {
  const ascending = nameStartsWith === null ? compareIds : compareNames;
  return orderBy === 'OLDEST' ? ascending : (a, b) => ascending(b, a);
}

/** Ids are never negative. */
function compareIds({ id: a }: OrderedPet, { id: b }: OrderedPet): number {
  if (a === b) return 0;
  return (a.length === b.length ? a < b : a.length < b.length) ? -1 : 1;
}

/** By code points, as both databases compare. Units of UTF-16 have another order above U+FFFF. */
function compareNames(a: OrderedPet, b: OrderedPet): number {
  const length = Math.min(a.name.length, b.name.length);
  for (let at = 0; at < length; at += 1) {
    const difference = (a.name.codePointAt(at) as number) - (b.name.codePointAt(at) as number);
    if (difference !== 0) return difference;
  }
  return a.name.length - b.name.length || compareIds(a, b);
}

/**
 * The cursors of a list. Only the lists with oldest pets first and without `nameStartsWith` or `ids` share theirs, for any
 * status: clients of both doors have stored them for years. D-109.
 */
export class PetCursors extends KeysetCursors {
  constructor({ status, nameStartsWith, ids, orderBy }: PetList) {
    const isShared = orderBy === 'OLDEST' && nameStartsWith === null && ids === null;
    const list = isShared ? null : [orderBy, status, nameStartsWith, ids?.map(String)];
    super(PET, list, nameStartsWith);
  }
}
