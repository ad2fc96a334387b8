import type { History } from './history.js';
import type { Violation } from './violations.js';

const MAX_REPORTED = 5;
const NEAR_MS = 2_500;

/** An act on the processes, such as a kill. */
export interface Mishap {
  readonly what: string;
  readonly begunAt: number;
  readonly endedAt: number;
}

interface Found {
  history: History;
  violation: Violation;
}

/** Describes violations with the events around them, for debugging. Empty = no violations. */
export function report(found: readonly Found[], mishaps: readonly Mishap[]): string {
  if (found.length === 0) return '';
  const texts = found.slice(0, MAX_REPORTED).map((one) => describe(one, mishaps));
  return [`${found.length} violations`, ...texts].join('\n');
}

function describe({ history, violation }: Found, mishaps: readonly Mishap[]): string {
  const { kind, toy, read, seen, write } = violation;
  const writes = history.writes.filter((other) => other.toy === toy && other.begunAt < read.endedAt);
  const near = mishaps.filter(
    ({ begunAt, endedAt }) => endedAt > read.begunAt - NEAR_MS && begunAt < read.endedAt,
  );
  return [
    `${kind}: ${toy} is ${seen} instead of ${write?.value}`,
    `  read at ${read.at}, ${times(read)}`,
    ...writes
      .slice(-4)
      .map(
        (one) => `  write of ${one.value} at ${one.at}, ${times(one)}${one.isAcknowledged ? '' : ', failed'}`,
      ),
    ...near.map((one) => `  ${one.what}, ${times(one)}`),
  ].join('\n');
}

function times({ begunAt, endedAt }: { begunAt: number; endedAt: number }): string {
  return `${begunAt.toFixed(1)} to ${endedAt.toFixed(1)}`;
}
