/**
 * A part of the platform, such as usage, as the process runs it. It has the members that it needs, and `app/` loops over those
 * of all capabilities. Its class names its tables: `static readonly schema`. D-267.
 */
export interface Capability {
  /** Deletes some rows that are no longer needed. Called each minute. */
  deleteOldRows?(): Promise<unknown>;
  readonly chores?: readonly Chore[];
  readonly readings?: readonly Reading[];
}

/** Background work. */
export interface Chore {
  /** In the log and in metrics. */
  readonly name: string;
  readonly everyMs: number;
  /** Runs once more at shutdown: `isEnd`. */
  work(isEnd: boolean): Promise<unknown>;
}

/**
 * A metric that is read when Prometheus asks; a counter's name ends in `_total`. It returns values by the value of the label,
 * one value without a label, or one with several labels; null = there is none. The name of a capability's metric is without
 * that of the gateway.
 */
export type Reading = readonly [
  name: string,
  help: string,
  read: () => Values | Promise<Values>,
  label?: string | readonly string[],
];

type Values = number | Record<string, number> | [labels: Record<string, string>, value: number] | null;
