import type { UsageDimension, UsageWindow } from '../graphql/generated.js';
import { hasDashboardReads } from '../requests/request-filter.js';
import { go, usePlace } from '../routing/location.js';
import { useSession } from '../session/signed-in.js';

/** The window and the dimension of the overview. The URL has them, so that a reload and a shared link show the same. */
export interface UsageChoice {
  window: UsageWindow;
  by: UsageDimension;
  /** Whether reads of dashboards count. */
  dashboards: boolean;
}

export const WINDOWS: readonly { value: UsageWindow; label: string }[] = [
  { value: 'HOUR', label: 'Hour' },
  { value: 'DAY', label: '24 hours' },
  { value: 'MONTH', label: '30 days' },
];

export const WINDOW_WORDS: Record<UsageWindow, string> = {
  HOUR: 'in the last hour',
  DAY: 'in the last 24 hours',
  MONTH: 'in the last 30 days',
};

export const DIMENSIONS: readonly { value: UsageDimension; label: string }[] = [
  { value: 'DOOR', label: 'API' },
  { value: 'KEY', label: 'Key' },
  { value: 'OPERATION', label: 'Operation' },
  { value: 'STATUS', label: 'Status' },
];

/** The chosen view; usage by key needs a scope. */
export function useUsageChoice(): UsageChoice & { mayReadKeys: boolean } {
  const place = usePlace();
  const { query } = place;
  const mayReadKeys = useSession().apiKey.scopes.includes('KEYS');
  const of = (name: string) => query.get(name)?.toUpperCase();
  const window = WINDOWS.find(({ value }) => value === of('window'))?.value ?? 'HOUR';
  const by = DIMENSIONS.find(({ value }) => value === of('by'))?.value ?? 'DOOR';
  return {
    window,
    by: by === 'KEY' && !mayReadKeys ? 'DOOR' : by,
    dashboards: hasDashboardReads(place),
    mayReadKeys,
  };
}

export function choose({ window, by, dashboards }: UsageChoice): void {
  const shown = dashboards ? { dashboard: 'shown' } : {};
  const query = new URLSearchParams({ window: window.toLowerCase(), by: by.toLowerCase(), ...shown });
  go(`/?${query}`, { replace: true });
}
