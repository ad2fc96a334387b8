import { In, IsNull, LessThan, Or } from 'typeorm';
import type { Database } from '../database/database.js';
import { ApiKey } from './api-key.entity.js';

const MAX_KEYS = 100_000;
/** Times are kept this coarsely, so that the keys used in a minute share a few statements. */
const PRECISION_MS = 10_000;
const BATCH_KEYS = 500;

/**
 * When keys were used last. A request costs an addition to a map; a key costs at most one write at each `flush`.
 * Bounded: beyond 100,000 keys between two flushes the use of others is not noted.
 */
export class KeyUses {
  private uses = new Map<bigint, number>();

  constructor(
    private readonly db: Database,
    private readonly now: () => number,
  ) {}

  note(keyId: bigint): void {
    if (this.uses.size >= MAX_KEYS && !this.uses.has(keyId)) return;
    const nowMs = this.now();
    this.uses.set(keyId, nowMs - (nowMs % PRECISION_MS));
  }

  /** The last use that is known here, to 10 s; of another process to about a minute. Never before the key was made. */
  lastUsedAtMs({ id, lastUsedAtMs, createdAtMs }: ApiKey): number | null {
    const noted = this.uses.get(id) ?? null;
    if (noted === null && lastUsedAtMs === null) return null;
    return Math.max(noted ?? 0, lastUsedAtMs ?? 0, createdAtMs);
  }

  /** Stores what was noted. Throws what the driver throws, and keeps what was not stored. */
  async flush(): Promise<void> {
    const uses = this.uses;
    this.uses = new Map();
    try {
      for (const [atMs, keyIds] of byTime(uses)) {
        while (keyIds.length > 0) {
          const batch = keyIds.slice(-BATCH_KEYS);
          await this.store(batch, atMs);
          keyIds.length -= batch.length;
          for (const keyId of batch) uses.delete(keyId);
        }
      }
    } catch (error) {
      for (const [keyId, atMs] of uses) {
        if (!this.uses.has(keyId) && this.uses.size < MAX_KEYS) this.uses.set(keyId, atMs);
      }
      throw error;
    }
  }

  /** Never back in time: another process may have seen the key later. */
  private async store(keyIds: bigint[], lastUsedAtMs: number): Promise<void> {
    const isOlder = { id: In(keyIds), lastUsedAtMs: Or(IsNull(), LessThan(lastUsedAtMs)) };
    await this.db.write(() => this.db.repository(ApiKey).update(isOlder, { lastUsedAtMs }));
  }
}

/** In the order of the primary key, so that processes which store at once can't block each other for ever. */
function byTime(uses: ReadonlyMap<bigint, number>): Map<number, bigint[]> {
  const groups = new Map<number, bigint[]>();
  for (const [keyId, atMs] of uses) {
    const group = groups.get(atMs);
    if (group) group.push(keyId);
    else groups.set(atMs, [keyId]);
  }
  for (const group of groups.values()) group.sort((a, b) => (a < b ? -1 : 1));
  return groups;
}
