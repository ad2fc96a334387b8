import type { NounField } from '../../nouns.js';
import { TOO_LONG } from './rows.js';

/** The column or field for the text of an unreadable row, unless `fieldOfUnreadable` finds another. */
export const UNREADABLE = 'unreadable';

/**
 * The CSV column for the whole text of an unreadable row: the first required text, if a value of another kind is required
 * too. Without that value the next import refuses the row again. Any other noun could accept the text as a record, so its
 * files have the column `UNREADABLE`.
 */
export function columnOfUnreadable(fields: readonly NounField[]): string {
  const required = fields.filter(({ isRequired }) => isRequired);
  const text = required.find(({ kind }) => kind === 'text');
  return text && required.some(({ kind }) => kind !== 'text') ? text.name : UNREADABLE;
}

/** As `columnOfUnreadable`, for NDJSON, where a field that is not of the noun takes the text. */
export function fieldOfUnreadable(fields: readonly NounField[]): string {
  return columnOfUnreadable(fields) === UNREADABLE ? UNREADABLE : 'row';
}

/** The problem of a row whose `UNREADABLE` has this value; null = none. It ends when a person empties `UNREADABLE`. */
export function problemOfUnreadable(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  return `is in ${UNREADABLE}: move its values to their places, and leave ${UNREADABLE} empty`;
}

/** The text as the value of `UNREADABLE`, which is never empty. */
export function unreadableText(text: string): string {
  return text === '' ? TOO_LONG : text;
}
