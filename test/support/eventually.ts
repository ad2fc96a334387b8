import { setTimeout as pause } from 'node:timers/promises';

/**
 * The first answer of `probe` that is neither undefined nor false. Rejects after `withinMs` with what `probe` threw last,
 * or says what was waited for. The default is no promise about time, only the end of patience with a slow machine.
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
