import { timingSafeEqual } from 'node:crypto';
import { booleanFrom, numberFrom } from '../database/columns.js';
import type { Database } from '../database/database.js';
import { type Plan, quotaOf } from '../projects/plans.js';
import { scopesOf } from './api-key.entity.js';
import type { KnownKey } from './caller-cache.js';

// 64-bit integers are selected as text: mysql2 needs several times as long to read them exactly.
const BY_DIGEST = `SELECT api_keys.digest, api_keys.scopes, api_keys.rehearses, CAST(api_keys.id AS CHAR) AS keyId,
  CAST(api_keys.project_id AS CHAR) AS projectId, CAST(api_keys.expires_at_ms AS CHAR) AS expiresAtMs,
  projects.plan, projects.per_minute AS perMinute, projects.per_day AS perDay
  FROM api_keys JOIN projects ON projects.id = api_keys.project_id
  WHERE api_keys.digest = ? AND api_keys.revoked_at_ms IS NULL`;

/** SQLite returns integers as bigint. */
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

/**
 * The key with this digest, unless revoked; it may have expired. Uses a prepared statement: with many rarely used keys,
 * most requests wait for this query. D-24.
 */
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
      rehearses: booleanFrom(row.rehearses),
    },
    plan,
    expiresAtMs: numberFrom(row.expiresAtMs),
  };
}

function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
