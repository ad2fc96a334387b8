import type { Capability, Chore } from '../ground/kernel/capability.js';
import { MINUTE_MS } from '../ground/kernel/duration.js';

/** The background work of the capabilities. */
export function choresOf(capabilities: readonly Capability[]): readonly Chore[] {
  const deleteOldRows = () => Promise.all(capabilities.map((each) => each.deleteOldRows?.()));
  return [
    // At the end nothing is deleted: the process must end soon.
    { name: 'sweeping', everyMs: MINUTE_MS, work: async (isEnd) => isEnd || deleteOldRows() },
    ...capabilities.flatMap(({ chores = [] }) => chores),
  ];
}

/**
 * Runs background work at intervals. Logs a chore's first failure and its recovery; never throws. Calls `onFailure` after
 * each failure.
 */
export function startChores(
  chores: readonly Chore[],
  log: Record<'info' | 'warn', (fields: object, message: string) => void>,
  onFailure: (name: string) => void = () => {},
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
