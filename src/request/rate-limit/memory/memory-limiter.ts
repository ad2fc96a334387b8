import { DAY_MS, MINUTE_MS } from '../../../ground/kernel/duration.js';
import {
  afterAdmission,
  afterRefusal,
  type BanRecord,
  forgotten,
  isBanned,
  meaninglessAtMs,
  NO_RECORD,
} from '../rules/bans.js';
import {
  type Account,
  admitted,
  type Charge,
  type Decision,
  type Limiter,
  refused,
  type SpentAllowance,
  type Standing,
  standing,
} from '../rules/limiter.js';
import { allowanceSubject, isAddress } from '../rules/subjects.js';
import { type Allowance, enterWindows, fits, retryAtMs, spend, type Usage } from '../rules/windows.js';
import type { MemoryVersions } from './memory-versions.js';
import { ShardedMap } from './sharded-map.js';

const MAX_SUBJECTS = 1_000_000;
const MAX_BANS = 100_000;
/** Bounds the clean-up work that one request does. */
const SHARDS_PER_REQUEST_WHEN_FULL = 4;

export interface SubjectUsage extends Usage {
  readonly subject: string;
}

export interface KeyBan {
  readonly keyId: string;
  /** Null = forgotten. */
  readonly record: BanRecord | null;
}

/** The changes since the last call of `takeChanges`. */
export interface Changes {
  usage: SubjectUsage[];
  bans: KeyBan[];
}

/**
 * Counts in this process's memory. `charge` is one synchronous section, so two requests never see the same free unit.
 *
 * Bounded: with too many subjects it evicts expired ones first, then addresses, then projects, which then get a new
 * quota. The first requests of each minute look for expired subjects, one shard per request.
 */
export class MemoryLimiter implements Limiter {
  private readonly projects: ShardedMap<SubjectUsage>;
  private readonly addresses: ShardedMap<SubjectUsage>;
  private readonly bans = new ShardedMap<BanRecord>(MAX_BANS);
  /** Scratch copy for the current request: a refused request leaves no trace in the counters. */
  private readonly usage: Usage = { ...NO_USAGE };
  /** Null = nobody stores the changes. */
  private changed: { subjects: Set<string>; keyIds: Set<string> } | null = null;
  private sweptMs = Number.NEGATIVE_INFINITY;
  private nextShard = 0;

  constructor(
    private readonly now: () => number,
    private readonly maxSubjects = MAX_SUBJECTS,
    private readonly versions: MemoryVersions | null = null,
  ) {
    this.projects = new ShardedMap(maxSubjects);
    this.addresses = new ShardedMap(maxSubjects);
  }

  charge({ subject, keyId, quota, cost, connection, allowance: wanted, dataOf = null }: Charge): Decision {
    const nowMs = this.now();
    this.evictExpiredShard(nowMs);
    const counter = this.mapOf(subject).get(subject);
    const usage = copy(counter ?? UNUSED, this.usage);
    enterWindows(usage, nowMs);
    const known = keyId === null ? null : (this.bans.get(keyId) ?? NO_RECORD);
    const allowance = wanted === undefined ? null : this.spentOf(subject, wanted, nowMs);
    const isRead = dataOf !== null && known !== null && allowance === null;
    const dataVersion = isRead ? (this.versions?.current(subject, dataOf) ?? null) : null;
    const decided = { usage, record: known, quota, cost, nowMs, dataVersion, allowance };

    if (cost > 0 && known !== null && isBanned(known, nowMs)) return refused(decided, false);
    const isAllowed = allowance === null || fits(allowance.usage, allowance, allowance.cost);
    if (isAllowed && (cost === 0 || spend(usage, quota, cost))) {
      if (allowance !== null) this.spendAllowance(subject, allowance, nowMs);
      if (cost === 0) return admitted(decided);
      copy(usage, counter ?? this.addCounter(subject, nowMs));
      this.noteChange(subject);
      if (known !== null) {
        decided.record = afterAdmission(known);
        if (decided.record !== known) this.keep(keyId as string, decided.record, nowMs);
      }
      return admitted(decided);
    }
    const isOfAllowance = !isAllowed && (cost === 0 || fits(usage, quota, cost));
    if (known === null || isOfAllowance) return refused(decided, false);
    decided.record = afterRefusal(known, { nowMs, retryAtMs: retryAtMs(usage, quota, cost), connection });
    this.keep(keyId as string, decided.record, nowMs);
    return refused(decided, isBanned(decided.record, nowMs));
  }

  peek({ subject, keyId, quota }: Account): Standing {
    const nowMs = this.now();
    const usage = copy(this.mapOf(subject).get(subject) ?? UNUSED, this.usage);
    enterWindows(usage, nowMs);
    const record = keyId === null ? null : (this.bans.get(keyId) ?? NO_RECORD);
    return standing({ usage, record, quota, cost: 0, nowMs, allowance: null });
  }

  /** Ends the key's ban, and clears its strikes and ladder steps. */
  unban({ keyId }: { keyId: string }): void {
    this.bans.delete(keyId);
    this.noteBanChange(keyId);
  }

  get subjectCount(): number {
    return this.projects.size + this.addresses.size;
  }

