import { createHash } from 'node:crypto';

/** A strong ETag of what an answer is made of. RFC 9110 §8.8.3. */
export function strongTag(...parts: readonly string[]): string {
  const hash = createHash('sha256');
  // A single part is hashed as it is, several with their lengths: no two lists of parts read the same.
  for (const part of parts) hash.update(parts.length === 1 ? part : `${part.length}:${part}`);
  return `"${hash.digest('base64url').slice(0, 27)}"`;
}

/** Whether the client has the answer with this tag already. RFC 9110 §13.1.2. */
export function isKnownTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const known = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return known.includes('*') || known.includes(etag);
}
