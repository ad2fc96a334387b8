import type { KeyPartsFragment } from '../graphql/generated.js';

export type KeyState = 'in force' | 'revoked' | 'expired';

export function stateOf({ revokedAt, expiresAt }: KeyPartsFragment, nowMs: number): KeyState {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= nowMs ? 'expired' : 'in force';
}
