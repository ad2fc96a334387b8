import type { DomainDetailFragment } from '../graphql/generated.js';

const FIRST_MS = 1_000;
const LONGEST_MS = 10_000;
const MOST_LOOKS = 60;
/** The gateway needs a moment after its own check. */
const AFTERWARDS_MS = 1_500;
const SHORTEST_WAIT_MS = 5_000;
const DAY_MS = 86_400_000;

type Looked = Pick<DomainDetailFragment, 'status' | 'nextCheckAt' | 'nextOrderAt'>;

/**
 * Milliseconds until the domain is read again; null = nothing will change automatically. While a certificate is being
 * issued, reads start frequent and slow down. Otherwise the next read follows the gateway's own next check: an earlier
 * read shows nothing new.
 */
export function nextLookMs(
  { status, nextCheckAt, nextOrderAt }: Looked,
  looks: number,
  nowMs: number,
): number | null {
  if (status === 'VERIFIED' || status === 'ISSUING') {
    return looks < MOST_LOOKS ? Math.min(LONGEST_MS, FIRST_MS * 1.5 ** looks) : null;
  }
  if (status === 'ACTIVE' || status === 'SUSPENDED' || status === 'REMOVED') return null;
  const planned = [nextCheckAt, nextOrderAt].flatMap((at) => (at ? [Date.parse(at)] : []));
  if (planned.length === 0) return null;
  const waitMs = Math.min(...planned) - nowMs + AFTERWARDS_MS;
  return waitMs > DAY_MS ? null : Math.max(SHORTEST_WAIT_MS, waitMs);
}
