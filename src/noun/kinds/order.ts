import { compareDecimals, plainDecimal } from '../../ground/kernel/decimals.js';
import { parseInt64 } from '../../ground/kernel/int64.js';

/** How lists are ordered by a kind, which every database does alike. Its values are texts, as lists read them. */
export interface KindOrder {
  /** Of two values, or of their texts in cursors: negative, 0 or positive. */
  compare(one: string, other: string): number;
  /** The text of a value in cursors, the same on each database; absent = the value. */
  textOf?(listed: string): string;
  /** Whether a client's text may be that of a value. */
  isText(text: string): boolean;
  /** The JSON Schema of a bound; absent = lists have no ranges of it. A bound may be where no value can be. */
  readonly bound?: Readonly<Record<string, unknown>> & { readonly rule: string };
}

/** Of numbers whose lists have digits. */
export const BY_INTEGER = {
  compare: (one, other) => {
    const [a, b] = [BigInt(one), BigInt(other)];
    return a === b ? 0 : a < b ? -1 : 1;
  },
  isText: (text) => parseInt64(text) !== null,
} satisfies KindOrder;

/** By code points, as both databases compare. Units of UTF-16 have another order above U+FFFF. */
export const BY_TEXT = {
  compare: (one, other) => {
    const length = Math.min(one.length, other.length);
    for (let at = 0; at < length; at += 1) {
      const difference = (one.codePointAt(at) as number) - (other.codePointAt(at) as number);
      if (difference !== 0) return difference;
    }
    return one.length - other.length;
  },
  isText: (text) => text !== '',
} satisfies KindOrder;

/** On SQLite, lists have the text that sorts as the number. */
export function byDecimal(places: number, isNumber: RegExp) {
  const textOf = (listed: string) => plainDecimal(listed, places);
  return {
    compare: (one, other) => compareDecimals(textOf(one), textOf(other)),
    textOf,
    isText: (text) => isNumber.test(text),
  } satisfies KindOrder;
}
