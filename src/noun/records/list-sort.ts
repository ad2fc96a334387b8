import type { FieldProblem } from '../../ground/kernel/errors.js';
import type { RangeFilter } from '../definition/lists.js';
import type { ModelField, NounModel } from '../definition/model.js';
import { filterValueOf, type NounList, type Sort } from './noun-list.js';

interface WantedOrder extends Pick<NounList, 'start' | 'wholeValues'> {
  /** The field of the wanted order; null = none is named. */
  readonly field: ModelField | null;
  /** The argument that names it. */
  readonly argument: string;
  /** The values of the range filters by argument. Valid unless there are problems. */
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * The order of a list: by the field of its range or of the wanted order, unless the start of a text orders it. Adds a problem
 * for each argument that would need a second order: a list is one range of one index. D-268.
 */
export function sortOf(
  { rangeFilters, wholeFilters }: NounModel,
  { start, wholeValues, field, argument, values }: WantedOrder,
  problems: FieldProblem[],
): Sort | null {
  const stated = ({ from, before }: RangeFilter) =>
    [from, before].find((name) => (values[name] ?? null) !== null);
  const ranges = rangeFilters.filter((range) => stated(range) !== undefined);
  const ordering = [
    ...(start ? [{ argument: start.filter.argument, field: start.filter.field }] : []),
    ...ranges.map((range) => ({ argument: stated(range) as string, field: range.field })),
    ...(field ? [{ argument, field }] : []),
  ];
  const [first] = ordering;
  if (!first) return null;
  for (const other of ordering) {
    if (other.field === first.field) continue;
    const message = `cannot be combined with ${first.argument}, which orders the list by ${first.field.name}`;
    problems.push({ field: other.argument, message });
  }
  const [range] = ranges;
  const isOneValue = wholeFilters.some(
    (filter, at) => filter.field === first.field && wholeValues[at] !== null,
  );
  if (start || isOneValue) return null;
  const boundOf = (name: string | undefined) => {
    const { kind } = first.field;
    const value = filterValueOf(kind, values[name ?? ''], problems);
    return value === null || problems.length > 0 ? null : String(kind.toSql?.(value) ?? value);
  };
  return { field: first.field, from: boundOf(range?.from), before: boundOf(range?.before) };
}
