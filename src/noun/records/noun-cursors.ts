import { KeysetCursors } from '../../ground/records/keyset-cursors.js';
import type { ModelField, NounModel } from '../definition/model.js';
import {
  entryFiltersOf,
  type FilterValue,
  isByEntry,
  isWithin,
  type ListedRow,
  type NounList,
  orderingFieldOf,
  orderOf,
} from './noun-list.js';

/**
 * The cursors of a list. Lists with the oldest first, ordered by age and without ids, share theirs, whatever the filter by
 * value: clients of both APIs have stored them for years. A filter by an entry has its own. D-109.
 */
export class NounCursors extends KeysetCursors {
  private readonly field: ModelField | null;

  constructor(
    model: NounModel,
    private readonly wanted: NounList,
  ) {
    const { description, startFilters } = model;
    const { wholeValues, start, sort, ids, orderBy } = wanted;
    const isUsual = start === null && sort === null && ids === null;
    const isShared = orderBy === 'OLDEST' && isUsual && entryFiltersOf(model, wanted).length === 0;
    const prefixes = startFilters.map((filter) => (filter === start?.filter ? start.prefix : null));
    const sorting = sort ? [sort.field.name, sort.from, sort.before] : [];
    const list = [orderBy, ...wholeValues.map(textOf), ...prefixes, ids?.map(String), ...sorting];
    super(description, isShared ? null : list, start?.prefix ?? (sort && ''));
    this.field = orderingFieldOf(wanted);
  }

  /** The position behind this row. */
  of(row: ListedRow): string {
    const { field } = this;
    if (field === null) return this.encode({ id: row.id });
    const value = row[field.name] ?? '';
    return this.encode({ id: row.id, text: value && (orderOf(field).textOf?.(value) ?? value) });
  }

  override decode(cursor: string) {
    const position = super.decode(cursor);
    return position && this.hasPlace(position.text) ? position : null;
  }

  /** Whether a record of the list can have this value of its ordering field. */
  private hasPlace(text: string): boolean {
    const { sort } = this.wanted;
    if (sort === null) return true;
    if (text === '') return !sort.field.isSet && sort.from === null && sort.before === null;
    return orderOf(sort.field).isText(text) && isWithin(sort, text);
  }
}

/** The length of the longest cursor of a noun's lists in REST. */
export function cursorLengthOf({ description, orders, rangeFilters, wholeFilters }: NounModel): number {
  const characters = [
    ...[...orders, ...rangeFilters].map(({ field }) => field.kind.column.length ?? LONGEST_NUMBER),
    ...wholeFilters.filter(isByEntry).map(() => 0),
  ];
  if (characters.length === 0) return SHORTEST;
  const parts = description.plural.length + MARK_AND_ID + CHARACTER_BYTES * Math.max(...characters);
  return Math.max(SHORTEST, Math.ceil((parts * 4) / 3));
}

/** Of the first version of the cursors, which lists of OpenAPI promise. */
const SHORTEST = 64;
/** A decimal with its sign and its point. */
const LONGEST_NUMBER = 40;
/** With three colons. */
const MARK_AND_ID = 12 + 20 + 3;
const CHARACTER_BYTES = 4;

/** JSON knows no bigint. */
const textOf = (value: FilterValue | null) => (typeof value === 'bigint' ? String(value) : value);
