/** A key that this browser was signed in with, as far as it knows it. */
interface KnownKey {
  /** The public part of the key, without `pk_`. */
  part: string;
  expiresAt: string | null;
}

const STORED_AS = 'petstore.known-keys';
const MOST_KNOWN = 20;
const FORM = 'pk_';
/** The clock of this computer may be behind the gateway's. */
const CLOCK_TOLERANCE_MS = 300_000;
const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** Remembers a key that the gateway accepts, without its secret. */
export function rememberKey({ prefix, expiresAt }: { prefix: string; expiresAt: string | null }): void {
  const part = prefix.slice(FORM.length);
  const others = knownKeys().filter((known) => known.part !== part);
  localStorage.setItem(STORED_AS, JSON.stringify([{ part, expiresAt }, ...others].slice(0, MOST_KNOWN)));
}

/**
 * Why the gateway refuses a key that it accepted before; null = this browser was never signed in with it. The gateway tells
 * nobody, so the reason follows from the expiry that the browser knew. `orElse` adds a reason besides revocation.
 */
export function whyRefused(token: string, orElse = ''): string | null {
  const known = knownKeys().find(({ part }) => token.startsWith(FORM + part));
  if (!known) return null;
  const { expiresAt } = known;
  const hasExpired = expiresAt !== null && Date.parse(expiresAt) <= Date.now() + CLOCK_TOLERANCE_MS;
  return hasExpired
    ? `it expired on ${TIME.format(new Date(expiresAt))}`
    : `it was revoked, or replaced by another key${orElse}`;
}

function knownKeys(): KnownKey[] {
  return JSON.parse(localStorage.getItem(STORED_AS) ?? '[]');
}
