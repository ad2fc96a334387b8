import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { emptyIfTableMissing, hasLost } from '../database/database-errors.js';
import { AppError } from '../kernel/errors.js';

/** It stays: to drop it would be one more change of the schema. */
const TABLE = 'migration_lock';
const CREATE = `CREATE TABLE IF NOT EXISTS ${TABLE} (
  name VARCHAR(16) NOT NULL PRIMARY KEY, holder VARCHAR(255) NOT NULL, beat BIGINT NOT NULL,
  since VARCHAR(32) NOT NULL, migration VARCHAR(255) NOT NULL) CHARACTER SET utf8mb4`;
const OWN = "WHERE name = 'schema' AND holder = ?";

const BEAT_EVERY_MS = 2_000;
const LOOK_EVERY_MS = 500;
/** Longer than a cluster needs to notice that a node is away: until then nobody can write. */
const DEAD_AFTER_MS = 20_000;
const MOST_WAIT_MS = 3_540_000;

/**
 * The lock of the schema on MySQL and MariaDB: a row, because a cluster replicates no `GET_LOCK`. Of several nodes' writes to
 * the row, only one is committed. Its holder counts `beat` up. A process that sees no count for 20 s, by its own clock, takes
 * the lock over. D-280.
 */
export class MigrationLock {
  private readonly holder =
    `${hostname().slice(0, 200)}, process ${process.pid}, ${randomBytes(6).toString('hex')}`;
  private beats: NodeJS.Timeout | undefined;

  constructor(
    private readonly source: DataSource,
    /** Gets a sentence when this process begins to wait, and when the holder begins another migration. */
    private readonly onWait: (sentence: string) => void,
    private readonly deadAfterMs = DEAD_AFTER_MS,
  ) {}

  /** False = it is not needed any more: `isNeeded` was false. Throws `AppError unavailable` after an hour. */
  async take(isNeeded: () => Promise<boolean>): Promise<boolean> {
    const endMs = performance.now() + MOST_WAIT_MS;
    let [seen, seenAtMs, told] = ['', 0, ''];
    while (performance.now() < endMs) {
      if (!(await isNeeded())) return false;
      const found = await this.read();
      const state = `${found?.holder} ${found?.beat}`;
      if (state !== seen) seenAtMs = performance.now();
      seen = state;
      const isFree = !found || performance.now() - seenAtMs > this.deadAfterMs;
      // It has it already when the answer to an earlier try was no proof.
      if (found?.holder === this.holder || (isFree && (await this.tryToTake(found)))) {
        this.beats = setInterval(() => void this.renew().catch(() => {}), BEAT_EVERY_MS).unref();
        return true;
      }
      const sentence = found ? sentenceOn(found) : told;
      if (sentence !== told) this.onWait(sentence);
      told = sentence;
      await sleep(LOOK_EVERY_MS * (0.5 + Math.random()));
    }
    throw new AppError(
      'unavailable',
      `Another process migrates the database and has not finished. Wait for it (\`SELECT * FROM ${TABLE}\`), then start again.`,
    );
  }

  /** False = another process has taken the lock over: this one must not begin the migration. */
  async renew(migration: string | null = null): Promise<boolean> {
    const sql = `UPDATE ${TABLE} SET beat = beat + 1, migration = COALESCE(?, migration) ${OWN}`;
    const renewed = await this.write(sql, [migration, this.holder]);
    // After a conflict with its own beat, or with the process that takes the lock over.
    return renewed ?? this.renew(migration);
  }

  /** From now on the row stands still, as after a kill. */
  stop(): void {
    clearInterval(this.beats);
  }

  async release(): Promise<void> {
    this.stop();
    // If it fails, the others wait as for a dead holder.
    await this.write(`DELETE FROM ${TABLE} ${OWN}`, [this.holder]).catch(() => {});
  }

  private async read(): Promise<Holder | undefined> {
    const sql = `SELECT holder, beat, since, migration FROM ${TABLE} WHERE name = 'schema'`;
    const [found] = await this.source.query(sql).catch(emptyIfTableMissing);
    return found;
  }

  private async tryToTake(found: Holder | undefined): Promise<boolean | null> {
    const since = "DATE_FORMAT(UTC_TIMESTAMP(), '%Y-%m-%dT%H:%i:%sZ')";
    if (found) {
      const sql = `UPDATE ${TABLE} SET holder = ?, beat = beat + 1, since = ${since}, migration = '' ${OWN} AND beat = ?`;
      return this.write(sql, [this.holder, found.holder, found.beat]);
    }
    const isCreated = await this.write(CREATE, []);
    return isCreated === null
      ? null
      : this.write(`INSERT INTO ${TABLE} VALUES ('schema', ?, 0, ${since}, '')`, [this.holder]);
  }

  /** Whether a row was changed; null = another process came first, or may have. */
  private async write(sql: string, values: unknown[]): Promise<boolean | null> {
    try {
      const { affectedRows } = await this.source.query(sql, values);
      return affectedRows === 1;
    } catch (error) {
      if (hasLost(error)) return null;
      throw error;
    }
  }
}

interface Holder {
  holder: string;
  beat: string;
  since: string;
  migration: string;
}

const sentenceOn = ({ holder, since, migration }: Holder) =>
  `Another process migrates the database: ${holder}, since ${since}, now ${migration || 'it begins'}. This process waits.`;
