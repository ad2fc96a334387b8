import { setMaxListeners } from 'node:events';

export interface Deadline {
  /** Aborted when the time is up, when the given signal aborts, and by `cancelWork`. */
  signal: AbortSignal;
  /** Whether the time is up, also when the event loop was blocked and the timer is late. */
  isOver(): boolean;
  /** Aborts everything that still waits for the signal. */
  cancelWork(): void;
}

/**
 * A time limit shared by several operations.
 *
 * Avoids `AbortSignal.any` and `AbortSignal.timeout`: Node 20 references their signals weakly. A collected signal never
 * fires, and a long-lived signal keeps all signals derived from it.
 */
export function startDeadline(
  ms: number,
  signal?: AbortSignal,
  monotonicNow: () => number = () => performance.now(),
  onTimeout?: () => Error,
): Deadline {
  const endsAtMs = monotonicNow() + ms;
  const controller = new AbortController();
  // Dozens of queries listen to one signal, and dozens of deadlines follow another; this is not a leak.
  setMaxListeners(0, controller.signal);
  if (signal) setMaxListeners(0, signal);
  const follow = () => controller.abort(signal?.reason);
  const timer = setTimeout(() => controller.abort(onTimeout?.()), ms);
  if (signal?.aborted) follow();
  else signal?.addEventListener('abort', follow, { once: true });
  const cancelWork = () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', follow);
    controller.abort();
  };
  const isOver = () => controller.signal.aborted || monotonicNow() >= endsAtMs;
  return { signal: controller.signal, isOver, cancelWork };
}

/** Runs `work` with a signal that aborts with `signal`, after `ms`, and once `work` has ended. */
export async function withTimeLimit<T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
  onTimeout?: () => Error,
): Promise<T> {
  const deadline = startDeadline(ms, signal, undefined, onTimeout);
  try {
    return await work(deadline.signal);
  } finally {
    deadline.cancelWork();
  }
}

/** As `withTimeLimit`. Rejects with the reason of `signal`, or with the error from `onTimeout`, when one ended the work. */
export async function withinDeadline<T>(
  signal: AbortSignal,
  { timeoutMs, onTimeout }: { timeoutMs: number; onTimeout: () => Error },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const limited = (deadline: AbortSignal) =>
    work(deadline).catch((error) => {
      throw deadline.aborted ? deadline.reason : error;
    });
  return withTimeLimit(timeoutMs, signal, limited, onTimeout);
}
