import { useEffect, useRef } from 'react';
import type { DomainDetailFragment } from '../graphql/generated.js';
import { useShown } from '../live/attention.js';
import { nextLookMs } from './next-look.js';

/** Reads the domain again while a change is expected, but not while the tab is hidden, or the gateway says when to read. */
export function useProgress(
  domain: DomainDetailFragment | undefined,
  look: () => Promise<unknown>,
  isFollowed: boolean,
): void {
  const isShown = useShown();
  const looks = useRef({ status: domain?.status, count: 0 });
  useEffect(() => {
    if (!domain || !isShown || isFollowed) return;
    if (looks.current.status !== domain.status) looks.current = { status: domain.status, count: 0 };
    let timer: ReturnType<typeof setTimeout>;
    const plan = () => {
      const waitMs = nextLookMs(domain, looks.current.count, Date.now());
      if (waitMs === null) return;
      timer = setTimeout(() => {
        looks.current.count += 1;
        // An unchanged result brings no new `domain`, so the next read is planned here too.
        look().then(plan, plan);
      }, waitMs);
    };
    plan();
    return () => clearTimeout(timer);
  }, [domain, isShown, look, isFollowed]);
}
