import { timingSafeEqual } from 'node:crypto';
import { SCOPES, type Scope } from '../caller.js';
import type { Database } from '../database/database.js';
import { quotaOf } from '../projects/plans.js';
import { ApiKey } from './api-key.entity.js';
import type { KnownKey } from './caller-cache.js';

/** The key in force with this digest. */
export async function findKnownKey(db: Database, digest: string): Promise<KnownKey | null> {
  // Not findOne: with a join it asks twice. The digest is unique.
  const [key] = await db.repository(ApiKey).find({ where: { digest }, relations: { project: true } });
  if (!key || key.revokedAtMs !== null || !isSame(key.digest, digest)) return null;
  return {
    caller: {
      keyId: key.id,
      projectId: key.projectId,
      quota: quotaOf(key.project),
      scopes: new Set(scopesOf(key)),
      rehearses: key.rehearses === 1,
    },
    expiresAtMs: key.expiresAtMs,
  };
}

/** What a key may do. A scope that only a newer program knows is left out. */
export function scopesOf({ scopes }: ApiKey): Scope[] {
  const known = scopes.split(',');
  return SCOPES.filter((scope) => known.includes(scope));
}

function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

export function hasPassed(atMs: number | null, nowMs: number): boolean {
  return atMs !== null && atMs <= nowMs;
}
