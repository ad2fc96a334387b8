import { useApolloClient } from '@apollo/client/react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { UsageOfDocument, type UsageOfQuery } from '../graphql/generated.js';
import { type LiveState, useLive } from '../live/use-live.js';
import { type UsageChoice, useUsageChoice } from './usage-choice.js';

/** Uses a twentieth of a key's operations per minute for everything except pets. */
const EVERY_MS = 10_000;

/** The usage as of the newest answer, with the view that it belongs to. */
export interface KnownUsage extends UsageChoice {
  usage: UsageOfQuery['project'];
}

interface LiveUsage {
  known: KnownUsage | null;
  /** The newest answer belongs to a view that was left; the one of the present view is on its way. */
  isStale: boolean;
  error: unknown;
  state: LiveState;
  refresh: () => void;
}

/** The usage of the chosen view, read repeatedly. Spends nothing of the plan. */
export function useLiveUsage(): LiveUsage {
  const client = useApolloClient();
  const { window, by, mayReadKeys } = useUsageChoice();
  const [known, setKnown] = useState<KnownUsage | null>(null);
  const [error, setError] = useState<unknown>(null);
  const wanted = useRef('');
  wanted.current = `${window}/${by}`;
  const look = useCallback(async () => {
    const isWanted = () => wanted.current === `${window}/${by}`;
    try {
      const variables = { window, by, withKeys: mayReadKeys };
      // Not cached: each answer replaces the one before as a whole.
      const { data } = await client.query({ query: UsageOfDocument, variables, fetchPolicy: 'no-cache' });
      if (!isWanted() || !data) return;
      setKnown({ window, by, usage: data.project });
      setError(null);
    } catch (refused) {
      if (isWanted()) setError(refused);
      throw refused;
    }
  }, [client, window, by, mayReadKeys]);
  const { state, refresh } = useLive(look, EVERY_MS);
  const isStale = known !== null && (known.window !== window || known.by !== by);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another view is read at once.
  useEffect(() => refresh(), [window, by, refresh]);
  return { known, isStale, error, state, refresh };
}
