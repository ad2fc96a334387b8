import { useSyncExternalStore } from 'react';

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let now = Date.now();

/** The current time, updated every second while the page is visible. All components share a timer. */
export function useNow(): number {
  return useAtNow((nowMs) => nowMs);
}

/** A value that follows from the current time. The component renders again only when the value changes. */
export function useAtNow<Value extends string | number | boolean>(of: (nowMs: number) => Value): Value {
  return useSyncExternalStore(subscribe, () => of(now));
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) {
    now = Date.now();
    timer = setInterval(tick, 1000);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) clearInterval(timer);
  };
}

function tick(): void {
  if (document.hidden) return;
  now = Date.now();
  for (const listener of listeners) listener();
}
