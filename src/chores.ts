interface Chore {
  /** For the log: `storing usage`. */
  name: string;
  everyMs: number;
  work(): Promise<unknown>;
  /** Runs once more at the end. */
  isLast?: boolean;
}

interface ChoreLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** Does what a process does beside its requests. A chore that fails is said once, and again when it succeeds; none throws. */
export function startChores(chores: readonly Chore[], log: ChoreLog): { end(): Promise<void> } {
  const failing = new Set<Chore>();
  const running = new Map<Chore, Promise<void>>();
  const run = async (chore: Chore) => {
    try {
      await chore.work();
      if (failing.delete(chore)) log.info({}, `${chore.name} works again`);
    } catch (error) {
      if (!failing.has(chore)) log.warn({ reason: String(error) }, `${chore.name} failed`);
      failing.add(chore);
    }
  };
  const runAlone = (chore: Chore): Promise<void> => {
    const current = running.get(chore) ?? run(chore).finally(() => running.delete(chore));
    running.set(chore, current);
    return current;
  };
  const timers = chores.map((chore) => setInterval(() => void runAlone(chore), chore.everyMs).unref());
  return {
    async end() {
      for (const timer of timers) clearInterval(timer);
      await Promise.all(running.values());
      await Promise.all(chores.filter(({ isLast }) => isLast).map(runAlone));
    },
  };
}
