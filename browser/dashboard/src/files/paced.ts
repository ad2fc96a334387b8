import { refusalOf } from '../errors/refusal.js';
import { standing } from '../graphql/standing.js';

/** Why a long task waits, and until when. */
export interface Wait {
  reason: 'quota' | 'day' | 'refused' | 'away';
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
/** Refusals that change nothing and end at a known time. */
export const NOT_YET = ['RATE_LIMITED_MINUTE', 'RATE_LIMITED_DAY', 'KEY_BANNED', 'FIELD_RATE_LIMITED'];
/** Refusals that end automatically; then the same request may be sent again. `CONFLICT`: the first attempt still runs. */
const TEMPORARY = [...NOT_YET, 'UNAVAILABLE', 'CONFLICT'];

/**
 * Sends a request of a long task when there is room for it, and again after each temporary failure, until it is answered.
 * Rejects with other refusals, and when the signal aborts. `send` must be safe to repeat.
 */
export async function paced<Answer>(send: () => Promise<Answer>, pace: Pace): Promise<Answer> {
  for (let failures = 0; ; failures += 1) {
    for (let room = waitForRoom(pace); room.untilMs > Date.now(); room = waitForRoom(pace)) {
      await wait(room, pace);
    }
    pace.signal.throwIfAborted();
    try {
      return await send();
    } catch (error) {
      pace.signal.throwIfAborted();
      await wait(waitAfter(error, failures), pace);
    }
  }
}

/** When the windows have room. Never spends the last units of a minute, as a 429 would hit the other clients too. */
function waitForRoom({ of, units }: Pace): Wait {
  const known = standing.get();
  const day = of === 'minute' ? known?.day : null;
  if (day && day.remaining < units && Date.parse(day.resetAt) > Date.now()) {
    return { reason: 'day', untilMs: Date.parse(day.resetAt) };
  }
  const left = known?.[of];
  const hasRoom = !left || left.remaining === left.limit || left.remaining - units >= left.limit * SPARED;
  // The clock of this computer may differ from the gateway's.
  const untilMs = hasRoom ? 0 : Math.min(Date.parse(left.resetAt), Date.now() + WINDOW_MS);
  return { reason: 'quota', untilMs };
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
