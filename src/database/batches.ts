import { randomBytes } from 'node:crypto';
import { type EntityManager, LessThan, Like } from 'typeorm';
import { ChangeSequence } from './change-sequence.entity.js';
import type { Database } from './database.js';
import { isDuplicateId } from './database-errors.js';

const PREFIX = 'b:';
/** The time in which a process may repeat a batch. */
const KEPT_MS = 35 * 86_400_000;

/**
 * D-174. Stores each batch of one writer exactly once, also when the answer of its COMMIT gets lost. The transaction stores
 * the number of the batch, too, in a row of the writer.
 */
export class Batches {
  private readonly name = `${PREFIX}${randomBytes(7).toString('hex')}`;
  private last = 0;
  /** The number of the batch that is being stored, or whose outcome is unknown. */
  private current: number | null = null;

  constructor(
    private readonly db: Database,
    private readonly now: () => number,
  ) {}

  /** Runs `work` in a transaction. After a rejection the next call must bring the same batch. */
  async store(work: (manager: EntityManager) => Promise<void>): Promise<void> {
    const { name } = this;
    const number = this.current ?? Math.max(this.last + 1, this.now());
    this.current = number;
    const value = BigInt(number);
    await this.db.transaction(async (manager) => {
      // Waits for the row while an earlier attempt may still be committed.
      const { affected } = await manager.update(ChangeSequence, { name, value: LessThan(value) }, { value });
      if (affected !== 1 && !(await isInserted(manager, { name, value }))) return;
      await work(manager);
    });
    this.last = number;
    this.current = null;
  }
}

/** False = the row exists. A read would begin the snapshot of MySQL's transaction, before `work` has taken its locks. */
async function isInserted(manager: EntityManager, row: ChangeSequence): Promise<boolean> {
  try {
    await manager.insert(ChangeSequence, row);
    return true;
  } catch (error) {
    if (isDuplicateId(error)) return false;
    throw error;
  }
}

/** Deletes the rows of writers that have stored nothing for 35 days: their processes have ended. */
export async function deleteOldWriters(db: Database, nowMs: number): Promise<void> {
  const value = LessThan(BigInt(nowMs - KEPT_MS));
  await db.write(() => db.repository(ChangeSequence).delete({ name: Like(`${PREFIX}%`), value }));
}
