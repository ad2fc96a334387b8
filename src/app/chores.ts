/** Names of background work, in the log and in metrics. */
export const WORKS = [
  'sweeping',
  'storing rate counters',
  'storing usage',
  'storing the request log',
  'storing the largest id',
  'storing uses of keys',
  'work on domains',
] as const;

export type Work = (typeof WORKS)[number];

interface Chore {
  name: Work;
  everyMs: number;
  /** Runs once more at shutdown: `isEnd`. */
  work(isEnd: boolean): Promise<unknown>;
}

/**
 * Runs background work at intervals. Logs a chore's first failure and its recovery; never throws. Calls `onFailure` after
 * each failure.
 */
export function startChores(
  chores: readonly Chore[],
  log: Record<'info' | 'warn', (fields: object, message: string) => void>,
  onFailure: (name: Work) => void = () => {},
): { stopChores(): Promise<void> } {
  const failing = new Set<Chore>();
  const running = new Map<Chore, Promise<void>>();
  const run = async (chore: Chore, isEnd: boolean) => {
    try {
      await chore.work(isEnd);
      if (failing.delete(chore)) log.info({}, `${chore.name} works again`);
    } catch (error) {
      if (!failing.has(chore)) log.warn({ reason: String(error) }, `${chore.name} failed`);
      failing.add(chore);
      onFailure(chore.name);
    }
  };
  const runAlone = (chore: Chore, isEnd = false): Promise<void> => {
    const current = running.get(chore) ?? run(chore, isEnd).finally(() => running.delete(chore));
    running.set(chore, current);
    return current;
  };
  const timers = chores.map((chore) => setInterval(() => void runAlone(chore), chore.everyMs).unref());
  return {
    async stopChores() {
      for (const timer of timers) clearInterval(timer);
      await Promise.all(running.values());
      await Promise.all(chores.map((chore) => runAlone(chore, true)));
    },
  };
}
