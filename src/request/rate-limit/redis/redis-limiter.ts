import { createHash } from 'node:crypto';
import { VERSION_MS } from '../../../ground/kernel/data-versions.js';
import { type RedisConnection, reasonOf, sendTogether } from '../../../ground/redis/redis-connection.js';
import type { MemoryLimiter } from '../memory/memory-limiter.js';
import { type BanRecord, NO_RECORD, STRIKES_TO_BAN } from '../rules/bans.js';
import {
  type Account,
  admitted,
  type Charge,
  type Decided,
  type Decision,
  type Limiter,
  refused,
  type SpentAllowance,
  type Standing,
  standing,
} from '../rules/limiter.js';
import { allowanceSubject } from '../rules/subjects.js';
import type { Allowance } from '../rules/windows.js';
import { CHARGE_SCRIPT } from './charge-script.js';

const SCRIPT_SHA = createHash('sha1').update(CHARGE_SCRIPT).digest('hex');
const PREFIX = 'petstore:rate';
const TICK_MS = 10;
const SILENT_TICKS = 8;
/** For a single command while others get replies: otherwise a Redis that replies now and then delays all requests. */
const SLOW_TICKS = 50;

/** Redis could not decide: unreachable, frozen, full, or only a replica. The message says why. */
export class SharedCountersAway extends Error {
  override name = 'SharedCountersAway';
}

interface Options {
  /** Receives a copy of the shared counters, so that a process that loses Redis continues from there. */
  mirror?: Pick<MemoryLimiter, 'adoptUsage' | 'adoptRecord'>;
  /** For tests: a clock instead of Redis's own. */
  now?: () => number;
}

/**
 * Counts in Redis for any number of processes: one script, one round trip, all keys of a subject in one hash slot.
 * Rejects with `SharedCountersAway` after about 80 ms of silence, and after 500 ms whatever Redis does;
 * `ResilientLimiter` then counts locally.
 *
 * The deadline counts timer ticks without any reply instead of milliseconds per command (ioredis's `commandTimeout`).
 * After a pause of this process, timers run before sockets are read. A timeout per command would then miss replies that
 * have already arrived, and requests would be admitted over the quota.
 */
export class RedisLimiter implements Limiter {
  private pending = 0;
  private silentTicks = 0;
  private answers = 0;
  /** For each of the last ticks: the value of `answers` once all commands sent by then have their reply. */
  private expected: number[] = [];
  private watch: NodeJS.Timeout | null = null;
  /** Incremented when a server is lost: a restarted server may know very old versions. */
  private losses = 0;

  constructor(
    private readonly redis: RedisConnection,
    private readonly options: Options = {},
  ) {
    const lost = () => {
      this.losses += 1;
    };
    redis.on('close', lost).on('-node', lost);
  }

  charge(request: Charge): Promise<Decision> {
    return this.run(request).then((decided) =>
      decided.outcome === ADMITTED ? admitted(decided) : refused(decided, strikeOf(decided)),
    );
  }

  async peek({ subject, keyId, quota }: Account): Promise<Standing> {
    return standing(await this.run({ subject, keyId, quota, cost: PEEK }));
  }

  /** Ends the key's ban, and clears its strikes and ladder steps. */
  async unban({ subject, keyId }: { subject: string; keyId: string }): Promise<void> {
    await this.within(() => this.redis.del(banKey(subject, keyId)));
  }

  async bans(subject: string, keyIds: readonly string[]): Promise<Map<string, BanRecord>> {
    const names = keyIds.map((keyId) => banKey(subject, keyId));
    const texts = await this.within(() => this.redis.mget(...names));
    return new Map(
      keyIds.flatMap((keyId, at) => (texts[at] ? [[keyId, decodeRecord(texts[at])] as const] : [])),
    );
  }

  /** Sets the version of the subject's data of a noun. */
  async stamp(subject: string, noun: string, version: string): Promise<void> {
    await this.within(() => this.redis.set(versionKey(subject, noun), version, 'PX', VERSION_MS));
  }

  /**
   * The reason why Redis can't decide; null = it can. Tries a charge, because a full Redis, a replica, and a server that
   * forbids scripts still answer PING. If Redis can't decide, reconnects.
   */
  async problem(): Promise<string | null> {
    try {
      await this.charge(PROBE);
      return null;
    } catch (error) {
      // After a failover the same name resolves to the new primary.
      if (this.redis.status === 'ready') this.redis.disconnect(true);
      return (error as Error).message;
    }
  }

  /** Closes the connection, which only this limiter uses. */
  async close(): Promise<void> {
    if (this.watch) clearInterval(this.watch);
    this.redis.disconnect();
  }

