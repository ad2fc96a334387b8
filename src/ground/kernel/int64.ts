import { AppError } from './errors.js';

/** The largest `Int` of GraphQL, and `INT` of the databases. */
export const INT32_MAX = 2 ** 31 - 1;
export const INT64_MIN = -(2n ** 63n);
export const INT64_MAX = 2n ** 63n - 1n;

/**
 * The decimal integer in `text`; null when `text` is not one or is outside int64. Never converts through a JavaScript
 * number.
 */
export function parseInt64(text: string): bigint | null {
  if (!/^-?\d{1,19}$/.test(text)) return null;
  const value = BigInt(text);
  return value >= INT64_MIN && value <= INT64_MAX ? value : null;
}

/** Text that is not a 64-bit integer stays text; the rules of the record refuse it. */
export function int64OrText(value: unknown): unknown {
  return typeof value === 'string' ? (parseInt64(value) ?? value) : value;
}

/** The id in a client's text. A text that is no integer belongs to no record: throws `AppError not_found`. */
export function parseRecordId(text: string, singular: string): bigint {
  const id = parseInt64(text);
  if (id === null) throw new AppError('not_found', `There is no such ${singular}: an id is an integer.`);
  return id;
}
