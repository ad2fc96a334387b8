import { setMaxListeners } from 'node:events';

export interface Deadline {
  /** Aborted when the time is over, when whoever asked gives up, and by `end`. */
  signal: AbortSignal;
  /** Stops what still waits for the signal. */
  end(): void;
}

/** A bound on waiting for many things at once. */
export function startDeadline(ms: number, signal?: AbortSignal): Deadline {
  const { controller, disarm } = arm(ms, signal);
  const end = () => {
    disarm();
    controller.abort();
  };
  return { signal: controller.signal, end };
}

/**
 * Runs `work` with a signal that fires when `signal` does or when the time is up. Then rejects with the reason of `signal`,
 * or with what `onTimeout` makes.
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
 * Not `AbortSignal.any` with `AbortSignal.timeout`: in Node 20 both hold on to their signals weakly, so that one that is
 * collected never fires, and a long-lived signal keeps what was derived from it.
 */
function arm(ms: number, signal: AbortSignal | undefined, onTimeout?: () => Error) {
  const controller = new AbortController();
  // Dozens of questions wait for one signal, and that is no leak.
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
