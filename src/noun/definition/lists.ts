import type { NounFilter } from '../../nouns.js';
import { type FilterMatch, jsonOf, type ModelField } from '../kinds/kind.js';

/** How lists of a noun are filtered and ordered. */
export interface NounLists {
  /** Of one value of a field, or of one entry of a list, for both APIs. */
  readonly wholeFilters: readonly ModelFilter[];
  /** Of the texts that start alike, for GraphQL. */
  readonly startFilters: readonly ModelFilter[];
  /** Of the values between two bounds, for both APIs. */
  readonly rangeFilters: readonly RangeFilter[];
  /** Beside those by age, for both APIs. */
  readonly orders: readonly FieldOrder[];
}

export interface ModelFilter {
  /** Of GraphQL: the field, or such as `titleStartsWith`. */
  readonly argument: string;
  /** Of a filter by an entry, its kind and its example are those of one entry. */
  readonly field: ModelField;
}

export interface RangeFilter {
  readonly field: ModelField;
  /** The arguments in both APIs, such as `dueAtFrom` with this value, and `dueAtBefore` without it. */
  readonly from: string;
  readonly before: string;
}

interface FieldOrder {
  /** In the enum of GraphQL: `DUE_AT`, or `DUE_AT_DESC`. */
  readonly name: string;
  /** In REST: `dueAt`, or `-dueAt`. */
  readonly parameter: string;
  readonly field: ModelField;
  readonly isDescending: boolean;
}

type Refuse = (problem: string) => never;

/** Calls `refuse` for an option that a kind does not have, and for names that two things would have. */
export function listsOf(
  fields: readonly ModelField[],
  refuse: Refuse,
): NounLists & { filters: readonly NounFilter[] } {
  for (const field of fields) requireOptions(field, refuse);
  const filtersBy = (...matches: FilterMatch[]) =>
    fields.filter(({ filter }) => filter !== null && matches.includes(filter));
  const lists: NounLists = {
    wholeFilters: filtersBy('whole', 'has').map((field) => ({ argument: field.name, field: entryOf(field) })),
    startFilters: filtersBy('start').map((field) => ({ argument: `${field.name}StartsWith`, field })),
    rangeFilters: filtersBy('range').map((field) => rangeOf(field)),
    orders: fields.filter(({ options }) => options.sort === true).flatMap(ordersOf),
  };
  const filters = fields.flatMap(filtersOf);
  const repeated = repeatedIn(filters.map(({ argument }) => argument));
  if (repeated !== undefined) refuse(`two filters have the argument ${repeated}.`);
  const names = ['OLDEST', 'NEWEST', ...lists.orders.map(({ name }) => name)];
  const twice = repeatedIn(names);
  if (twice !== undefined) refuse(`two orders have the name ${twice}. Rename a field with sort.`);
  if (lists.orders.length > 0 && lists.wholeFilters.some(({ argument }) => argument === SORT))
    refuse(`${SORT} is a parameter of its lists in REST. Rename the field, or remove its filter.`);
  return { ...lists, filters };
}

/** The field as if it had one entry alone. */
function entryOf(field: ModelField): ModelField {
  const { each } = field.kind;
  if (!each) return field;
  const [example] = jsonOf(field.kind, field.example) as string[];
  const options = { ...field.options, default: undefined };
  return { ...field, kind: each, options, example: example ?? 'Example', isSet: true };
}

/** The query parameter of REST that orders a list. */
export const SORT = 'sort';

/** The fields that order lists, each once: by the start of a text, by a range, by choice. */
export function orderingFieldsOf({ startFilters, rangeFilters, orders }: NounLists): ModelField[] {
  return [...new Set([...startFilters, ...rangeFilters, ...orders].map(({ field }) => field))];
}

/** The words for the bounds of a range, after `is`. */
export function rangeWordsOf({ kind }: ModelField): [from: string, before: string] {
  return /^date/.test(kind.name) ? ['this or later', 'before this'] : ['this or greater', 'less than this'];
}

function requireOptions({ name, kind, filter, options }: ModelField, refuse: Refuse): void {
  const { filter: stated } = options as { filter?: unknown };
  if (options.sort && !kind.order)
    refuse(`sort of ${name} cannot work: no list is ordered by a field of the kind ${kind.name}. Remove it.`);
  const isKnown = !stated || filter === (stated === true ? 'whole' : stated);
  if (!isKnown || (filter === 'range' && !kind.order?.bound))
    refuse(`filter of ${name} cannot be ${stated}: the kind ${kind.name} has no such lists. Remove it.`);
}

function filtersOf(field: ModelField): NounFilter[] {
  const { name, filter } = field;
  if (filter === null) return [];
  if (filter === 'start') return [{ argument: `${name}StartsWith`, field: name, match: 'start' }];
  if (filter === 'whole' || filter === 'has') return [{ argument: name, field: name, match: filter }];
  const { from, before } = rangeOf(field);
  return [
    { argument: from, field: name, match: 'from' },
    { argument: before, field: name, match: 'before' },
  ];
}

function rangeOf(field: ModelField): RangeFilter {
  return { field, from: `${field.name}From`, before: `${field.name}Before` };
}

function ordersOf(field: ModelField): FieldOrder[] {
  const name = field.column.toUpperCase();
  return [
    { name, parameter: field.name, field, isDescending: false },
    { name: `${name}_DESC`, parameter: `-${field.name}`, field, isDescending: true },
  ];
}

function repeatedIn(names: readonly string[]): string | undefined {
  return names.find((name, at) => names.indexOf(name) < at);
}
