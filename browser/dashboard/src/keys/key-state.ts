import type { KeyPartsFragment } from '../graphql/generated.js';

/** How long a key lasts. A ban is another fact: `banEndOf`. */
export type KeyState =
  | { kind: 'valid'; at: string | null }
  | { kind: 'expiring' | 'revoked' | 'expired'; at: string }
  | { kind: 'replaced'; at: string; by: string };

const SOON_MS = 14 * 86_400_000;

export function stateOf(key: KeyPartsFragment, nowMs: number): KeyState {
  const { revokedAt, expiresAt, replacedById } = key;
  if (revokedAt !== null) return { kind: 'revoked', at: revokedAt };
  if (expiresAt !== null) {
    // A roll always gives the old key an end.
    if (replacedById !== null) return { kind: 'replaced', at: expiresAt, by: replacedById };
    if (Date.parse(expiresAt) <= nowMs) return { kind: 'expired', at: expiresAt };
  }
  if (expiresAt !== null && Date.parse(expiresAt) - nowMs < SOON_MS)
    return { kind: 'expiring', at: expiresAt };
  return { kind: 'valid', at: expiresAt };
}

/** Whether the gateway refuses the key for good. */
export function hasEnded({ revokedAt, expiresAt }: KeyPartsFragment, nowMs: number): boolean {
  return revokedAt !== null || (expiresAt !== null && Date.parse(expiresAt) <= nowMs);
}

/** When the ban of the key ends; null = not banned. */
export function banEndOf(
  { bannedUntil }: Pick<KeyPartsFragment, 'bannedUntil'>,
  nowMs: number,
): number | null {
  const endMs = bannedUntil === null ? 0 : Date.parse(bannedUntil);
  return endMs > nowMs ? endMs : null;
}
