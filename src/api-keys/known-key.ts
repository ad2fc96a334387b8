import { timingSafeEqual } from 'node:crypto';
import { SCOPES, type Scope } from '../caller.js';
import { numberFrom } from '../database/columns.js';
import type { Database } from '../database/database.js';
import { type Plan, quotaOf } from '../projects/plans.js';
import type { ApiKey } from './api-key.entity.js';
import type { KnownKey } from './caller-cache.js';

// 64-bit integers as digits, as mysql2 takes several times as long to read them exactly.
const BY_DIGEST = `SELECT api_keys.digest, api_keys.scopes, api_keys.rehearses, CAST(api_keys.id AS CHAR) AS keyId,
  CAST(api_keys.project_id AS CHAR) AS projectId, CAST(api_keys.expires_at_ms AS CHAR) AS expiresAtMs,
  projects.plan, projects.per_minute AS perMinute, projects.per_day AS perDay
  FROM api_keys JOIN projects ON projects.id = api_keys.project_id
  WHERE api_keys.digest = ? AND api_keys.revoked_at_ms IS NULL`;

/** SQLite's integers are bigint. */
interface Row {
  digest: string;
  scopes: string;
  rehearses: number | bigint;
  keyId: string;
  projectId: string;
  expiresAtMs: string | null;
  plan: Plan;
  perMinute: number | bigint | null;
  perDay: number | bigint | null;
}

/** The key in force with this digest. A prepared statement: where many keys ask for little, most requests wait for one. */
export async function findKnownKey(db: Database, digest: string): Promise<KnownKey | null> {
  const [row] = await db.execute<Row>(BY_DIGEST, [digest]);
  if (!row || !isSame(row.digest, digest)) return null;
  const { plan, perMinute, perDay } = row;
  return {
    caller: {
      keyId: BigInt(row.keyId),
      projectId: BigInt(row.projectId),
      quota: quotaOf({ plan, perMinute: numberFrom(perMinute), perDay: numberFrom(perDay) }),
      scopes: new Set(scopesOf(row)),
      rehearses: Number(row.rehearses) === 1,
    },
    expiresAtMs: numberFrom(row.expiresAtMs),
  };
}

/** What a key may do. A scope that only a newer program knows is left out. */
export function scopesOf({ scopes }: Pick<ApiKey, 'scopes'>): Scope[] {
  const known = scopes.split(',');
  return SCOPES.filter((scope) => known.includes(scope));
}

function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

export function hasPassed(atMs: number | null, nowMs: number): boolean {
  return atMs !== null && atMs <= nowMs;
}
