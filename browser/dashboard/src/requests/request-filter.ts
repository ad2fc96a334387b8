import type { Door, RequestFilter, RequestOutcome } from '../graphql/generated.js';
import { go, type Place } from '../routing/location.js';

export const OUTCOMES: readonly RequestOutcome[] = ['OK', 'FAILED', 'REFUSED'];
export const DOORS: readonly Door[] = ['GRAPHQL', 'REST'];

/** Each parameter of the URL has the name of a field of `RequestFilter`. Values that no request can have are ignored. */
export function requestFilterOf({ query }: Place): RequestFilter {
  const text = (name: string) => query.get(name)?.trim() || undefined;
  const status = text('status');
  const filter: RequestFilter = {
    keyId: text('keyId'),
    door: DOORS.find((each) => each === text('door')),
    operation: text('operation'),
    outcome: OUTCOMES.find((each) => each === text('outcome')),
    requestId: text('requestId'),
    status: status !== undefined && /^\d{3}$/.test(status) ? Number(status) : undefined,
  };
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));
}

/** Whether the list also has the reads of dashboards: they would bury all other requests. */
export function hasDashboardReads({ query }: Place): boolean {
  return query.has('dashboard') || query.has('operation') || query.has('requestId');
}

/** The address of the list with this filter, below `/dashboard`. */
export function requestsPath(filter: RequestFilter): string {
  const given = Object.entries(filter).filter(([, value]) => value !== undefined && value !== null);
  const query = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]));
  return `/requests${query.size > 0 ? `?${query}` : ''}`;
}

export function showRequests(filter: RequestFilter): void {
  go(requestsPath(filter));
}

export function showDashboardReads(filter: RequestFilter): void {
  const path = requestsPath(filter);
  go(`${path}${path.includes('?') ? '&' : '?'}dashboard=shown`);
}
