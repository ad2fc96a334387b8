import { parseInt64 } from '../int64.js';

/** An opaque position in a list: after the pet with this id, or these digits of one. The same at both doors. */
export function encodeCursor(id: bigint | string): string {
  return Buffer.from(`pet:${id}`).toString('base64url');
}

/** The id in a cursor; null when this is no cursor of ours. */
export function decodeCursor(cursor: string): bigint | null {
  const [, digits] = /^pet:(.+)$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const id = digits === undefined ? null : parseInt64(digits);
  return id !== null && encodeCursor(id) === cursor ? id : null;
}
