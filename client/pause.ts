/** The time of a client. Tests have their own. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs `work` once, later. Returns what cancels it. */
  after(ms: number, work: () => void): () => void;
}

/** Longer timers fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

export const SYSTEM_CLOCK: Clock = {
  // A clock that is set back would stop every wait.
  now: () => performance.timeOrigin + performance.now(),
  after(ms, work) {
    const timer = setTimeout(work, Math.min(ms, LONGEST_MS));
    return () => clearTimeout(timer);
  },
};

/** Rejects with the reason of the signal when it aborts. */
export function pause(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => {
      unwatch();
      resolve();
    });
    const unwatch = onAbort(signal, (reason) => {
      cancel();
      reject(reason);
    });
  });
}

/** All calls with a signal share one listener: Node warns of more than ten. */
const WATCHES = new WeakMap<AbortSignal, Set<(reason: unknown) => void>>();

/** Calls `work` at once if the signal is aborted already. Returns what ends the watch: a signal can outlive many calls. */
export function onAbort(signal: AbortSignal | undefined, work: (reason: unknown) => void): () => void {
  if (!signal) return () => {};
  if (signal.aborted) {
    work(signal.reason);
    return () => {};
  }
  const works = WATCHES.get(signal) ?? new Set();
  if (!WATCHES.has(signal)) {
    WATCHES.set(signal, works);
    signal.addEventListener('abort', () => works.forEach((each) => void each(signal.reason)), { once: true });
  }
  works.add(work);
  return () => works.delete(work);
}
