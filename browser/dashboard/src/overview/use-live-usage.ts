import { useQuery } from '@apollo/client/react';
import { useCallback } from 'react';
import { UsageOfDocument, type UsageOfQuery } from '../graphql/generated.js';
import { type LiveState, useLive } from '../live/use-live.js';

/** Uses a twentieth of a key's operations per minute for everything except pets. */
const EVERY_MS = 10_000;

interface LiveUsage {
  usage: UsageOfQuery['project'] | undefined;
  error: unknown;
  state: LiveState;
  refresh: () => void;
}

/** The usage, read repeatedly. Spends nothing of the plan. */
export function useLiveUsage(): LiveUsage {
  const { data, error, refetch } = useQuery(UsageOfDocument, {
    variables: { withMonth: true },
    fetchPolicy: 'cache-only',
  });
  const look = useCallback(() => refetch(), [refetch]);
  return { usage: data?.project, error, ...useLive(look, EVERY_MS) };
}
