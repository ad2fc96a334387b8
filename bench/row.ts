import { type Contestant, startGateway } from './contestant.js';
import type { Tenant } from './dataset.js';
import type { Environment } from './environment.js';
import type { Measured, Pace } from './measure.js';

/** One line of the table: a workload, a goal and how the number comes about. */
export interface Row {
  name: string;
  goal: Goal;
  /** Whether the chart shows the requests per second of its contestants. */
  isInChart?: true;
  run(setting: Setting): Promise<RowResult>;
}

/** The number must be at least or at most this; `unit` × is a ratio. */
export interface Goal {
  unit: '×' | 'ms' | 'MB';
  atLeast?: number;
  atMost?: number;
}

export interface RowResult {
  /** Null where the system does not tell. */
  value: number | null;
  /** What the value means, where the name of the row does not say it all. */
  note: string;
  measured: Measured[];
}

export interface Setting {
  environment: Environment;
  pace: Pace;
  /** The peers without a goal take part, too. */
  withOrientation: boolean;
  largeRows: number;
  profileFolder: string | null;
}

export const CONNECTIONS = 32;

export function isMet({ atLeast = 0, atMost = Number.POSITIVE_INFINITY }: Goal, value: number): boolean {
  return value >= atLeast && value <= atMost;
}

export function gateway({ profileFolder }: Setting, tenant: Tenant): Promise<Contestant> {
  return startGateway(tenant, { profileFolder });
}

/** Ends them all, also when the work fails. */
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
