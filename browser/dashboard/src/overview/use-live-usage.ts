import { useApolloClient } from '@apollo/client/react';
import { useCallback, useEffect, useRef, useState } from 'react';
import { UsageOfDocument, type UsageOfQuery } from '../graphql/generated.js';
import { type LiveState, useLive } from '../live/use-live.js';
import { requestsOf } from './rates.js';
import { type UsageChoice, useUsageChoice } from './usage-choice.js';

/** Uses a tenth of a key's operations per minute for everything outside of the plan. */
const EVERY_MS = 10_000;
/** While the first request of a project is awaited: a fifth. */
const AWAITING_MS = 5_000;

/** The usage as of the newest answer, with the view that it belongs to. */
export interface KnownUsage extends UsageChoice {
  usage: UsageOfQuery['project'];
  /** Undefined = the key of the session may not see them. */
  apiKeys: UsageOfQuery['apiKeys'];
}

export interface LiveUsage {
  known: KnownUsage | null;
  /** `awaited`: the project had no request in 30 days; `arrived`: its first one came since; null = it had some before. */
  first: 'awaited' | 'arrived' | null;
  /** The newest answer belongs to a view that was left; the one of the present view is on its way. */
  isStale: boolean;
  error: unknown;
  state: LiveState;
  refresh: () => void;
}

/** The usage of the chosen view, read repeatedly. Spends nothing of the plan. */
export function useLiveUsage(): LiveUsage {
  const client = useApolloClient();
  const { window, by, dashboards, mayReadKeys } = useUsageChoice();
  const [known, setKnown] = useState<KnownUsage | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [first, setFirst] = useState<LiveUsage['first']>(null);
  const isEmpty = useRef(true);
  const wanted = useRef('');
  const name = `${window}/${by}/${dashboards}`;
  wanted.current = name;
  const look = useCallback(async () => {
    const isWanted = () => wanted.current === name;
    try {
      const withMonth = isEmpty.current;
      const variables = { window, by, dashboards, withKeys: mayReadKeys, withMonth };
      // Not cached: each answer replaces the one before as a whole.
      const { data } = await client.query({ query: UsageOfDocument, variables, fetchPolicy: 'no-cache' });
      if (!isWanted() || !data) return;
      if (data.project.month) {
        isEmpty.current = requestsOf(data.project.month.total) === 0;
        setFirst((before) => (isEmpty.current ? 'awaited' : before && 'arrived'));
      }
      setKnown({ window, by, dashboards, usage: data.project, apiKeys: data.apiKeys });
      setError(null);
    } catch (refused) {
      if (isWanted()) setError(refused);
      throw refused;
    }
  }, [client, name, window, by, dashboards, mayReadKeys]);
  const { state, refresh } = useLive(look, first === 'awaited' ? AWAITING_MS : EVERY_MS);
  const isStale = known !== null && name !== `${known.window}/${known.by}/${known.dashboards}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another view is read at once.
  useEffect(() => refresh(), [name, refresh]);
  return { known, first, isStale, error, state, refresh };
}
