import { hash } from 'node:crypto';

/** A strong ETag of what an answer is made of. RFC 9110 §8.8.3. */
export function strongTag(...parts: readonly string[] | readonly [Buffer]): string {
  // A single part is hashed as it is, several with their lengths: no two lists of parts read the same.
  const text =
    parts.length === 1
      ? (parts[0] as string | Buffer)
      : parts.map((part) => `${part.length}:${part}`).join('');
  return `"${hash('sha256', text, 'base64url').slice(0, 27)}"`;
}

/** Whether the client has the answer with this tag already. RFC 9110 §13.1.2. */
export function isKnownTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const known = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return known.includes('*') || known.includes(etag);
}
