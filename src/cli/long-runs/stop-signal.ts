/**
 * A signal that aborts at the first SIGINT (Ctrl-C) or SIGTERM; a second one ends the process at once. `release` ends the
 * listening.
 */
export function stopSignal(onStop: () => void = () => {}): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController();
  const stop = () => {
    controller.abort();
    onStop();
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  const release = () => {
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  };
  return { signal: controller.signal, release };
}
