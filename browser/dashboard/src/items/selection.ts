import { filteredFieldsOf, type NounDescription, type NounField, type NounFilter } from '../../../nouns.js';
import { valueProblemOf } from '../item-files/value-problem.js';
import { inputOf } from './item.js';

export const ORDERS = ['NEWEST', 'OLDEST'] as const;
export type Order = (typeof ORDERS)[number];

/** Which items the user sees, in which order. */
export interface Selection {
  noun: NounDescription;
  /** The values of the list's arguments, by the name of the argument. An absent one does not filter. */
  filters: Readonly<Record<string, string>>;
  /** Null = the order that suits the list: a search by the start of a text, otherwise the newest items first. */
  orderBy: Order | null;
}

/** The filters with another value of one; null = without it. */
export function withFilter({ filters }: Selection, argument: string, value: string | null) {
  const { [argument]: _, ...others } = filters;
  return value === null ? others : { ...others, [argument]: value };
}

/** Whether an item can have the value. The gateway refuses a list with another one. */
export function isSearchable(
  { field, match }: Pick<NounFilter, 'match'> & { field: NounField },
  value: string,
) {
  return match === 'start' || valueProblemOf(field, value) === null;
}

/** The filters as variables of an operation; null = it does not filter. */
export function variablesOf({ noun, filters }: Selection): Record<string, unknown> {
  return Object.fromEntries(
    filteredFieldsOf(noun).map(({ argument, field }) => [argument, inputOf(field, filters[argument] ?? '')]),
  );
}

/** The search by which the list is ordered; undefined = the list is ordered by age. */
export function orderingSearch({ noun, filters }: Selection) {
  return noun.filters.find(({ match, argument }) => match === 'start' && filters[argument] !== undefined);
}

/** The order of the list. With a search by the start of a text, `OLDEST` means from A to Z. */
export function orderOf(selection: Selection): Order {
  return selection.orderBy ?? (orderingSearch(selection) ? 'OLDEST' : 'NEWEST');
}
