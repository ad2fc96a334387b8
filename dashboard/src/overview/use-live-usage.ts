import { useQuery } from '@apollo/client/react';
import { useCallback, useEffect, useState } from 'react';
import { useLastTouch, useShown } from '../elements/attention.js';
import { UsageOfDocument, type UsageOfQuery } from '../graphql/generated.js';
import { standing } from '../graphql/standing.js';

const IDLE_MS = 5 * 60_000;
/** A twentieth of the operations that a key has in a minute for everything but pets. */
const EVERY_MS = 10_000;
/** Below this share of them, what is left is for those who act. */
const SPARED = 0.2;

interface LiveUsage {
  usage: UsageOfQuery['project'] | undefined;
  error: unknown;
  /** Nobody has touched the page for long, or the key has few operations left. */
  isPaused: boolean;
  refresh: () => void;
}

/** The usage, read again and again, and not while it is not looked at. It spends nothing of the plan. */
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
      timer = setTimeout(look, EVERY_MS);
    };
    timer = setTimeout(look, EVERY_MS);
    return () => clearTimeout(timer);
  }, [isShown, lastTouchMs, refetch]);

  return { usage: data?.project, error, isPaused, refresh };
}

function isScarce(): boolean {
  const left = standing.get()?.management;
  return !!left && Date.parse(left.resetAt) > Date.now() && left.remaining < left.limit * SPARED;
}