  private run(charge: Charge): Promise<State> {
    const { subject, keyId, quota, cost, allowance, dataOf } = charge;
    const keys = [keyIn(subject)];
    if (keyId !== null) {
      keys.push(banKey(subject, keyId));
      if (allowance) keys.push(keyIn(subject, `:${allowance.name}`));
      // Only these requests may be served from the cache.
      else if (dataOf) keys.push(versionKey(subject, dataOf));
    }
    const values: (string | number)[] = [cost, quota.perMinute, quota.perDay ?? -1];
    if (this.options.now || allowance) values.push(this.options.now?.() ?? '');
    if (allowance) values.push(allowance.cost, allowance.perMinute);
    return this.within(() => this.evaluate(keys, values)).then((reply) => {
      const [nowMs, outcome, minute, minuteUsed, day, dayUsed, text, version] = reply;
      const usage = { minute, minuteUsed, day, dayUsed };
      const known = text === '' ? null : decodeRecord(text);
      const record = keyId === null ? null : (known ?? NO_RECORD);
      this.options.mirror?.adoptUsage(subject, usage);
      if (keyId !== null) this.options.mirror?.adoptRecord(keyId, known);
      const dataVersion = version === '' ? null : `${this.losses} ${version}`;
      const spent = allowance ? this.spentOf(subject, allowance, reply) : null;
      return { outcome, usage, record, quota, cost, nowMs, dataVersion, allowance: spent };
    });
  }

  private spentOf(subject: string, allowance: Allowance, reply: ScriptReply): SpentAllowance {
    const [, , , , day, , , , minute = 0, minuteUsed = 0] = reply;
    const usage = { minute, minuteUsed, day, dayUsed: 0 };
    this.options.mirror?.adoptUsage(allowanceSubject(subject, allowance.name), usage);
    return { ...allowance, usage };
  }

  private evaluate(keys: string[], values: (string | number)[]): Promise<ScriptReply> {
    return this.redis.evalsha(SCRIPT_SHA, keys.length, ...keys, ...values).catch((error) => {
      // Redis has restarted or does not know the script yet; EVAL also caches it.
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return this.redis.eval(CHARGE_SCRIPT, keys.length, ...keys, ...values);
    }) as Promise<ScriptReply>;
  }

  private within<T>(send: () => Promise<T>): Promise<T> {
    this.pending += 1;
    this.watch ??= setInterval(() => this.tick(), TICK_MS).unref();
    sendTogether(this.redis);
    return send().then(this.answered, this.failed) as Promise<T>;
  }

  private readonly answered = <T>(reply: T): T => {
    this.pending -= 1;
    this.answers += 1;
    this.silentTicks = 0;
    return reply;
  };

  private readonly failed = (cause: Error): never => {
    this.answered(null);
    throw new SharedCountersAway(reasonOf(this.redis, cause), { cause });
  };

  private tick(): void {
    if (this.pending === 0) {
      if (this.watch) clearInterval(this.watch);
      this.watch = null;
      this.silentTicks = 0;
      this.expected = [];
      return;
    }
    this.silentTicks += 1;
    this.expected.push(this.answers + this.pending);
    const wanted = this.expected.length > SLOW_TICKS ? (this.expected.shift() ?? 0) : 0;
    if (this.silentTicks < SILENT_TICKS && this.answers >= wanted) return;
    this.silentTicks = 0;
    this.expected = [];
    // Rejects all pending commands and reconnects: the peer may have vanished without closing the connection.
    this.redis.disconnect(true);
  }
}

/** Always fits, and is counted apart from all other subjects. */
const PROBE: Charge = {
  subject: 'probe',
  keyId: null,
  quota: { perMinute: 1_000_000, perDay: null },
  cost: 1,
};

const PEEK = -1;
const ADMITTED = 0;
const BANNED = 2;
const STRUCK = 3;

/** As `CHARGE_SCRIPT` documents it. */
type ScriptReply = [
  nowMs: number,
  outcome: number,
  minute: number,
  minuteUsed: number,
  day: number,
  dayUsed: number,
  record: string,
  version: string,
  ownMinute?: number,
  ownMinuteUsed?: number,
];

type State = Decided & { outcome: number };

function keyIn(subject: string, part = ''): string {
  return `${PREFIX}:{${subject}}${part}`;
}

const banKey = (subject: string, keyId: string) => keyIn(subject, `:ban:${keyId}`);
const versionKey = (subject: string, noun: string) => keyIn(subject, `:version:${noun}`);

function strikeOf({ outcome, record }: State): number | null {
  if (outcome === BANNED) return STRIKES_TO_BAN;
  return outcome === STRUCK ? (record?.strikes ?? null) : null;
}

/** As `CHARGE_SCRIPT` writes it. A version before this one had a connection in place of the refused requests. */
function decodeRecord(text: string): BanRecord {
  const [strikes = 0, step = 0, quietSinceMs = 0, untilMs = 0, refusedAtMs = 0, retryAtMs = 0, ...counts] =
    text.split(' ').map(Number);
  const [lastAtMs = 0, fast = 0, slow = 0, slowAtMs = 0] = counts.length === 4 ? counts : [];
  const refused = { lastAtMs, fast, slow, slowAtMs };
  return { strikes, step, quietSinceMs, untilMs, refusedAtMs, retryAtMs, refused };
}
