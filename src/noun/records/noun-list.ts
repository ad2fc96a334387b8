import type { FieldProblem } from '../../ground/kernel/errors.js';
import { listIn } from '../../ground/kernel/json.js';
import type { ListOrder } from '../../ground/kernel/validation.js';
import type { ModelFilter } from '../definition/lists.js';
import type { ModelField, NounModel } from '../definition/model.js';
import { BY_TEXT, type KindOrder } from '../kinds/order.js';

export const MAX_IDS = 100;

/** A value of a field for which a list is filtered. */
export type FilterValue = string | bigint | number | boolean;

/**
 * The records of a project that match every filter, ordered by id, or by a field and id: the text whose start is given, or
 * that of `sort`. Records without a value of it come first. `NEWEST` is the exact reverse of `OLDEST`.
 */
export interface NounList {
  /** The value of each whole filter, in the order of the model; null = any. */
  readonly wholeValues: readonly (FilterValue | null)[];
  readonly start: { readonly filter: ModelFilter; readonly prefix: string } | null;
  /** Null if the list has a start. */
  readonly sort: Sort | null;
  /** At most `MAX_IDS`, each once, ascending. */
  readonly ids: readonly bigint[] | null;
  readonly orderBy: ListOrder;
}

/** The order by a field, perhaps of a part of its values: from one bound on, and before the other. Null = without it. */
export interface Sort {
  readonly field: ModelField;
  readonly from: string | null;
  readonly before: string | null;
}

export interface NounListRequest extends NounList {
  readonly pageSize: number;
  /** Behind this record, which may be deleted since. `text` is its value of the ordering field; empty = it has none. */
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

/** The field by which the list is ordered before the id; null = it is ordered by id. */
export function orderingFieldOf({ start, sort }: NounList): ModelField | null {
  return start?.filter.field ?? sort?.field ?? null;
}

export function orderOf({ kind }: ModelField): KindOrder {
  return kind.order ?? BY_TEXT;
}

/** Whether a value is between the bounds. */
export function isWithin({ field, from, before }: Sort, value: string): boolean {
  const { compare } = orderOf(field);
  return (from === null || compare(value, from) >= 0) && (before === null || compare(value, before) < 0);
}

/** The index of the lists with these filters, by their columns; null = the primary key. */
export function indexOf(table: string, columns: readonly string[]): string | null {
  return columns.length === 0 ? null : [table, ...columns].join('_');
}

/** The table with a row for each entry of a list: the columns of the filters are there too, by their names. D-285. */
export function entriesTableOf({ table }: NounModel, { column }: ModelField): string {
  return `has_${table}_${column}`;
}

/** The index of the lists with one entry and these other filters; null = the primary key. No table has two underscores. */
export function entriesIndexOf(table: string, columns: readonly string[]): string | null {
  return indexOf(`${table}_`, columns);
}

/** Whether it filters by an entry of a list. */
export const isByEntry = ({ field }: ModelFilter) => field.filter === 'has';

/** The filters by an entry that the list has. */
export function entryFiltersOf({ wholeFilters }: NounModel, { wholeValues }: Pick<NounList, 'wholeValues'>) {
  return wholeFilters.filter((filter, at) => isByEntry(filter) && (wholeValues[at] ?? null) !== null);
}

/** A list of one entry is a range of its rows, by age: another entry or an order by a field would read other rows. D-285. */
export function entryProblems(model: NounModel, list: NounList): FieldProblem[] {
  const [first, second] = entryFiltersOf(model, list);
  const ordering = orderingFieldOf(list);
  const field = first?.argument ?? '';
  return [
    ...(first && ordering
      ? [{ field, message: `cannot be combined with an order by ${ordering.name}` }]
      : []),
    ...(second ? [{ field: second.argument, message: `cannot be combined with ${field}` }] : []),
  ];
}

/** Whether a record has each of these values; null = any. */
export function matchesAll({ wholeFilters }: NounModel, values: NounList['wholeValues']) {
  return (row: Readonly<Record<string, unknown>>): boolean =>
    wholeFilters.every((filter, at) => {
      const value = values[at] ?? null;
      const stored = row[filter.field.name];
      return value === null || (isByEntry(filter) ? hasEntry(stored, value) : stored === value);
    });
}

/** `stored` is a list, its JSON, or null. */
function hasEntry(stored: unknown, value: FilterValue): boolean {
  return ((listIn(stored) ?? []) as unknown[]).includes(value);
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
  const { start, sort, after } = list;
  const compare = comparison(list);
  const field = orderingFieldOf(list);
  const position = after && { id: String(after.id), ...(field && { [field.name]: after.text || null }) };
  return rows.filter(
    (row) =>
      wholeFilters.every((filter, at) => {
        const value = list.wholeValues[at] ?? null;
        return value === null || isListed(row, filter, value);
      }) &&
      (start === null || row[start.filter.field.name]?.startsWith(start.prefix)) &&
      (sort === null || hasRange(sort, row)) &&
      (position === null || compare(row, position as ListedRow) > 0),
  );
}

function isListed(row: ListedRow, filter: ModelFilter, value: FilterValue): boolean {
  const { name, kind } = filter.field;
  const listed = row[name] ?? null;
  if (isByEntry(filter)) return hasEntry(listed, value);
  return listed !== null && (kind.toJson?.(listed) ?? listed) === value;
}

function hasRange(sort: Sort, row: ListedRow): boolean {
  if (sort.from === null && sort.before === null) return true;
  const value = row[sort.field.name] ?? null;
  return value !== null && isWithin(sort, value);
}

function comparison(list: NounList): (a: ListedRow, b: ListedRow) => number {
  const field = orderingFieldOf(list);
  const ascending = field === null ? compareIds : byValue(field);
  return list.orderBy === 'OLDEST' ? ascending : (a, b) => ascending(b, a);
}

/** Ids are never negative. */
function compareIds({ id: a }: ListedRow, { id: b }: ListedRow): number {
  if (a === b) return 0;
  return (a.length === b.length ? a < b : a.length < b.length) ? -1 : 1;
}

function byValue(field: ModelField): (a: ListedRow, b: ListedRow) => number {
  const { name } = field;
  const { compare } = orderOf(field);
  return (a, b) => {
    const [first, second] = [a[name] ?? null, b[name] ?? null];
    // Without a value comes first, as the databases have it.
    const isUnset = Number(first !== null) - Number(second !== null);
    const byValues = first === null || second === null ? isUnset : compare(first, second);
    return byValues || compareIds(a, b);
  };
}
