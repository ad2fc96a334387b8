import { parseInt64 } from './int64.js';

/**
 * An opaque position in a list: after the row with this id. `list` names the list together with its filter, without a
 * colon, so that a cursor counts in no other list.
 */
export function cursorAfter(list: string, id: bigint): string {
  return Buffer.from(`${list}:${id}`).toString('base64url');
}

/** The id in a cursor of this list; null when `cursorAfter` did not make it for this list. */
export function idInCursor(list: string, cursor: string): bigint | null {
  const [name, digits, ...rest] = Buffer.from(cursor, 'base64url').toString().split(':');
  if (name !== list || digits === undefined || rest.length > 0) return null;
  const id = parseInt64(digits);
  return id !== null && cursorAfter(list, id) === cursor ? id : null;
}
