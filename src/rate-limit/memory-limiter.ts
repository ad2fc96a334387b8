import {
  afterAdmission,
  afterRefusal,
  type BanRecord,
  forgotten,
  isBanned,
  meaninglessAtMs,
  NO_RECORD,
} from './bans.js';
import {
  admitted,
  type Decision,
  refused,
  type SpentAllowance,
  type Standing,
  standing,
} from './decision.js';
import type { Account, Charge, Limiter } from './limiter.js';
import type { MemoryVersions } from './memory-versions.js';
import { ShardedMap } from './sharded-map.js';
import { allowanceSubject, isAddress } from './subjects.js';
import { type Allowance, enterWindows, fits, quotaOf, retryAtMs, spend, type Usage } from './windows.js';

const MAX_SUBJECTS = 1_000_000;
const MAX_BANS = 100_000;
/** Bounds what one request does for the others. */
const SHARDS_PER_REQUEST_WHEN_FULL = 4;

export interface SubjectUsage extends Usage {
  readonly subject: string;
}

export interface KeyBan {
  readonly keyId: string;
  /** Null = forgotten. */
  readonly record: BanRecord | null;
}

/** What was changed since it was last taken. */
export interface Changes {
  usage: SubjectUsage[];
  bans: KeyBan[];
}

/**
 * Counts in this process's memory. `charge` is one synchronous section, so no two requests ever see the same free unit.
 *
 * Bounded: when there are too many subjects, expired ones go first, then addresses, then projects, which thereby get a
 * new quota. Expired ones are looked for by the first requests of each minute, each of which sees to one shard.
 */
export class MemoryLimiter implements Limiter {
  private readonly projects: ShardedMap<Counter>;
  private readonly addresses: ShardedMap<Counter>;
  private readonly bans = new ShardedMap<BanRecord>(MAX_BANS);
  /** Where the request at hand is decided: what is not admitted leaves no trace in the counters. */
  private readonly usage: Usage = { ...NOTHING };
  private changedCounters: Counter[] | null = null;
  private readonly changedBans = new Set<string>();
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

  charge({ subject, keyId, quota, cost, connection, allowance: wanted }: Charge): Decision {
    const nowMs = this.now();
    this.sweepSome(nowMs);
    const counter = this.mapOf(subject).get(subject);
    const usage = copy(counter ?? UNUSED, this.usage);
    enterWindows(usage, nowMs);
    const known = keyId === null ? null : (this.bans.get(keyId) ?? NO_RECORD);
    const allowance = wanted === undefined ? null : this.spentOf(subject, wanted, nowMs);
    const isRead = known !== null && allowance === null;
    const dataVersion = isRead && this.versions !== null ? this.versions.current(subject) : null;
    const decided = { usage, record: known, quota, cost, nowMs, dataVersion, allowance };

    if (cost > 0 && known !== null && isBanned(known, nowMs)) return refused(decided, false);
    const isAllowed = allowance === null || fits(allowance.usage, quotaOf(allowance), allowance.cost);
    if (isAllowed && (cost === 0 || spend(usage, quota, cost))) {
      if (allowance !== null) this.spendAllowance(subject, allowance, nowMs);
      if (cost === 0) return admitted(decided);
      const spent = counter ?? this.addCounter(subject, nowMs);
      copy(usage, spent);
      this.noteChange(spent);
      if (known === null || known === NO_RECORD) return admitted(decided);
      const record = afterAdmission(known);
      if (record !== known) this.keep(keyId as string, record, nowMs);
      return admitted({ ...decided, record });
    }
    const isOfAllowance = !isAllowed && (cost === 0 || fits(usage, quota, cost));
    if (known === null || isOfAllowance) return refused(decided, false);
    const record = afterRefusal(known, { nowMs, retryAtMs: retryAtMs(usage, quota, cost), connection });
    this.keep(keyId as string, record, nowMs);
    return refused({ ...decided, record }, isBanned(record, nowMs));
  }

  peek({ subject, keyId, quota }: Account): Standing {
    const nowMs = this.now();
    const usage = copy(this.mapOf(subject).get(subject) ?? UNUSED, this.usage);
    enterWindows(usage, nowMs);
    const record = keyId === null ? null : (this.bans.get(keyId) ?? NO_RECORD);
    return standing({ usage, record, quota, nowMs });
  }

  unban({ keyId }: { keyId: string }): void {
    this.bans.delete(keyId);
    this.noteBanChange(keyId);
  }

  async close(): Promise<void> {}

  get subjectCount(): number {
    return this.projects.size + this.addresses.size;
  }

  /** Takes over what was counted elsewhere: stored before a restart, or by the processes that share Redis. */
  adopt(counted: SubjectUsage | null, ban: KeyBan | null): void {
    const nowMs = this.now();
    this.sweepSome(nowMs);
    if (counted) {
      const { subject } = counted;
      copy(counted, this.mapOf(subject).get(subject) ?? this.addCounter(subject, nowMs));
    }
    if (!ban) return;
    if (ban.record) this.keep(ban.keyId, ban.record, nowMs);
    else this.bans.delete(ban.keyId);
  }