  /** Takes over counts from elsewhere: stored before a restart, or from the processes that share Redis. */
  adopt(counted: SubjectUsage | null, ban: KeyBan | null): void {
    const nowMs = this.now();
    this.evictExpiredShard(nowMs);
    if (counted) {
      const { subject } = counted;
      copy(counted, this.mapOf(subject).get(subject) ?? this.addCounter(subject, nowMs));
    }
    if (!ban) return;
    if (ban.record) this.keep(ban.keyId, ban.record, nowMs);
    else this.bans.delete(ban.keyId);
  }

  trackChanges(): void {
    this.changed ??= { subjects: new Set(), keyIds: new Set() };
  }

  /**
   * Yields in batches what has changed so far, with the values at the time of the batch. Batches that are not taken stay
   * recorded; `putBack` returns a batch that could not be stored.
   */
  *takeChanges(batchSize: number): Generator<Changes> {
    if (this.changed === null) return;
    const { subjects, keyIds } = this.changed;
    for (let left = Math.max(subjects.size, keyIds.size); left > 0; left -= batchSize) {
      const usage = taken(subjects, batchSize).flatMap((subject) => {
        const counter = this.projects.get(subject);
        return counter ? [{ ...counter }] : [];
      });
      const bans = taken(keyIds, batchSize).map((keyId) => ({ keyId, record: this.bans.get(keyId) ?? null }));
      yield { usage, bans };
    }
  }

  putBack({ usage, bans }: Changes): void {
    for (const { subject } of usage) this.noteChange(subject);
    for (const { keyId } of bans) this.noteBanChange(keyId);
  }

  private spentOf(subject: string, allowance: Allowance, nowMs: number): SpentAllowance {
    const name = allowanceSubject(subject, allowance.name);
    const usage = copy(this.mapOf(name).get(name) ?? UNUSED, { ...NO_USAGE });
    enterWindows(usage, nowMs);
    return { ...allowance, usage };
  }

  private spendAllowance(subject: string, allowance: SpentAllowance, nowMs: number): void {
    const name = allowanceSubject(subject, allowance.name);
    const counter = this.mapOf(name).get(name) ?? this.addCounter(name, nowMs);
    spend(allowance.usage, allowance, allowance.cost);
    copy(allowance.usage, counter);
    this.noteChange(name);
  }

  private mapOf(subject: string): ShardedMap<SubjectUsage> {
    return isAddress(subject) ? this.addresses : this.projects;
  }

  private addCounter(subject: string, nowMs: number): SubjectUsage {
    this.makeRoom(nowMs);
    const counter = { ...UNUSED, subject };
    this.mapOf(subject).set(subject, counter);
    return counter;
  }

  private makeRoom(nowMs: number): void {
    for (let shard = 0; shard < SHARDS_PER_REQUEST_WHEN_FULL && this.isFull; shard += 1)
      this.evictExpiredShard(nowMs);
    if (this.isFull && !this.addresses.evictOldest()) this.projects.evictOldest();
  }

  private get isFull(): boolean {
    return this.subjectCount >= this.maxSubjects;
  }

  /** Nothing expires within a minute, so each shard is swept once per minute. */
  private evictExpiredShard(nowMs: number): void {
    if (nowMs - this.sweptMs >= MINUTE_MS || nowMs < this.sweptMs) {
      this.sweptMs = nowMs - (nowMs % MINUTE_MS);
      this.nextShard = 0;
    }
    const shard = this.nextShard;
    if (shard >= Math.max(this.projects.shardCount, this.bans.shardCount)) return;
    this.nextShard += 1;
    const minute = Math.floor(nowMs / MINUTE_MS);
    const day = Math.floor(nowMs / DAY_MS);
    this.addresses.evictExpired(shard, (counter) => counter.minute < minute);
    this.projects.evictExpired(shard, (counter) => counter.day < day);
    this.bans.evictExpired(shard, (record, keyId) => {
      const isMeaningless = meaninglessAtMs(record) <= nowMs;
      if (isMeaningless) this.noteBanChange(keyId);
      return isMeaningless;
    });
  }

  private keep(keyId: string, record: BanRecord, nowMs: number): void {
    if (this.bans.size >= MAX_BANS && !this.bans.get(keyId)) this.bans.evictOldest();
    this.bans.set(keyId, forgotten(record, nowMs));
    this.noteBanChange(keyId);
  }

  private noteChange(subject: string): void {
    // Full only while the database is unavailable.
    if (this.changed === null || this.changed.subjects.size >= this.maxSubjects) return;
    if (!isAddress(subject)) this.changed.subjects.add(subject);
  }

  private noteBanChange(keyId: string): void {
    if (this.changed !== null && this.changed.keyIds.size < MAX_BANS) this.changed.keyIds.add(keyId);
  }
}

const NO_USAGE: Usage = { minute: 0, minuteUsed: 0, day: 0, dayUsed: 0 };
const UNUSED: SubjectUsage = { ...NO_USAGE, subject: '' };

function copy<T extends Usage>(from: Usage, to: T): T {
  to.minute = from.minute;
  to.minuteUsed = from.minuteUsed;
  to.day = from.day;
  to.dayUsed = from.dayUsed;
  return to;
}

/** Removes at most `count` items from the set, and returns them. */
function taken(items: Set<string>, count: number): string[] {
  const removed: string[] = [];
  for (const item of items) {
    if (removed.length === count) break;
    items.delete(item);
    removed.push(item);
  }
  return removed;
}
