import { timingSafeEqual } from 'node:crypto';
import { booleanFrom, numberFrom } from '../../ground/database/columns.js';
import type { Database } from '../../ground/database/database.js';
import type { Caller } from '../../ground/kernel/caller.js';
import { type Plan, quotaOf } from '../projects/plans.js';
import { scopesOf } from './api-key.entity.js';

/** Below one second: within that time every process must see a revoked key or a changed plan. */
const LIFETIME_MS = 800;
/** A key used after this age is refreshed in the background; the request does not wait. */
const RENEWAL_MS = 400;
const MAX_ENTRIES = 20_000;

export interface KnownKey {
  caller: Caller;
  plan: Plan;
  expiresAtMs: number | null;
}

interface LookUp {
  /** Start of the look-up; the age of its result counts from here. */
  startedAtMs: number;
  /** A promise while the look-up runs, and permanently after it failed. */
  answer: KnownKey | null | Promise<KnownKey | null>;
  hasFailed: boolean;
  /** The key that an earlier look-up found, whatever its age. */
  remembered: KnownKey | null;
  /** The refresh that runs in the background. */
  next: LookUp | null;
}

/**
 * Caches for less than a second which key a digest belongs to. A busy key costs two or three queries a second, and most
 * of its requests wait for none. D-23.
 */
export class CallerCache {
  private readonly known = new Map<string, LookUp>();

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
  callerOf(digest: string): LookUp['answer'] {
    const latest = this.known.get(digest) ?? null;
    const current = this.currentOf(latest) ?? this.begin(digest, latest);
    if (current !== latest) this.keep(digest, current);
    const isFound = current.answer !== null && !(current.answer instanceof Promise);
    if (isFound && !current.next && this.ageMs(current) >= RENEWAL_MS)
      current.next = this.begin(digest, current);
    return current.answer;
  }

  /** Reads memory only: the key that the latest look-up of this digest found, however old; null = none did. */
  remembered(digest: string): KnownKey | null {
    const latest = this.known.get(digest);
    return latest ? lastFound(latest) : null;
  }

  clear(): void {
    this.known.clear();
  }

  /** The newest look-up with a result, else a running one; null when none is fresh enough. */
  private currentOf(lookUp: LookUp | null): LookUp | null {
    if (!lookUp) return null;
    const next = this.currentOf(lookUp.next);
    if (next && !(next.answer instanceof Promise)) return next;
    return this.mayBeBelieved(lookUp) ? lookUp : next;
  }

  private mayBeBelieved(lookUp: LookUp): boolean {
    const ageMs = this.ageMs(lookUp);
    // A clock set back by an hour must not keep a revoked key valid for an hour.
    return !lookUp.hasFailed && ageMs >= 0 && ageMs < LIFETIME_MS;
  }

  private ageMs({ startedAtMs }: LookUp): number {
    return this.now() - startedAtMs;
  }

  private callerIfValid(key: KnownKey | null): Caller | null {
    return key && !hasPassed(key.expiresAtMs, this.now()) ? key.caller : null;
  }

  private begin(digest: string, previous: LookUp | null): LookUp {
    const startedAtMs = this.now();
    const answer = this.lookUp(digest);
    const lookUp: LookUp = {
      startedAtMs,
      answer,
      hasFailed: false,
      remembered: previous && lastFound(previous),
      next: null,
    };
    answer.then(
      (key) => {
        lookUp.answer = key;
      },
      () => {
        lookUp.hasFailed = true;
      },
    );
    return lookUp;
  }

  /** Evicts the oldest entry when full. */
  private keep(digest: string, lookUp: LookUp): void {
    this.known.delete(digest);
    this.known.set(digest, lookUp);
    if (this.known.size > MAX_ENTRIES) this.known.delete(this.known.keys().next().value as string);
  }
}

function lastFound({ answer, remembered }: LookUp): KnownKey | null {
  return answer instanceof Promise ? remembered : answer;
}

export function hasPassed(atMs: number | null, nowMs: number): boolean {
  return atMs !== null && atMs <= nowMs;
}

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