  /** From now on changes are remembered for `takeChanges`, at most one per subject and key. */
  trackChanges(): void {
    this.changedCounters ??= [];
  }

  /**
   * What has changed, in batches with the values of the moment they are taken. Batches not taken stay changed; one that
   * could not be stored is handed back by `putBack`.
   */
  *takeChanges(batchSize: number): Generator<Changes> {
    const counters = this.changedCounters ?? [];
    this.trackChanges();
    this.changedCounters = [];
    const keyIds = [...this.changedBans];
    this.changedBans.clear();
    try {
      while (counters.length + keyIds.length > 0) {
        const usage = counters.splice(-batchSize).map(taken);
        const bans = keyIds
          .splice(-batchSize)
          .map((keyId) => ({ keyId, record: this.bans.get(keyId) ?? null }));
        yield { usage, bans };
      }
    } finally {
      for (const counter of counters) {
        counter.isChanged = false;
        this.noteChange(counter);
      }
      for (const keyId of keyIds) this.noteBanChange(keyId);
    }
  }

  putBack({ usage, bans }: Changes): void {
    for (const { subject } of usage) {
      const counter = this.projects.get(subject);
      if (counter) this.noteChange(counter);
    }
    for (const { keyId } of bans) this.noteBanChange(keyId);
  }

  /** Whether any key has a ban or strikes. */
  get hasBans(): boolean {
    return this.bans.size > 0;
  }

  private spentOf(subject: string, allowance: Allowance, nowMs: number): SpentAllowance {
    const name = allowanceSubject(subject, allowance.name);
    const usage = copy(this.mapOf(name).get(name) ?? UNUSED, { ...NOTHING });
    enterWindows(usage, nowMs);
    return { ...allowance, usage };
  }

  private spendAllowance(subject: string, allowance: SpentAllowance, nowMs: number): void {
    const name = allowanceSubject(subject, allowance.name);
    const counter = this.mapOf(name).get(name) ?? this.addCounter(name, nowMs);
    spend(allowance.usage, quotaOf(allowance), allowance.cost);
    this.noteChange(copy(allowance.usage, counter));
  }

  private mapOf(subject: string): ShardedMap<Counter> {
    return isAddress(subject) ? this.addresses : this.projects;
  }

  private addCounter(subject: string, nowMs: number): Counter {
    this.makeRoom(nowMs);
    const counter = { ...UNUSED, subject };
    this.mapOf(subject).set(subject, counter);
    return counter;
  }

  private makeRoom(nowMs: number): void {
    for (let shard = 0; shard < SHARDS_PER_REQUEST_WHEN_FULL && this.isFull; shard += 1)
      this.sweepSome(nowMs);
    if (this.isFull && !this.addresses.evictOldest()) this.projects.evictOldest();
  }

  private get isFull(): boolean {
    return this.subjectCount >= this.maxSubjects;
  }

  /** Nothing expires within a minute, so each minute every shard is looked at once. */
  private sweepSome(nowMs: number): void {
    if (nowMs - this.sweptMs >= 60_000 || nowMs < this.sweptMs) {
      this.sweptMs = nowMs - (nowMs % 60_000);
      this.nextShard = 0;
    }
    const shard = this.nextShard;
    if (shard >= Math.max(this.projects.shardCount, this.bans.shardCount)) return;
    this.nextShard += 1;
    const minute = Math.floor(nowMs / 60_000);
    const day = Math.floor(nowMs / 86_400_000);
    this.addresses.sweep(shard, (counter) => counter.minute < minute);
    this.projects.sweep(shard, (counter) => counter.day < day);
    this.bans.sweep(shard, (record, keyId) => {
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

  private noteChange(counter: Counter): void {
    const changed = this.changedCounters;
    if (changed === null || counter.isChanged || isAddress(counter.subject)) return;
    // Only a database that is away for long lets the list grow: evicted counters stay on it.
    if (changed.length >= this.maxSubjects) return;
    counter.isChanged = true;
    changed.push(counter);
  }

  private noteBanChange(keyId: string): void {
    if (this.changedCounters !== null && this.changedBans.size < MAX_BANS) this.changedBans.add(keyId);
  }
}

interface Counter extends SubjectUsage {
  /** Is on the list of changes. */
  isChanged: boolean;
}

const NOTHING: Usage = { minute: 0, minuteUsed: 0, day: 0, dayUsed: 0 };
const UNUSED: Counter = { ...NOTHING, subject: '', isChanged: false };

function copy<T extends Usage>(from: Usage, to: T): T {
  to.minute = from.minute;
  to.minuteUsed = from.minuteUsed;
  to.day = from.day;
  to.dayUsed = from.dayUsed;
  return to;
}

function taken(counter: Counter): SubjectUsage {
  counter.isChanged = false;
  const { subject, minute, minuteUsed, day, dayUsed } = counter;
  return { subject, minute, minuteUsed, day, dayUsed };
}
