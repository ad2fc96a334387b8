import type { NounField } from '../../../nouns.js';
import type { Item } from './item.js';
import { orderingOf, type Selection } from './selection.js';

/** As the gateway orders the list of a selection: negative = the first item comes first. */
export function comparisonOf(selection: Selection): (one: Item, other: Item) => number {
  const { field, isDescending } = orderingOf(selection);
  const ascending = (one: Item, other: Item) =>
    (field ? compareValues(field, one[field.name] ?? null, other[field.name] ?? null) : 0) ||
    sign(BigInt(one.id), BigInt(other.id));
  return isDescending ? (one, other) => ascending(other, one) : ascending;
}

/** By the kind of the field; without a value comes first. */
export function compareValues(field: NounField, one: unknown, other: unknown): number {
  if (one === null || other === null) return Number(one !== null) - Number(other !== null);
  const [a, b] = [String(one), String(other)];
  if (field.scalar === 'DateTime') return Date.parse(a) - Date.parse(b);
  if (field.json === 'integer') return sign(BigInt(a), BigInt(b));
  if (field.kind === 'decimal') return sign(scaled(a), scaled(b));
  return compareTexts(a, b);
}

const sign = (a: bigint, b: bigint) => (a === b ? 0 : a < b ? -1 : 1);

const MOST_PLACES = 30;

/** A decimal as an integer with all places that one can have. */
function scaled(decimal: string): bigint {
  const [whole = '', part = ''] = decimal.split('.');
  return BigInt(whole + part.padEnd(MOST_PLACES, '0'));
}

/** By code points: units of UTF-16 have another order above U+FFFF. */
function compareTexts(a: string, b: string): number {
  const [one, other] = [[...a], [...b]];
  const at = one.findIndex((letter, place) => letter !== other[place]);
  if (at === -1) return one.length - other.length;
  return (one[at]?.codePointAt(0) ?? 0) - (other[at]?.codePointAt(0) ?? -1);
}
