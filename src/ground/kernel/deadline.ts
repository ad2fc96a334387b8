import { setMaxListeners } from 'node:events';

export interface Deadline {
  /** Aborted when the time is up, when the given signal aborts, and by `cancelWork`. */
  signal: AbortSignal;
  /** Whether the time is up, also when the event loop was blocked and the timer is late. */
  isOver(): boolean;
  /** Aborts everything that still waits for the signal. */
  cancelWork(): void;
}

/** A time limit shared by several operations. */
export function startDeadline(
  ms: number,
  signal?: AbortSignal,
  monotonicNow: () => number = () => performance.now(),
): Deadline {
  const endsAtMs = monotonicNow() + ms;
  const { controller, disarm } = arm(ms, signal);
  const cancelWork = () => {
    disarm();
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
): Promise<T> {
  const deadline = startDeadline(ms, signal);
  try {
    return await work(deadline.signal);
  } finally {
    deadline.cancelWork();
  }
}

/**
 * Runs `work` with a signal that aborts with `signal` or after `timeoutMs`. Then rejects with the reason of `signal`, or
 * with the error from `onTimeout`.
 */
export async function withinDeadline<T>(
  signal: AbortSignal,
  { timeoutMs, onTimeout }: { timeoutMs: number; onTimeout: () => Error },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const { controller, disarm } = arm(timeoutMs, signal, onTimeout);
  try {
    return await work(controller.signal);
  } catch (error) {
    if (controller.signal.aborted) throw controller.signal.reason;
    throw error;
  } finally {
    disarm();
  }
}

/**
 * Avoids `AbortSignal.any` and `AbortSignal.timeout`: Node 20 references their signals weakly. A collected signal never
 * fires, and a long-lived signal keeps all signals derived from it.
 */
function arm(ms: number, signal: AbortSignal | undefined, onTimeout?: () => Error) {
  const controller = new AbortController();
  // Dozens of queries listen to one signal; this is not a leak.
  setMaxListeners(0, controller.signal);
  const follow = () => controller.abort(signal?.reason);
  const timer = setTimeout(() => controller.abort(onTimeout?.()), ms);
  if (signal?.aborted) follow();
  else signal?.addEventListener('abort', follow, { once: true });
  const disarm = () => {
    clearTimeout(timer);
    signal?.removeEventListener('abort', follow);
  };
  return { controller, disarm };
}
