import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DataVersions, type NounVersions, VERSION_MS } from '../../../ground/kernel/data-versions.js';
import type { MemoryLimiter } from '../memory/memory-limiter.js';
import type { Account, Charge, Decision, Limiter, LimiterLog, Standing } from '../rules/limiter.js';
import { projectSubject } from '../rules/subjects.js';
import { WRITING } from './charge-script.js';
import type { RedisLimiter, SharedCountersAway } from './redis-limiter.js';

const PROBE_EVERY_MS = 500;

/**
 * Counts in Redis while Redis responds, otherwise in this process. The local counters mirror the last replies of Redis,
 * so an outage gives nobody a new quota and lifts no ban. During an outage each process may admit what was left. Returns
 * to Redis automatically, less than a second after Redis accepts writes again.
 */
export class ResilientLimiter implements Limiter {
  private probing: NodeJS.Timeout | null = null;
  private isClosed = false;
  /** For metrics: the number of outages, and of requests decided without Redis. */
  readonly counts = { outages: 0, localDecisions: 0 };

  constructor(
    private readonly shared: RedisLimiter,
    private readonly local: MemoryLimiter,
    private readonly log: LimiterLog,
  ) {}

  /** Redis is unavailable and this process counts alone. */
  get isDegraded(): boolean {
    return this.probing !== null;
  }

  charge(request: Charge): Decision | Promise<Decision> {
    if (this.isDegraded) return this.chargeAlone(request);
    return this.shared.charge(request).catch((error) => {
      this.degrade(error);
      return this.chargeAlone(request);
    });
  }

  peek(account: Account): Standing | Promise<Standing> {
    if (this.isDegraded) return this.local.peek(account);
    return this.shared.peek(account).catch((error) => {
      this.degrade(error);
      return this.local.peek(account);
    });
  }

  /** Sets the version of the subject's data of a noun for all processes; false = Redis is unavailable. Never rejects. */
  async stamp(subject: string, noun: string, version: string): Promise<boolean> {
    if (this.isDegraded) return false;
    try {
      await this.shared.stamp(subject, noun, version);
      return true;
    } catch (error) {
      this.degrade(error as SharedCountersAway);
      return false;
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    if (this.probing) clearTimeout(this.probing);
    await this.shared.close();
  }

  private chargeAlone(request: Charge): Decision {
    this.counts.localDecisions += 1;
    return this.local.charge(request);
  }

  private degrade({ message: reason }: SharedCountersAway): void {
    if (this.isDegraded || this.isClosed) return;
    this.counts.outages += 1;
    this.log.warn({ reason }, 'Redis is unavailable: each process limits alone');
    this.probeLater();
  }

  private probeLater(): void {
    this.probing = setTimeout(async () => {
      const problem = await this.shared.problem();
      if (this.isClosed) return;
      if (problem !== null) return this.probeLater();
      this.probing = null;
      this.log.info({}, 'Redis is back: limits are shared again');
    }, PROBE_EVERY_MS).unref();
  }
}

/** Redis expires versions in whole milliseconds, by its own clock. */
const MARGIN_MS = 20;

/**
 * The data versions of processes that share Redis; every charge reads them. A process that loses the connection gets no
 * version, serves nothing from its cache, and later discards the versions it knew.
 *
 * Other processes may still have a version, or get it again, without knowing of a write here. So a write that could not
 * be announced is acknowledged only after every earlier version has expired. D-39.
 */
export class SharedVersions implements NounVersions {
  constructor(private readonly limiter: Pick<ResilientLimiter, 'stamp'>) {}

  of(noun: string): DataVersions {
    return { change: (projectId, write) => this.change(projectSubject(projectId), noun, write) };
  }

  private async change<T>(subject: string, noun: string, write: () => Promise<T>): Promise<T> {
    await this.limiter.stamp(subject, noun, WRITING);
    try {
      return await write();
    } finally {
      const isKnown = await this.limiter.stamp(subject, noun, randomUUID());
      if (!isKnown) await sleep(VERSION_MS + MARGIN_MS);
    }
  }
}
