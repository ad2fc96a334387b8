import { hash } from 'node:crypto';

/** A strong ETag of the parts of a response. RFC 9110 §8.8.3. */
export function strongTag(...parts: readonly string[] | readonly [Buffer]): string {
  // A single part is hashed as it is; several parts are hashed with their lengths, so that no two lists have the same
  // hash input.
  const text =
    parts.length === 1
      ? (parts[0] as string | Buffer)
      : parts.map((part) => `${part.length}:${part}`).join('');
  return `"${hash('sha256', text, 'base64url').slice(0, 27)}"`;
}

/** Whether this `If-Match` allows a change of the response with this tag. A weak tag never does. RFC 9110 §13.1.1. */
export function isCurrentTag(ifMatch: string, etag: string): boolean {
  const wanted = ifMatch.split(',').map((tag) => tag.trim());
  return wanted.includes('*') || wanted.includes(etag);
}

/** Whether a client with this `If-None-Match` already has the response with this tag. RFC 9110 §13.1.2. */
export function isKnownTag(ifNoneMatch: string, etag: string): boolean {
  const known = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return known.includes('*') || known.includes(etag);
}
