import type { Door, RequestOutcome, SumsFragment, UsageDimension } from '../graphql/generated.js';
import { isDashboardOperation } from '../requests/dashboard-reads.js';
import { requestsPath } from '../requests/request-filter.js';

/** All that the gateway does not list by name. */
export const OTHER = 'other';
/** The dashboard's own operations as one: an open dashboard asks every ten seconds. */
export const OWN_LABEL = 'Dashboard';

const OTHERS: Record<UsageDimension, string> = {
  DOOR: 'Other',
  KEY: 'Other keys',
  OPERATION: 'Without a known operation',
  STATUS: 'Other',
};
const DOORS: Record<string, string> = { GRAPHQL: 'GraphQL', REST: 'REST' };
const STATUSES: Record<string, string> = {
  200: 'OK',
  201: 'created',
  304: 'not modified',
  400: 'bad request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not found',
  409: 'conflict',
  410: 'gone',
  413: 'too large',
  415: 'unsupported type',
  422: 'mismatch',
  429: 'too many requests',
  500: 'internal error',
  503: 'unavailable',
};

/** The name of a series for people. */
export function nameOfSeries({ name, label }: { name: string; label: string }, by: UsageDimension): string {
  if (name === OTHER) return OTHERS[by];
  if (by === 'DOOR') return DOORS[name] ?? label;
  if (by === 'STATUS') return [name, STATUSES[name]].filter(Boolean).join(' ');
  return label;
}

/** Whether only dashboards send the operation, as far as one can tell: it spends nothing of the plan. */
export function isOwn({ name, total }: { name: string; total: SumsFragment }): boolean {
  return total.units === 0 && isDashboardOperation(name);
}

/** The list of the requests of a series, below `/dashboard`; null = no filter finds them. */
export function requestsOfSeries(name: string, by: UsageDimension, outcome?: RequestOutcome): string | null {
  if (by === 'DOOR') return requestsPath({ door: name as Door, outcome });
  if (by === 'OPERATION') return requestsPath({ operation: name, outcome });
  if (name === OTHER) return null;
  return requestsPath(by === 'KEY' ? { keyId: name, outcome } : { status: Number(name), outcome });
}
