import type { UsageDimension } from '../graphql/generated.js';

/** All that the gateway does not list by name. */
export const OTHER = 'other';

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
