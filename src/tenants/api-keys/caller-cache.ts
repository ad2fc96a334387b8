import { timingSafeEqual } from 'node:crypto';
import { booleanFrom, numberFrom } from '../../ground/database/columns.js';
import type { Database } from '../../ground/database/database.js';
import type { Caller, Scopes } from '../../ground/kernel/caller.js';
import { OPEN_STREAMS, type Plan, quotaOf } from '../projects/plans.js';
import { ApiKey, scopesOf } from './api-key.entity.js';

/** Below one second: within that time every process must see a revoked key or a changed plan. */
const LIFETIME_MS = 800;
/** A key used after this age is refreshed in the background; the request does not wait. */
const RENEWAL_MS = 400;
const MAX_ENTRIES = 20_000;

export interface KnownKey {
  caller: Caller;
  plan: Plan;
  expiresAtMs: number | null;
  /** How many streams its project may have open. */
  mostStreams: number;
}

interface LookUp {
  /** Its start; the age of its result counts from here. */
  atMs: number;
  answer: Promise<KnownKey | null>;
  hasFailed: boolean;
}

interface Entry {
  /** The latest result, whatever its age; null = there was none. */
  found: { key: KnownKey | null; atMs: number } | null;
  /** A look-up that runs or has failed; null = the latest one has ended with `found`. */
  lookUp: LookUp | null;
}

/**
 * Caches for less than a second which key a digest belongs to. A busy key costs two or three queries a second, and most
 * of its requests wait for none. D-23.
 */
export class CallerCache {
  /** Each look-up makes a new entry, so that one that ends late changes nothing. The oldest is first. */
  private readonly entries = new Map<string, Entry>();

  constructor(
    private readonly lookUp: (digest: string) => Promise<KnownKey | null>,
    private readonly now: () => number,
  ) {}

  /** The caller with the token of this digest; null for anything that is not a valid key, for whatever reason. */
  identify(digest: string): Caller | null | Promise<Caller | null> {
    const known = this.callerOf(digest);
    return known instanceof Promise
      ? known.then((key) => this.callerIfValid(key))
      : this.callerIfValid(known);
  }

  /** Requests that arrive during a look-up share it, and its error. */
  callerOf(digest: string): KnownKey | null | Promise<KnownKey | null> {
    const { found, lookUp } = this.entries.get(digest) ?? NO_ENTRY;
    if (found && this.mayBeBelieved(found)) {
      const isDue = found.key !== null && this.now() - found.atMs >= RENEWAL_MS;
      if (isDue && !lookUp) this.begin(digest, found);
      return found.key;
    }
    const isShared = lookUp && !lookUp.hasFailed && this.mayBeBelieved(lookUp);
    return isShared ? lookUp.answer : this.begin(digest, found);
  }

  /** Reads memory only: the key that the latest look-up of this digest found, however old; null = none did. */
  remembered(digest: string): KnownKey | null {
    return this.entries.get(digest)?.found?.key ?? null;
  }

  clear(): void {
    this.entries.clear();
  }

  private mayBeBelieved({ atMs }: { atMs: number }): boolean {
    const ageMs = this.now() - atMs;
    // A clock set back by an hour must not keep a revoked key valid for an hour.
    return ageMs >= 0 && ageMs < LIFETIME_MS;
  }

  private callerIfValid(key: KnownKey | null): Caller | null {
    return key && !hasPassed(key.expiresAtMs, this.now()) ? key.caller : null;
  }

  private begin(digest: string, found: Entry['found']): LookUp['answer'] {
    const atMs = this.now();
    const lookUp = { atMs, answer: this.lookUp(digest), hasFailed: false };
    const entry: Entry = { found, lookUp };
    lookUp.answer.then(
      (key) => {
        entry.found = { key, atMs };
        entry.lookUp = null;
      },
      () => {
        lookUp.hasFailed = true;
      },
    );
    this.entries.delete(digest);
    this.entries.set(digest, entry);
    if (this.entries.size > MAX_ENTRIES) this.entries.delete(this.entries.keys().next().value as string);
    return lookUp.answer;
  }
}

const NO_ENTRY: Entry = { found: null, lookUp: null };

export function hasPassed(atMs: number | null, nowMs: number): boolean {
  return atMs !== null && atMs <= nowMs;
}

/** Null = never. */
export function earlier(aMs: number | null, bMs: number | null): number | null {
  return aMs === null || bMs === null ? (aMs ?? bMs) : Math.min(aMs, bMs);
}

// 64-bit integers are selected as text: mysql2 needs several times as long to read them exactly.
const KEYS = `SELECT api_keys.digest, api_keys.scopes, api_keys.rehearses, CAST(api_keys.id AS CHAR) AS keyId,
  CAST(api_keys.project_id AS CHAR) AS projectId, CAST(api_keys.expires_at_ms AS CHAR) AS expiresAtMs,
  CAST(change_logs.opens_at_ms AS CHAR) AS changesSinceMs, change_logs.most_streams AS mostStreams,
  projects.plan, projects.per_minute AS perMinute, projects.per_day AS perDay
  FROM api_keys JOIN projects ON projects.id = api_keys.project_id
  LEFT JOIN change_logs ON change_logs.project_id = api_keys.project_id
  WHERE api_keys.revoked_at_ms IS NULL AND`;

/** SQLite returns integers as bigint. */
interface Row {
  digest: string;
  scopes: string;
  rehearses: number | bigint;
  keyId: string;
  projectId: string;
  expiresAtMs: string | null;
  changesSinceMs: string | null;
  mostStreams: number | bigint | null;
  plan: Plan;
  perMinute: number | bigint | null;
  perDay: number | bigint | null;
}

/**
 * The key with this digest, unless revoked; it may have expired. Uses a prepared statement: with many rarely used keys,
 * most requests wait for this query. D-24.
 */
export async function findKnownKey(db: Database, scopes: Scopes, digest: string): Promise<KnownKey | null> {
  const [row] = await db.execute<Row>(`${KEYS} api_keys.digest = ?`, [digest]);
  return row && isSame(row.digest, digest) ? knownKey(row, scopes) : null;
}

/** The keys with these ids, without those that are revoked. */
export async function findKnownKeys(db: Database, scopes: Scopes, keyIds: readonly bigint[]) {
  if (keyIds.length === 0) return new Map<bigint, KnownKey>();
  const sql = `${KEYS} api_keys.id IN (${keyIds.map(() => '?')})`;
  const rows: Row[] = await db.repository(ApiKey).query(sql, [...keyIds]);
  return new Map(rows.map((row) => knownKey(row, scopes)).map((key) => [key.caller.keyId, key]));
}

function knownKey(row: Row, scopes: Scopes): KnownKey {
  const { plan, perMinute, perDay } = row;
  return {
    caller: {
      keyId: BigInt(row.keyId),
      projectId: BigInt(row.projectId),
      quota: quotaOf({ plan, perMinute: numberFrom(perMinute), perDay: numberFrom(perDay) }),
      scopes: new Set(scopesOf(row, scopes)),
      rehearses: booleanFrom(row.rehearses),
      changesSinceMs: numberFrom(row.changesSinceMs),
    },
    plan,
    expiresAtMs: numberFrom(row.expiresAtMs),
    mostStreams: numberFrom(row.mostStreams) ?? OPEN_STREAMS[plan],
  };
}

function isSame(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
