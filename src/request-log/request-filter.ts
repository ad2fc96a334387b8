import { hash } from 'node:crypto';
import type { RequestOutcome } from '../kernel/answered-request.js';
import type { LoggedDoor } from './logged-request.entity.js';

/** A request must have all the given values. */
export interface RequestFilter {
  keyId?: bigint;
  door?: LoggedDoor;
  operation?: string;
  status?: number;
  outcome?: RequestOutcome;
  requestId?: string;
}

const COLUMNS = {
  keyId: 'key_id',
  door: 'door',
  operation: 'operation',
  status: 'status',
  outcome: 'outcome',
  requestId: 'request_id',
} as const satisfies Record<keyof RequestFilter, string>;

type Condition = [name: keyof RequestFilter, value: bigint | number | string];

function conditionsOf(filter: RequestFilter): Condition[] {
  const names = Object.keys(COLUMNS) as (keyof RequestFilter)[];
  return names.flatMap((name): Condition[] => {
    const value = filter[name];
    return value === undefined ? [] : [[name, value]];
  });
}

export function isFiltering(filter: RequestFilter): boolean {
  return conditionsOf(filter).length > 0;
}

/** SQL that follows other conditions, with its values. */
export function filterSql(filter: RequestFilter): { sql: string; values: unknown[] } {
  const conditions = conditionsOf(filter);
  return {
    sql: conditions.map(([name]) => ` AND ${COLUMNS[name]} = ?`).join(''),
    values: conditions.map(([, value]) => (endsInBlank(value) ? null : value)),
  };
}

/** MySQL ignores blanks at the end. No stored value has one, and nothing equals NULL. */
function endsInBlank(value: bigint | number | string): boolean {
  return typeof value === 'string' && value.endsWith(' ');
}

/** A name of the filtered list, for its cursors; equal filters have equal names. */
export function listName(filter: RequestFilter): string {
  const text = JSON.stringify(conditionsOf(filter).map(([name, value]) => [name, String(value)]));
  return `requests/${hash('sha256', text, 'hex').slice(0, 12)}`;
}
