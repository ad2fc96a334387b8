import type { Door, RequestOutcome } from '../graphql/generated.js';

export const DOOR_NAMES: Record<Door, string> = { GRAPHQL: 'GraphQL', REST: 'REST' };

/** The tone of a badge. */
export const OUTCOME_TONES: Record<RequestOutcome, string> = { OK: 'good', FAILED: 'bad', REFUSED: 'warn' };

/** The HTTP status; of a GraphQL error with a status of success, its code. */
export function answerName({ status, code }: { status: number; code: string | null }): string {
  return status < 400 && code !== null ? code : String(status);
}

/** A duration for people: `0.4 ms`, `12 ms`, `1.2 s`. */
export function durationInWords(ms: number): string {
  if (ms >= 1_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${ms >= 10 ? Math.round(ms) : ms.toFixed(1)} ms`;
}
