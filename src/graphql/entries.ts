import { type GraphQLField, getNullableType, isListType } from 'graphql';
import { Extensions } from 'type-graphql';

/** Of a list inside a connection: the connection's `first` multiplies everything inside it. */
export const COUNTED_BY_FIRST = 1;

/** Declares how many entries a list has at most. A list with an argument `first` declares nothing. */
export function Entries(most: number) {
  return Extensions({ entries: most });
}

/**
 * The most entries of a list, or the page size where the client gives no `first`; null = the field is neither. Throws for a
 * list that does not say.
 */
export function mostEntriesOf(field: GraphQLField<unknown, unknown>, maxPage: number): number | null {
  const first = field.args.find(({ name }) => name === 'first');
  if (first) return Number(first.defaultValue ?? maxPage);
  if (!isListType(getNullableType(field.type))) return null;
  const { entries } = field.extensions;
  if (typeof entries !== 'number') throw new Error(`The list ${field.name} needs @Entries(…), or \`first\`.`);
  return entries;
}
