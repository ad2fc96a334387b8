import { setTimeout as pause } from 'node:timers/promises';

/**
 * Polls `probe` and returns its first result that is neither undefined nor false. Rejects after `withinMs` with the
 * last error of `probe`, or with `what`. The default time is not a promise, only patience with a slow machine.
 */
export async function eventually<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  withinMs = 30_000,
  everyMs = 20,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    let reason: unknown;
    try {
      const answer = await probe();
      if (answer !== undefined && answer !== false) return answer;
    } catch (error) {
      reason = error;
    }
    if (performance.now() > deadline) {
      throw new Error(`not within ${withinMs} ms: ${what}`, { cause: reason });
    }
    await pause(everyMs);
  }
}
