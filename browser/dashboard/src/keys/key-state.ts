import type { KeyPartsFragment } from '../graphql/generated.js';

/** The most urgent fact about a key. `ended`: the gateway refuses it. */
export type KeyState =
  | { kind: 'valid'; at: string | null }
  | { kind: 'banned' | 'expiring' | 'revoked' | 'expired'; at: string }
  | { kind: 'replaced'; at: string; by: string };

const SOON_MS = 14 * 86_400_000;

export function stateOf(key: KeyPartsFragment, nowMs: number): KeyState {
  const { revokedAt, expiresAt, replacedById, bannedUntil } = key;
  if (revokedAt !== null) return { kind: 'revoked', at: revokedAt };
  if (expiresAt !== null) {
    // A roll always gives the old key an end.
    if (replacedById !== null) return { kind: 'replaced', at: expiresAt, by: replacedById };
    if (Date.parse(expiresAt) <= nowMs) return { kind: 'expired', at: expiresAt };
  }
  if (bannedUntil !== null && Date.parse(bannedUntil) > nowMs) return { kind: 'banned', at: bannedUntil };
  if (expiresAt !== null && Date.parse(expiresAt) - nowMs < SOON_MS)
    return { kind: 'expiring', at: expiresAt };
  return { kind: 'valid', at: expiresAt };
}

/** Whether the gateway refuses the key for good. */
export function hasEnded({ revokedAt, expiresAt }: KeyPartsFragment, nowMs: number): boolean {
  return revokedAt !== null || (expiresAt !== null && Date.parse(expiresAt) <= nowMs);
}
