import { setTimeout as sleep } from 'node:timers/promises';
import { unavailableIfDatabaseAway } from './database-errors.js';

/** How long a command retries while the database is locked or unavailable. */
const PATIENCE_MS = 60_000;
const RETRY_MS = 100;

/** Retries `work` while the database is locked or unavailable, for up to a minute. The signal ends the wait. */
export async function patiently<T>(
  work: () => Promise<T>,
  { onWait, signal }: { onWait: () => void; signal?: AbortSignal },
): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!unavailableIfDatabaseAway(error) || performance.now() > deadline) throw error;
      onWait();
      await sleep(RETRY_MS, undefined, { signal });
    }
  }
}
