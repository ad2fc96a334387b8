import { setMaxListeners } from 'node:events';

export interface Deadline {
  /** Aborted when the time is up, when the given signal aborts, and by `cancelWork`. */
  signal: AbortSignal;
  /** Aborts everything that still waits for the signal. */
  cancelWork(): void;
}

/** A time limit shared by several operations. */
export function startDeadline(ms: number, signal?: AbortSignal): Deadline {
  const { controller, disarm } = arm(ms, signal);
  const cancelWork = () => {
    disarm();
    controller.abort();
  };
  return { signal: controller.signal, cancelWork };
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
