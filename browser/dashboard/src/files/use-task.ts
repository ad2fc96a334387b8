import { useEffect, useRef, useState } from 'react';
import type { Wait } from './paced.js';

type TaskState = 'running' | 'done' | 'stopped' | 'failed';

interface Task {
  state: TaskState | null;
  /** Why it failed. */
  error: unknown;
  wait: Wait | null;
  start: () => void;
  stop: () => void;
}

interface Tools {
  signal: AbortSignal;
  onWait: (wait: Wait | null) => void;
}

/**
 * A task that takes a while and can be stopped. It stops with its component. The browser asks before it leaves the page,
 * unless a reload continues the task.
 */
export function useTask(run: (tools: Tools) => Promise<void>, { outlivesPage = false } = {}): Task {
  const [state, setState] = useState<TaskState | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [wait, setWait] = useState<Wait | null>(null);
  const controller = useRef<AbortController | null>(null);
  useEffect(() => () => controller.current?.abort(), []);
  useEffect(() => {
    if (state !== 'running' || outlivesPage) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [state, outlivesPage]);
  const start = async () => {
    const mine = new AbortController();
    controller.current = mine;
    setError(null);
    setState('running');
    try {
      await run({ signal: mine.signal, onWait: setWait });
      setState('done');
    } catch (refused) {
      if (!mine.signal.aborted) setError(refused);
      setState(mine.signal.aborted ? 'stopped' : 'failed');
    } finally {
      setWait(null);
    }
  };
  return { state, error, wait, start: () => void start(), stop: () => controller.current?.abort() };
}
