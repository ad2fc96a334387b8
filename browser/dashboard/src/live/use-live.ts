import { useCallback, useEffect, useRef, useState } from 'react';
import { refusalOf } from '../errors/refusal.js';
import type { StandingFragment, UpdateKind } from '../graphql/generated.js';
import { standing } from '../graphql/standing.js';
import { useLastTouch, useShown } from './attention.js';
import { useUpdates } from './use-source.js';

const IDLE_MS = 5 * 60_000;
/** Uses a sixth of a key's operations per minute when updates never end. */
const UPDATES_EVERY_MS = 3_000;
/** An update that was lost is noticed after this time. */
export const LOOK_ANYWAY_MS = 5 * 60_000;
const FIRST_RETRY_MS = 2_000;
const LONGEST_RETRY_MS = 60_000;
/** Below this share, the remaining operations are kept for the user's own actions. */
const SPARED = 0.2;
const CONNECTING = { kind: 'connecting' } as const;

/**
 * The age of the data, as far as the page knows it. `polled`: it is read once a minute. `paused`: nobody looks, or the key
 * has few operations left.
 */
export type LiveState =
  | { kind: 'connecting' | 'live' | 'polled' | 'paused' }
  /** The last look failed; the next one is planned. */
  | { kind: 'away'; retryAtMs: number };

interface Live {
  state: LiveState;
  /** Looks at once. */
  refresh: () => void;
  /** The gateway tells of updates now. */
  isFollowed: boolean;
}

interface Options {
  /** The page has just read the data, so the first look waits too. */
  waitsFirst?: boolean;
  /** Whether few operations are left of those that a look spends. */
  isScarce?: () => boolean;
  /** The kind of updates that change the data; null = the gateway tells of none. */
  updates?: UpdateKind | null;
}

/**
 * Looks repeatedly while the page is visible and in use; never if `usuallyMs` is null. While the gateway tells of `updates`
 * it looks only then. After a failure it tries again with exponential back-off, at Retry-After, or as soon as the network is
 * back. `look` rejects when it fails.
 */
export function useLive(
  look: () => Promise<unknown>,
  usuallyMs: number | null,
  { waitsFirst = false, isScarce = isAllowanceScarce, updates = null }: Options = {},
): Live {
  const isShown = useShown();
  const lastTouchMs = useLastTouch();
  const [state, setState] = useState<LiveState>(CONNECTING);
  const failures = useRef(0);
  /** 0 = at once, even if the page is idle. */
  const dueAtMs = useRef(0);
  const isWaiting = useRef(waitsFirst);
  /** The gateway has named the time of the next look. */
  const mustWait = useRef(false);
  const lookedAtMs = useRef(waitsFirst ? Date.now() : 0);
  const [asked, setAsked] = useState(0);
  const refresh = useCallback(() => {
    dueAtMs.current = 0;
    setAsked((count) => count + 1);
  }, []);

  const lookBy = useCallback((atMs: number) => {
    dueAtMs.current = Math.min(dueAtMs.current, atMs);
    setAsked((count) => count + 1);
  }, []);
  const wake = useCallback(() => {
    if (!mustWait.current) lookBy(Math.max(Date.now(), lookedAtMs.current + UPDATES_EVERY_MS));
  }, [lookBy]);
  const isFollowed = useUpdates(updates, wake);
  const everyMs = usuallyMs !== null && isFollowed ? LOOK_ANYWAY_MS : usuallyMs;

  // biome-ignore lint/correctness/useExhaustiveDependencies: `asked` restarts the plan.
  useEffect(() => {
    if (everyMs === null) {
      isWaiting.current = waitsFirst;
      setState(CONNECTING);
    }
    if (!isShown || everyMs === null) return;
    if (isWaiting.current) dueAtMs.current = Date.now() + everyMs;
    isWaiting.current = false;
    // The gateway has ended its updates.
    if (failures.current === 0) dueAtMs.current = Math.min(dueAtMs.current, Date.now() + everyMs);
    let isOver = false;
    let timer: ReturnType<typeof setTimeout>;
    const plan = (waitMs: number) => {
      if (isOver) return;
      dueAtMs.current = Date.now() + waitMs;
      timer = setTimeout(run, waitMs);
    };
    const run = async () => {
      if (dueAtMs.current !== 0 && (Date.now() - lastTouchMs > IDLE_MS || isScarce())) {
        setState({ kind: 'paused' });
        plan(everyMs);
        // A user who returns sees the present at once.
        dueAtMs.current = Date.now();
        return;
      }
      lookedAtMs.current = Date.now();
      dueAtMs.current = lookedAtMs.current + everyMs;
      try {
        await look();
        failures.current = 0;
        mustWait.current = false;
        setState({ kind: 'live' });
        plan(everyMs);
      } catch (error) {
        const waitMs = waitAfter(error, failures.current);
        failures.current += 1;
        mustWait.current = refusalOf(error)?.retryAfterSeconds !== undefined;
        setState({ kind: 'away', retryAtMs: Date.now() + waitMs });
        if (isOver) lookBy(Date.now() + waitMs);
        else plan(waitMs);
      }
    };
    timer = setTimeout(run, Math.max(0, dueAtMs.current - Date.now()));
    addEventListener('online', refresh);
    return () => {
      isOver = true;
      clearTimeout(timer);
      removeEventListener('online', refresh);
    };
  }, [isShown, lastTouchMs, look, everyMs, waitsFirst, isScarce, asked, refresh, lookBy]);

  return { state, refresh, isFollowed };
}

/** Milliseconds until the next attempt; `failures` is the number of failures before this one. */
function waitAfter(error: unknown, failures: number): number {
  const retryAfterSeconds = refusalOf(error)?.retryAfterSeconds;
  if (retryAfterSeconds !== undefined) return retryAfterSeconds * 1000;
  const waitMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures);
  // Pages that lost the same gateway must not all return in the same second.
  return waitMs * (0.75 + Math.random() / 2);
}

function isAllowanceScarce(): boolean {
  return isBelow(SPARED, standing.get()?.management);
}

/** Whether less than this share of a window is left. */
export function isBelow(share: number, window: StandingFragment['management'] | undefined): boolean {
  return !!window && Date.parse(window.resetAt) > Date.now() && window.remaining < window.limit * share;
}
