import { setImmediate as letRequestsIn } from 'node:timers/promises';
import { Column, Entity, In, Index, LessThanOrEqual, MoreThan, PrimaryColumn } from 'typeorm';
import { BOOLEAN, INTEGER, TIME_MS, text } from '../../../ground/database/columns.js';
import type { Database } from '../../../ground/database/database.js';
import { DAY_MS } from '../../../ground/kernel/duration.js';
import { type BanRecord, meaninglessAtMs, NO_RECORD } from '../rules/bans.js';
import type { Changes, MemoryLimiter } from './memory-limiter.js';

/** SQLite writes synchronously: a batch of this size takes about two milliseconds. */
const BATCH_ROWS = 200;
const RESTORE_ROWS = 1_000;

/**
 * Writes the counters and bans of a single process to the database. An unavailable database delays no decision: unwritten
 * changes are written later, with their values at that time. Counters of addresses are not stored.
 */
export class CounterStore {
  constructor(
    private readonly db: Database,
    private readonly limiter: MemoryLimiter,
    private readonly now: () => number,
  ) {}

  /** Restores what is still current, and starts to record changes. Await it before the first request. */
  async restore(): Promise<void> {
    await this.restoreWindows();
    await this.restoreBans();
    this.limiter.trackChanges();
  }

  /** Writes the changes. Rejects when some could not be written; the next call writes them. */
  async flush(): Promise<void> {
    await this.applyLifted();
    for (const changes of this.limiter.takeChanges(BATCH_ROWS)) {
      await this.store(changes);
      await letRequestsIn();
    }
  }

  private async store(changes: Changes): Promise<void> {
    const known = changes.bans.flatMap(({ keyId, record }) => (record ? [rowOf(keyId, record)] : []));
    const forgotten = changes.bans.flatMap(({ keyId, record }) => (record ? [] : [keyId]));
    try {
      if (changes.usage.length > 0) {
        await this.db.write(() => this.windows.upsert(changes.usage, ['subject']));
      }
      if (known.length > 0) await this.db.write(() => this.upsertBans(known));
      if (forgotten.length > 0) await this.db.write(() => this.bans.delete({ keyId: In(forgotten) }));
    } catch (error) {
      this.limiter.putBack(changes);
      throw error;
    }
  }

  /** Leaves `isLifted` as it is: another process may have set it meanwhile. */
  private upsertBans(rows: KeyBanRow[]): Promise<unknown> {
    const columns = this.bans.metadata.columns.map(({ databaseName }) => databaseName);
    const replaced = columns.filter((name) => name !== 'key_id' && name !== 'is_lifted');
    return this.bans.createQueryBuilder().insert().values(rows).orUpdate(replaced, ['key_id']).execute();
  }

  /** Applies the requests of `liftStoredBan`. */
  private async applyLifted(): Promise<void> {
    const lifted = await this.bans.find({
      select: { keyId: true },
      where: { isLifted: true },
      take: BATCH_ROWS,
    });
    for (const { keyId } of lifted) this.limiter.unban({ keyId });
  }

  private async restoreWindows(): Promise<void> {
    const day = Math.floor(this.now() / DAY_MS);
    for (let last = ''; ; ) {
      const rows = await this.windows.find({
        where: { day, subject: MoreThan(last) },
        order: { subject: 'ASC' },
        take: RESTORE_ROWS,
      });
      for (const row of rows) this.limiter.adopt(row, null);
      if (rows.length < RESTORE_ROWS) return;
      last = rows.at(-1)?.subject ?? '';
    }
  }

  private async restoreBans(): Promise<void> {
    const now = this.now();
    await this.db.write(() => this.bans.delete({ meaninglessAtMs: LessThanOrEqual(now) }));
    for (let last = ''; ; ) {
      const rows = await this.bans.find({
        where: { keyId: MoreThan(last) },
        order: { keyId: 'ASC' },
        take: RESTORE_ROWS,
      });
      for (const { keyId, isLifted, meaninglessAtMs: _, ...record } of rows) {
        if (!isLifted) this.limiter.adopt(null, { keyId, record: { ...record, connection: null } });
      }
      if (rows.length < RESTORE_ROWS) return;
      last = rows.at(-1)?.keyId ?? '';
    }
  }

  private get windows() {
    return this.db.repository(RateWindow);
  }

  private get bans() {
    return this.db.repository(KeyBanRow);
  }
}

/**
 * Ends a ban from a process that does not count, such as the command line. The counting process forgets the key within
 * two seconds, even if it has not stored the ban yet.
 */
export async function liftStoredBan(db: Database, keyId: string): Promise<void> {
  const lifted = { ...rowOf(keyId, NO_RECORD), isLifted: true };
  await db.write(() => db.repository(KeyBanRow).upsert(lifted, ['keyId']));
}

function rowOf(keyId: string, record: BanRecord): KeyBanRow {
  const { strikes, step, quietSinceMs, untilMs, refusedAtMs, retryAtMs } = record;
  const times = { quietSinceMs, untilMs, refusedAtMs, retryAtMs, meaninglessAtMs: meaninglessAtMs(record) };
  return { keyId, strikes, step, ...times, isLifted: false };
}

/** The last stored usage of a project, an allowance or a field. Obsolete once its day is over. */
@Entity('rate_windows', { withoutRowid: true })
@Index('rate_windows_day', ['day', 'subject'])
export class RateWindow {
  @PrimaryColumn(text(64))
  subject!: string;

  /** Windows are numbered from 1970. */
  @Column({ ...INTEGER, name: 'minute_number' })
  minute!: number;

  @Column({ ...INTEGER, name: 'minute_used' })
  minuteUsed!: number;

  @Column({ ...INTEGER, name: 'day_number' })
  day!: number;

  @Column({ ...INTEGER, name: 'day_used' })
  dayUsed!: number;
}

/** A key's strikes, ladder step and ban, as in `BanRecord`. The connection is not stored, as it ends with the process. */
@Entity('key_bans', { withoutRowid: true })
export class KeyBanRow {
  @PrimaryColumn({ ...text(64), name: 'key_id' })
  keyId!: string;

  @Column(INTEGER)
  strikes!: number;

  @Column({ ...INTEGER, name: 'ladder_step' })
  step!: number;

  @Column({ ...TIME_MS, name: 'quiet_since_ms' })
  quietSinceMs!: number;

  @Column({ ...TIME_MS, name: 'until_ms' })
  untilMs!: number;

  @Column({ ...TIME_MS, name: 'refused_at_ms' })
  refusedAtMs!: number;

  @Column({ ...TIME_MS, name: 'retry_at_ms' })
  retryAtMs!: number;

  /** From this time the row means the same as no row. */
  @Index('key_bans_end')
  @Column({ ...TIME_MS, name: 'meaningless_at_ms' })
  meaninglessAtMs!: number;

  /** Another process has lifted the ban: the counting process forgets the key and removes the row. */
  @Index('key_bans_lifted')
  @Column({ ...BOOLEAN, name: 'is_lifted' })
  isLifted!: boolean;
}
