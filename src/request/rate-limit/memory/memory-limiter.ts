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

/**
 * Counts in this process's memory. `charge` is one synchronous section, so two requests never see the same free unit.
 *
 * Bounded: with too many subjects it evicts expired ones first, then addresses, then projects, which then get a new
 * quota. The first requests of each minute look for expired subjects, one shard per request.
 */
export class MemoryLimiter implements Limiter {
  private readonly projects: ShardedMap<Usage>;
  private readonly addresses: ShardedMap<Usage>;
  private readonly bans = new ShardedMap<BanRecord>(MAX_BANS);
  /** Scratch copy for the current request: a refused request leaves no trace in the counters. */
  private readonly usage: Usage = { ...NO_USAGE };
  /** Null = nobody stores the changes. */
  private changed: Set<string> | null = null;
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

  charge({ subject, keyId, quota, cost, allowance: wanted, dataOf = null }: Charge): Decision {
    const nowMs = this.now();
    this.evictExpiredShard(nowMs);
    const counter = this.mapOf(subject).get(subject);
    const usage = current(counter, nowMs, this.usage);
    const known = this.recordOf(keyId);
    const allowance = wanted === undefined ? null : this.spentOf(subject, wanted, nowMs);
    const isRead = dataOf !== null && known !== null && allowance === null;
    const dataVersion = isRead ? (this.versions?.current(subject, dataOf) ?? null) : null;
    const decided = { usage, record: known, quota, cost, nowMs, dataVersion, allowance };

    if (cost > 0 && known !== null && isBanned(known, nowMs)) return refused(decided, null);
    const isAllowed = allowance === null || fits(allowance.usage, allowance, allowance.cost);
    if (isAllowed && (cost === 0 || spend(usage, quota, cost))) {
      if (allowance !== null) {
        spend(allowance.usage, allowance, allowance.cost);
        this.keepUsage(allowanceSubject(subject, allowance.name), allowance.usage, nowMs);
      }
      if (cost === 0) return admitted(decided);
      this.keepUsage(subject, usage, nowMs, counter);
      if (known !== null) {
        decided.record = afterAdmission(known);
        if (decided.record !== known) this.keepRecord(keyId as string, decided.record, nowMs);
      }
      return admitted(decided);
    }
    const isOfAllowance = !isAllowed && (cost === 0 || fits(usage, quota, cost));
    if (known === null || isOfAllowance) return refused(decided, null);
    const { record, strike } = afterRefusal(known, { nowMs, retryAtMs: retryAtMs(usage, quota, cost) });
    decided.record = record;
    this.keepRecord(keyId as string, record, nowMs);
    return refused(decided, strike);
  }

  peek({ subject, keyId, quota }: Account): Standing {
    const nowMs = this.now();
    const usage = current(this.mapOf(subject).get(subject), nowMs, this.usage);
    return standing({ usage, record: this.recordOf(keyId), quota, cost: 0, nowMs, allowance: null });
  }

  /** Ends the key's ban, and clears its strikes and ladder steps. */
  unban({ keyId }: { keyId: string }): void {
    this.bans.delete(keyId);
    this.noteChange(banName(keyId));
  }

  get subjectCount(): number {
    return this.projects.size + this.addresses.size;
  }

  /** Takes over counts from elsewhere: stored before a restart, or from the processes that share Redis. */
  adoptUsage(subject: string, usage: Usage): void {
    const nowMs = this.now();
    this.evictExpiredShard(nowMs);
    this.keepUsage(subject, usage, nowMs);
  }

  /** A record of null = forgotten. */
  adoptRecord(keyId: string, record: BanRecord | null): void {
    if (record) this.keepRecord(keyId, record, this.now());
    else this.bans.delete(keyId);
  }

  /** Returns the names of what has changed since the first call: subjects, and keys as `banName`. The store takes them out. */
  trackChanges(): Set<string> {
    this.changed ??= new Set();
    return this.changed;
  }

  /** The usage or the record of a name; null = evicted or forgotten. */
  valueNamed(name: string): Usage | BanRecord | null {
    return (name.startsWith(BAN) ? this.bans.get(keyIdIn(name)) : this.projects.get(name)) ?? null;
  }

  /** Null without a key. */
  private recordOf(keyId: string | null): BanRecord | null {
    return keyId === null ? null : (this.bans.get(keyId) ?? NO_RECORD);
  }

  private spentOf(subject: string, allowance: Allowance, nowMs: number): SpentAllowance {
    const name = allowanceSubject(subject, allowance.name);
    return { ...allowance, usage: current(this.mapOf(name).get(name), nowMs, { ...NO_USAGE }) };
  }

  private mapOf(subject: string): ShardedMap<Usage> {
    return isAddress(subject) ? this.addresses : this.projects;
  }

  private keepUsage(
    subject: string,
    usage: Usage,
    nowMs: number,
    counter = this.mapOf(subject).get(subject),
  ): void {
    if (counter) copy(usage, counter);
    else {
      this.makeRoom(nowMs);
      this.mapOf(subject).set(subject, { ...usage });
    }
    this.noteChange(subject);
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
      if (isMeaningless) this.noteChange(banName(keyId));
      return isMeaningless;
    });
  }

  private keepRecord(keyId: string, record: BanRecord, nowMs: number): void {
    if (this.bans.size >= MAX_BANS && !this.bans.get(keyId)) this.bans.evictOldest();
    this.bans.set(keyId, forgotten(record, nowMs));
    this.noteChange(banName(keyId));
  }

  private noteChange(name: string): void {
    // Full only while the database is unavailable.
    if (this.changed === null || this.changed.size >= this.maxSubjects) return;
    if (!isAddress(name)) this.changed.add(name);
  }
}

const NO_USAGE: Usage = { minute: 0, minuteUsed: 0, day: 0, dayUsed: 0 };
const BAN = 'ban:';

/** The name of a key among the changes. */
export const banName = (keyId: string) => BAN + keyId;
export const keyIdIn = (name: string) => name.slice(BAN.length);

/** The usage of a counter in the current windows, as a copy. */
function current(counter: Usage | undefined, nowMs: number, usage: Usage): Usage {
  copy(counter ?? NO_USAGE, usage);
  enterWindows(usage, nowMs);
  return usage;
}

function copy(from: Usage, to: Usage): void {
  to.minute = from.minute;
  to.minuteUsed = from.minuteUsed;
  to.day = from.day;
  to.dayUsed = from.dayUsed;
}
