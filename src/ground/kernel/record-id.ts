import { AppError } from './errors.js';
import { parseInt64 } from './int64.js';

/** The id in a client's text. A text that is no integer belongs to no record: throws `AppError not_found`. */
export function parseRecordId(text: string, singular: string): bigint {
  const id = parseInt64(text);
  if (id === null) throw new AppError('not_found', `There is no such ${singular}: an id is an integer.`);
  return id;
}

/** Text that is not a 64-bit integer stays text; the rules of the record refuse it. */
export function int64OrText(text: string): bigint | string {
  return parseInt64(text) ?? text;
}
