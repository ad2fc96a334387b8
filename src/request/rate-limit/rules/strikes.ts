/**
 * Decides which refused requests are strikes. A key's refused requests are counted at two paces. Each pace has its own
 * length of a pause, and a pause takes requests off its count. Beyond `most`, each counted request is a strike.
 *
 * Eight clients that back off send as many requests as one that does not: a number cannot tell them apart. Their pauses
 * can. Pauses that grow soon take off more than is added. D-261.
 */
export const PACES = {
  /** Five requests a second are banned within ten seconds. */
  fast: { pauseMs: 250, forgivingMs: 50, apartMs: 0, most: 34 },
  /** A request every two seconds is banned within two minutes. */
  slow: { pauseMs: 2_150, forgivingMs: 200, apartMs: 1_500, most: 46 },
} as const;

/** Not counted after a key's first 429: requests that were sent, or waited in the client's pool, before it arrived. */
export const BURST_MS = 1_000;

export interface Pace {
  /** A shorter time between two refused requests is no pause. */
  readonly pauseMs: number;
  /** Each time of this length beyond it takes one request off. */
  readonly forgivingMs: number;
  /** Requests that are closer than this count once. */
  readonly apartMs: number;
  readonly most: number;
}

/** A key's refused requests in a block; see `BanRecord`. Immutable. */
export interface RefusedRequests {
  readonly lastAtMs: number;
  readonly fast: number;
  readonly slow: number;
  /** When the slow pace counted last. */
  readonly slowAtMs: number;
}

/** The counts after a further request, `sinceFirstMs` after the first; and whether it is a strike. */
export function afterFurther(
  known: RefusedRequests,
  nowMs: number,
  sinceFirstMs: number,
): { refused: RefusedRequests; isStrike: boolean } {
  const { lastAtMs, slowAtMs } = known;
  if (sinceFirstMs <= BURST_MS) return { refused: { ...known, lastAtMs: nowMs }, isStrike: false };
  const pauseMs = nowMs - lastAtMs;
  const isApart = nowMs - slowAtMs >= PACES.slow.apartMs;
  const fast = counted(PACES.fast, known.fast, pauseMs, 1);
  const slow = counted(PACES.slow, known.slow, pauseMs, isApart ? 1 : 0);
  return {
    refused: {
      lastAtMs: nowMs,
      fast: Math.min(fast, PACES.fast.most),
      slow: Math.min(slow, PACES.slow.most),
      slowAtMs: isApart ? nowMs : slowAtMs,
    },
    isStrike: fast > PACES.fast.most || slow > PACES.slow.most,
  };
}

function counted({ pauseMs, forgivingMs }: Pace, count: number, sinceLastMs: number, added: number): number {
  const forgiven = Math.max(0, Math.floor((sinceLastMs - pauseMs) / forgivingMs));
  return Math.max(0, count - forgiven) + added;
}
