import { In, IsNull, LessThan, Or } from 'typeorm';
import type { Database } from '../../ground/database/database.js';
import type { Capability } from '../../ground/kernel/capability.js';
import { MINUTE_MS } from '../../ground/kernel/duration.js';
import { ApiKey } from './api-key.entity.js';

const MAX_KEYS = 100_000;
/** Times are rounded down to this, so that the keys used in a minute share a few statements. */
const PRECISION_MS = 10_000;
const BATCH_KEYS = 500;

/**
 * The last use of each key. A request costs one map write; a key costs at most one database write per `flush`. Bounded:
 * beyond 100,000 keys between two flushes, uses of further keys are not recorded.
 */
export class KeyUses implements Capability {
  readonly chores = [{ name: 'storing uses of keys', everyMs: MINUTE_MS, work: () => this.flush() }];
  private readonly uses = new Map<bigint, number>();

  constructor(
    private readonly db: Database,
    private readonly now: () => number,
  ) {}

  note(keyId: bigint): void {
    if (this.uses.size >= MAX_KEYS && !this.uses.has(keyId)) return;
    const nowMs = this.now();
    this.uses.set(keyId, nowMs - (nowMs % PRECISION_MS));
  }

  /**
   * The last known use: accurate to 10 s in this process, to about a minute in another one. Never before the key's
   * creation.
   */
  lastUsedAtMs({ id, lastUsedAtMs, createdAtMs }: ApiKey): number | null {
    const noted = this.uses.get(id) ?? null;
    if (noted === null && lastUsedAtMs === null) return null;
    return Math.max(noted ?? 0, lastUsedAtMs ?? 0, createdAtMs);
  }

  /** Stores the recorded uses. Rethrows an error of the driver; a use that was not stored stays recorded. */
  async flush(): Promise<void> {
    for (const [atMs, keyIds] of byTime(this.uses)) {
      for (let at = 0; at < keyIds.length; at += BATCH_KEYS) {
        const batch = keyIds.slice(at, at + BATCH_KEYS);
        await this.store(batch, atMs);
        for (const keyId of batch) if (this.uses.get(keyId) === atMs) this.uses.delete(keyId);
      }
    }
  }

  /** Never sets the time back: another process may have seen the key later. */
  private async store(keyIds: bigint[], lastUsedAtMs: number): Promise<void> {
    const isOlder = { id: In(keyIds), lastUsedAtMs: Or(IsNull(), LessThan(lastUsedAtMs)) };
    await this.db.write(() => this.db.repository(ApiKey).update(isOlder, { lastUsedAtMs }));
  }
}

/** Ids in primary-key order, so that processes that store at the same time cannot deadlock. */
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
