import { type Contestant, startGateway } from './contestant.js';
import type { Tenant } from './dataset.js';
import type { Environment } from './environment.js';
import type { RequestTemplate } from './load-job.js';
import type { Measured, Pace, Subject } from './measure.js';

/** A line of the table: a workload, its goal and its measurement. */
export interface Row {
  name: string;
  goal: Goal;
  /** Whether the chart shows its contestants' requests per second. */
  isInChart?: true;
  run(setting: Setting): Promise<RowResult>;
}

/** The bound of the measured value; the unit × is a ratio. */
export interface Goal {
  unit: '×' | '%' | 'µs' | 'ms' | 'MB';
  atLeast?: number;
  atMost?: number;
}

export interface RowResult {
  /** Null if this system does not show it. */
  value: number | null;
  /** The meaning of the value, beyond the name of the row. */
  note: string;
  measured: Measured[];
}

export interface Setting {
  environment: Environment;
  pace: Pace;
  /** Whether the peers without a goal run too. */
  withOrientation: boolean;
  largeRows: number;
  profileFolder: string | null;
}

export const CONNECTIONS = 32;

export function isMet({ atLeast = 0, atMost = Number.POSITIVE_INFINITY }: Goal, value: number): boolean {
  return value >= atLeast && value <= atMost;
}

/** The measured value with its unit. */
export function measuredOf({ value, goal: { unit } }: { value: number | null; goal: Goal }): string {
  if (value === null) return 'unknown on this system';
  return `${unit === '×' || unit === '%' ? value.toFixed(2) : Math.round(value).toLocaleString('en')} ${unit}`;
}

export function gateway({ profileFolder }: Setting, tenant: Tenant): Promise<Contestant> {
  return startGateway(tenant, { profileFolder });
}

/** A contestant with load on `CONNECTIONS`; `requestsPerSecond` null = each sends its next request when it is answered. */
export function subjectOf(
  { name, origin, processId }: Contestant,
  request: RequestTemplate,
  requestsPerSecond: number | null = null,
): Subject {
  const job = { origins: [origin], request, connections: CONNECTIONS, seconds: 0, requestsPerSecond };
  return { name, processIds: [processId], job };
}

/** Runs the work with started contestants, and stops them all, also if the work fails. */
export async function withContestants<T>(
  starting: readonly Promise<Contestant>[],
  work: (contestants: Contestant[]) => Promise<T>,
): Promise<T> {
  const settled = await Promise.allSettled(starting);
  const started = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  try {
    const failed = settled.find((one) => one.status === 'rejected');
    if (failed) throw failed.reason;
    return await work(started);
  } finally {
    await Promise.all(started.map((contestant) => contestant.stop()));
  }
}
