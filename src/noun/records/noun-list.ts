import type { ListOrder } from '../../ground/kernel/validation.js';
import { KeysetCursors } from '../../ground/records/keyset-cursors.js';
import type { ModelFilter, NounModel } from '../definition/model.js';

export const MAX_IDS = 100;

/** A value of a field for which a list is filtered. */
export type FilterValue = string | bigint | number | boolean;

/**
 * The records of a project that match every filter, ordered by id, or by a text and id if the start of that text is given.
 * `NEWEST` is the exact reverse of `OLDEST`.
 */
export interface NounList {
  /** The value of each whole filter, in the order of the model; null = any. */
  readonly wholeValues: readonly (FilterValue | null)[];
  readonly start: { readonly filter: ModelFilter; readonly prefix: string } | null;
  /** At most `MAX_IDS`, each once, ascending. */
  readonly ids: readonly bigint[] | null;
  readonly orderBy: ListOrder;
}

export interface NounListRequest extends NounList {
  readonly pageSize: number;
  /** Behind this record, which may be deleted since; `text` orders the list, if a text does. */
  readonly after: { readonly id: bigint; readonly text: string } | null;
  /** Whether the page comes with its position in the change log. */
  readonly isFollowed?: boolean;
}

/** A row of a list by the names of the fields. Numbers are strings of digits. */
export type ListedRow = { readonly id: string; readonly createdAtMs: string } & Readonly<
  Record<string, string | null>
>;

export interface NounPage {
  readonly rows: ListedRow[];
  readonly hasNextPage: boolean;
  /** From which changes of the page can be followed; null = the change log is off, or it was not asked for. */
  readonly changesCursor: string | null;
}

/** The value of a filter in the one form that rows have, unless it is not valid; null = any. */
export function filterValueOf(
  { normal }: ModelFilter['field']['kind'],
  value: unknown,
  problems: readonly object[],
): FilterValue | null {
  if (value === undefined || value === null) return null;
  return (problems.length === 0 && normal ? normal(value) : value) as FilterValue;
}

/** The list of all records, or of those with these values: oldest first, as both APIs have it. */
export function oldestFirst(wholeValues: NounList['wholeValues']): NounList {
  return { wholeValues, start: null, ids: null, orderBy: 'OLDEST' };
}

/** The index of the lists with these filters, by their columns; null = the primary key. */
export function indexOf(table: string, columns: readonly string[]): string | null {
  return columns.length === 0 ? null : [table, ...columns].join('_');
}

/** Whether a record has each of these values; null = any. */
export function matchesAll({ wholeFilters }: NounModel, values: NounList['wholeValues']) {
  return (row: Readonly<Record<string, unknown>>): boolean =>
    values.every((value, at) => value === null || row[wholeFilters[at]?.field.name as string] === value);
}

/** The first page of these rows, which are in any order and perhaps more than the page has. */
export function pageOf(rows: ListedRow[], list: NounListRequest): Omit<NounPage, 'changesCursor'> {
  rows.sort(comparison(list));
  const hasNextPage = rows.length > list.pageSize;
  if (hasNextPage) rows.length = list.pageSize;
  return { rows, hasNextPage };
}

/** The rows that the list has behind its position. */
export function matching(
  { wholeFilters }: NounModel,
  rows: readonly ListedRow[],
  list: NounListRequest,
): ListedRow[] {
  const { start, after } = list;
  const compare = comparison(list);
  const position = after && { id: String(after.id), ...(start && { [start.filter.field.name]: after.text }) };
  return rows.filter(
    (row) =>
      list.wholeValues.every((value, at) => value === null || isListed(row, wholeFilters[at], value)) &&
      (start === null || row[start.filter.field.name]?.startsWith(start.prefix)) &&
      (position === null || compare(row, position as ListedRow) > 0),
  );
}

function isListed(row: ListedRow, filter: ModelFilter | undefined, value: FilterValue): boolean {
  const { name, kind } = filter?.field ?? {};
  const listed = row[name ?? ''] ?? null;
  return listed !== null && (kind?.toJson?.(listed) ?? listed) === value;
}

function comparison({ start, orderBy }: NounList): (a: ListedRow, b: ListedRow) => number {
  const ascending = start === null ? compareIds : byText(start.filter.field.name);
  return orderBy === 'OLDEST' ? ascending : (a, b) => ascending(b, a);
}

/** Ids are never negative. */
function compareIds({ id: a }: ListedRow, { id: b }: ListedRow): number {
  if (a === b) return 0;
  return (a.length === b.length ? a < b : a.length < b.length) ? -1 : 1;
}

/** By code points, as both databases compare. Units of UTF-16 have another order above U+FFFF. */
function byText(name: string): (a: ListedRow, b: ListedRow) => number {
  return (a, b) => {
    const [first, second] = [a[name] as string, b[name] as string];
    const length = Math.min(first.length, second.length);
    for (let at = 0; at < length; at += 1) {
      const difference = (first.codePointAt(at) as number) - (second.codePointAt(at) as number);
      if (difference !== 0) return difference;
    }
    return first.length - second.length || compareIds(a, b);
  };
}

/**
 * The cursors of a list. A list with the oldest first, without the start of a text and without ids, takes the cursors of every
 * such list, with any other filter: clients of both APIs have stored them for years. D-109.
 */
export class NounCursors extends KeysetCursors {
  constructor({ description, startFilters }: NounModel, { wholeValues, start, ids, orderBy }: NounList) {
    const isShared = orderBy === 'OLDEST' && start === null && ids === null;
    const prefixes = startFilters.map((filter) => (filter === start?.filter ? start.prefix : null));
    const list = [orderBy, ...wholeValues.map(textOf), ...prefixes, ids?.map(String)];
    super(description, isShared ? null : list, start?.prefix ?? null);
  }
}

/** JSON knows no bigint. */
const textOf = (value: FilterValue | null) => (typeof value === 'bigint' ? String(value) : value);
