import { useEffect, useState, useSyncExternalStore } from 'react';

const TOUCHES = ['pointerdown', 'keydown', 'pointermove'] as const;
const COARSE_MS = 60_000;

/** Whether the tab is visible. */
export function useShown(): boolean {
  return useSyncExternalStore(
    (listener) => {
      document.addEventListener('visibilitychange', listener);
      return () => document.removeEventListener('visibilitychange', listener);
    },
    () => !document.hidden,
  );
}

/** When the user last did something, to the minute. */
export function useLastTouch(): number {
  const [lastMs, setLastMs] = useState(Date.now);
  useEffect(() => {
    const touch = () => setLastMs((last) => (Date.now() - last > COARSE_MS ? Date.now() : last));
    for (const name of TOUCHES) document.addEventListener(name, touch, { passive: true });
    return () => {
      for (const name of TOUCHES) document.removeEventListener(name, touch);
    };
  }, []);
  return lastMs;
}
