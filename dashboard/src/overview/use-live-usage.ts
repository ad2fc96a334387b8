import { useQuery } from '@apollo/client/react';
import { useCallback, useEffect, useState } from 'react';
import { useLastTouch, useShown } from '../elements/attention.js';
import { UsageOfDocument, type UsageOfQuery } from '../graphql/generated.js';
import { standing } from '../graphql/standing.js';

const IDLE_MS = 5 * 60_000;
const FASTEST_MS = 5_000;
const SLOWEST_MS = 60_000;
/** The share of a minute's quota that looking at it may spend. */
const SHARE = 0.05;
/** Below it, what is left is for those who need it. */
const SPARED = 0.2;

interface LiveUsage {
  usage: UsageOfQuery['project'] | undefined;
  error: unknown;
  /** Nobody looks, nobody has touched the page for long, or little is left. */
  isPaused: boolean;
  refresh: () => void;
}

/** The usage, read again and again: seldom enough for the plan, and not while it is not looked at. */
export function useLiveUsage(): LiveUsage {
  const { data, error, refetch } = useQuery(UsageOfDocument, {
    variables: { withMonth: true },
    fetchPolicy: 'cache-and-network',
  });
  const isShown = useShown();
  const lastTouchMs = useLastTouch();
  const [isPaused, setPaused] = useState(false);
  const refresh = useCallback(() => {
    setPaused(false);
    refetch().catch(() => {
      // The hook shows it.
    });
  }, [refetch]);

  useEffect(() => {
    if (!isShown) return;
    let timer: ReturnType<typeof setTimeout>;
    const look = async () => {
      const isSparing = Date.now() - lastTouchMs > IDLE_MS || isScarce();
      setPaused(isSparing);
      if (!isSparing) await refetch().catch(() => {});
      timer = setTimeout(look, intervalMs());
    };
    timer = setTimeout(look, intervalMs());
    return () => clearTimeout(timer);
  }, [isShown, lastTouchMs, refetch]);

  return { usage: data?.project, error, isPaused, refresh };
}

function intervalMs(): number {
  const limit = standing.get()?.minute.limit ?? 0;
  return Math.min(SLOWEST_MS, Math.max(FASTEST_MS, 60_000 / (limit * SHARE)));
}

function isScarce(): boolean {
  const known = standing.get();
  const windows = known ? [known.minute, known.day] : [];
  return windows.some(
    (window) => window && Date.parse(window.resetAt) > Date.now() && window.remaining < window.limit * SPARED,
  );
}
