import { refusalOf } from '../errors/refusal.js';
import { standing } from '../graphql/standing.js';

/** Why a long task waits, and until when. */
export interface Wait {
  reason: 'quota' | 'refused' | 'away';
  untilMs: number;
}

interface Pace {
  /** The allowance that a request spends: units of the plan, or operations of the key. */
  of: 'minute' | 'management';
  units: number;
  signal: AbortSignal;
  /** Null = it continues. */
  onWait: (wait: Wait | null) => void;
}

/** Of the plan and of the key's operations, this share is left to the project's other clients. */
export const SPARED = 0.1;
const WINDOW_MS = 60_000;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;
/** Refusals that end within a minute or so, then the same request may be sent again. `CONFLICT`: the first attempt still runs. */
const TEMPORARY = ['RATE_LIMITED_MINUTE', 'FIELD_RATE_LIMITED', 'UNAVAILABLE', 'CONFLICT'];

/**
 * Sends a request of a long task when there is room for it, and again after each temporary failure, until it is answered.
 * Rejects with other refusals, and when the signal aborts. `send` must be safe to repeat.
 */
export async function paced<Answer>(send: () => Promise<Answer>, pace: Pace): Promise<Answer> {
  for (let failures = 0; ; failures += 1) {
    const roomAtMs = nextRoomMs(pace);
    if (roomAtMs > Date.now()) await wait({ reason: 'quota', untilMs: roomAtMs }, pace);
    pace.signal.throwIfAborted();
    try {
      return await send();
    } catch (error) {
      pace.signal.throwIfAborted();
      await wait(waitAfter(error, failures), pace);
    }
  }
}

/** When the window has room; 0 = now. Never spends the last units, as a 429 would hit the other clients too. */
function nextRoomMs({ of, units }: Pace): number {
  const left = standing.get()?.[of];
  if (!left || left.remaining === left.limit) return 0;
  if (left.remaining - units >= left.limit * SPARED) return 0;
  // The clock of this computer may differ from the gateway's.
  return Math.min(Date.parse(left.resetAt), Date.now() + WINDOW_MS);
}

function waitAfter(error: unknown, failures: number): Wait {
  const refusal = refusalOf(error);
  if (refusal && !TEMPORARY.includes(refusal.code)) throw error;
  if (refusal?.retryAfterSeconds !== undefined) {
    return { reason: 'refused', untilMs: Date.now() + refusal.retryAfterSeconds * 1_000 };
  }
  const waitMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures);
  return { reason: 'away', untilMs: Date.now() + waitMs };
}

async function wait(until: Wait, { signal, onWait }: Pace): Promise<void> {
  onWait(until);
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, until.untilMs - Date.now());
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    signal.addEventListener('abort', stop, { once: true });
  });
  onWait(null);
}
