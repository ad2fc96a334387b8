import { setImmediate as letRequestsIn } from 'node:timers/promises';
import { Column, Entity, In, Index, LessThanOrEqual, MoreThan, PrimaryColumn } from 'typeorm';
import { BOOLEAN, json, TIME_MS, text } from '../../../ground/database/columns.js';
import type { Database } from '../../../ground/database/database.js';
import { deleteInSteps } from '../../../ground/database/retention.js';
import { DAY_MS } from '../../../ground/kernel/duration.js';
import { RateLimits1780000002000 } from '../../../ground/migrations/1780000002000-rate-limits.js';
import { type BanRecord, meaninglessAtMs, NO_RECORD } from '../rules/bans.js';
import type { Usage } from '../rules/windows.js';
import { banName, keyIdIn, type MemoryLimiter } from './memory-limiter.js';

/** SQLite writes synchronously: a batch of this size takes about two milliseconds. */
const BATCH_ROWS = 200;
const RESTORE_ROWS = 1_000;

/** The last stored usage of a project, an allowance or a field; or a key's strikes, ladder step and ban. */
@Entity('rate_counters', { withoutRowid: true })
export class RateCounter {
  /** The subject, or `ban:` and the id of the key. */
  @PrimaryColumn(text(64))
  name!: string;

  @Column(json<Usage | BanRecord>())
  value!: Usage | BanRecord;

  /** From this time the row means the same as no row. */
  @Index('rate_counters_end')
  @Column({ ...TIME_MS, name: 'end_ms' })
  endMs!: number;

  /** Another process has lifted the ban: the counting process forgets the key and removes the row. */
  @Index('rate_counters_lifted')
  @Column({ ...BOOLEAN, name: 'is_lifted' })
  isLifted!: boolean;
}

/**
 * Writes the counters and bans of a single process to the database. An unavailable database delays no decision: unwritten
 * changes are written later, with their values at that time. Counters of addresses are not stored.
 */
export class CounterStore {
  static readonly schema = { entities: [RateCounter], migrations: [RateLimits1780000002000] };
  constructor(
    private readonly db: Database,
    private readonly limiter: MemoryLimiter,
    private readonly now: () => number,
  ) {}

  /** Restores what is still current, and starts to record changes. Await it before the first request. */
  async restore(): Promise<void> {
    const now = this.now();
    await deleteInSteps(this.db, RateCounter, { endMs: LessThanOrEqual(now) }, 'endMs');
    for (let last: string | null = ''; last !== null; ) last = await this.restorePage(last, now);
    this.limiter.trackChanges();
  }

  /** Returns the name of the last restored row; null = no other follows. */
  private async restorePage(last: string, now: number): Promise<string | null> {
    const where = { name: MoreThan(last), endMs: MoreThan(now) };
    const rows = await this.rows.find({ where, order: { name: 'ASC' }, take: RESTORE_ROWS });
    for (const { name, value, isLifted } of rows) {
      if ('day' in value) this.limiter.adoptUsage(name, value);
      // A version before this one stored no refused requests.
      else if (!isLifted) this.limiter.adoptRecord(keyIdIn(name), { ...NO_RECORD, ...value });
    }
    return rows.length < RESTORE_ROWS ? null : (rows.at(-1)?.name ?? null);
  }

  /** Writes the changes. Rejects when some could not be written; the next call writes them. */
  async flush(): Promise<void> {
    await this.applyLifted();
    const changed = this.limiter.trackChanges();
    for (let left = changed.size; left > 0; left -= BATCH_ROWS) {
      const names = taken(changed, BATCH_ROWS);
      await this.store(names).catch((error) => {
        for (const name of names) changed.add(name);
        throw error;
      });
      await letRequestsIn();
    }
  }

  private async store(names: readonly string[]): Promise<void> {
    const rows = names.flatMap((name) => rowsOf(name, this.limiter.valueNamed(name)));
    const forgotten = names.filter((name) => this.limiter.valueNamed(name) === null);
    if (rows.length > 0) await this.db.write(() => this.upsert(rows));
    if (forgotten.length > 0) await this.db.write(() => this.rows.delete({ name: In(forgotten) }));
  }

  /** Leaves `isLifted` as it is: another process may have set it meanwhile. */
  private upsert(rows: RateCounter[]): Promise<unknown> {
    return this.rows
      .createQueryBuilder()
      .insert()
      .values(rows)
      .orUpdate(['value', 'end_ms'], ['name'])
      .execute();
  }

  /** Applies the requests of `liftStoredBan`. */
  private async applyLifted(): Promise<void> {
    const lifted = await this.rows.find({
      select: { name: true },
      where: { isLifted: true },
      take: BATCH_ROWS,
    });
    for (const { name } of lifted) this.limiter.unban({ keyId: keyIdIn(name) });
  }

  private get rows() {
    return this.db.repository(RateCounter);
  }
}

/** None for what is evicted or forgotten. */
function rowsOf(name: string, value: Usage | BanRecord | null): RateCounter[] {
  if (value === null) return [];
  if ('day' in value) return [{ name, value, endMs: (value.day + 1) * DAY_MS, isLifted: false }];
  return [{ name, value, endMs: meaninglessAtMs(value), isLifted: false }];
}

/** Removes at most `count` names from the set, and returns them. */
function taken(names: Set<string>, count: number): string[] {
  const removed: string[] = [];
  for (const name of names) {
    if (removed.length === count) break;
    names.delete(name);
    removed.push(name);
  }
  return removed;
}

export async function storedBans(db: Database, keyIds: readonly string[]): Promise<Map<string, BanRecord>> {
  const where = { name: In(keyIds.map(banName)), isLifted: false };
  const rows = await db.repository(RateCounter).findBy(where);
  return new Map(rows.map(({ name, value }) => [keyIdIn(name), value as BanRecord]));
}

/**
 * Ends a ban from a process that does not count, such as the command line. The counting process forgets the key within
 * two seconds, even if it has not stored the ban yet.
 */
export async function liftStoredBan(db: Database, keyId: string): Promise<void> {
  const lifted = { name: banName(keyId), value: NO_RECORD, endMs: 0, isLifted: true };
  await db.write(() => db.repository(RateCounter).upsert(lifted, ['name']));
}
