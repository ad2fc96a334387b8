import { filteredFieldsOf, type NounDescription, type NounField, type NounFilter } from '../../../nouns.js';
import { valueProblemOf } from '../item-files/value-problem.js';
import { inputOf } from './item.js';

/** Which items the user sees, in which order. */
export interface Selection {
  noun: NounDescription;
  /** The values of the list's arguments, by the name of the argument. An absent one does not filter. */
  filters: Readonly<Record<string, string>>;
  /** An order of GraphQL. Null = the order that suits the list: by the field of its filter, otherwise the newest items first. */
  orderBy: string | null;
}

interface Ordering {
  /** Undefined = the list is ordered by age. */
  field: NounField | undefined;
  isDescending: boolean;
  /** A filter brings it with it, and allows no order by another field. */
  isFixed: boolean;
}

/** The orders of the list in GraphQL. */
export function ordersOf({ fields }: NounDescription): string[] {
  const sorted = fields.filter(({ isSorted }) => isSorted);
  return ['NEWEST', 'OLDEST', ...sorted.flatMap((field) => [orderBy(field, false), orderBy(field, true)])];
}

/** Such as `DUE_AT` or `DUE_AT_DESC`. */
export function orderBy({ name }: NounField, isDescending: boolean): string {
  const inCapitals = name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
  return isDescending ? `${inCapitals}_DESC` : inCapitals;
}

/** The filters and the order with another value of a filter; null = without it. A list has one order, so a filter that brings one ends others. */
export function filteredBy(
  selection: Selection,
  argument: string,
  value: string | null,
): Pick<Selection, 'filters' | 'orderBy'> {
  const { noun } = selection;
  const { [argument]: _, ...others } = selection.filters;
  if (value === null) return { filters: others, orderBy: selection.orderBy };
  const filter = noun.filters.find((each) => each.argument === argument);
  if (!filter || filter.match === 'whole')
    return { filters: { ...others, [argument]: value }, orderBy: selection.orderBy };
  const kept = Object.entries(others).filter(([name]) =>
    noun.filters.some(
      (each) => each.argument === name && (each.match === 'whole' || each.field === filter.field),
    ),
  );
  const ordering = filter.match === 'has' ? undefined : filter.field;
  const isOrdered = orderingOf(selection).field?.name === ordering;
  return {
    filters: { ...Object.fromEntries(kept), [argument]: value },
    orderBy: isOrdered ? selection.orderBy : null,
  };
}

/** Whether an item can have the value. The gateway refuses a list with another one. */
export function isSearchable(
  { field, match }: Pick<NounFilter, 'match'> & { field: NounField },
  value: string,
) {
  if (match === 'start') return true;
  if (field.kind === 'decimal' && !hasPlaces(field, value)) return false;
  return valueProblemOf(field, value) === null;
}

/** The example has all places that a value can have. */
function hasPlaces({ example }: NounField, value: string): boolean {
  const placesIn = (number: string) => (number.split('.')[1] ?? '').length;
  return placesIn(value) <= placesIn(example);
}

/** The filters as variables of an operation; null = it does not filter. */
export function variablesOf({ noun, filters }: Selection): Record<string, unknown> {
  return Object.fromEntries(
    filteredFieldsOf(noun).map(({ argument, field }) => [argument, inputOf(field, filters[argument] ?? '')]),
  );
}

/**
 * The field by which the list is ordered, and how. With a filter that brings an order, `OLDEST` is the ascending one. A filter
 * by an entry of a list allows only the orders by age.
 */
export function orderingOf(selection: Selection): Ordering {
  const { noun, filters } = selection;
  const ordering = noun.filters.find(({ match, argument }) => match !== 'whole' && filters[argument]);
  const filter = ordering?.match === 'has' ? undefined : ordering;
  const wanted = selection.orderBy ?? (filter ? 'OLDEST' : 'NEWEST');
  const named = noun.fields.find((field) => [false, true].some((each) => orderBy(field, each) === wanted));
  return {
    field: filter ? noun.fields.find(({ name }) => name === filter.field) : ordering ? undefined : named,
    isDescending: wanted === 'NEWEST' || (named !== undefined && wanted === orderBy(named, true)),
    isFixed: ordering !== undefined,
  };
}

/** The order of the list in GraphQL. */
export function orderOf(selection: Selection): string {
  return selection.orderBy ?? (orderingOf(selection).field ? 'OLDEST' : 'NEWEST');
}
