import { AppError, invalidRequest } from '../kernel/errors.js';
import { LADDER_MINUTES } from '../rate-limit/rules/bans.js';
import type { Refused, Standing } from '../rate-limit/rules/decision.js';

const REHEARSALS = ['429 minute', '429 day', 'banned', 'sunset'] as const;
export type Rehearsal = (typeof REHEARSALS)[number];

/** The refusal that the `Petstore-Rehearse` header requests. Throws `AppError invalid_request` for an unknown value. */
export function parseRehearsal(header: string): Rehearsal {
  const rehearsal = REHEARSALS.find((name) => name === header.trim());
  if (rehearsal) return rehearsal;
  throw invalidRequest([{ field: 'Petstore-Rehearse', message: `must be one of ${REHEARSALS.join(', ')}` }]);
}

/** The refusal as it would be if the quota were spent or the key banned now; for `sunset` the 410. */
export function rehearsed(rehearsal: Rehearsal, standing: Standing): Refused | AppError {
  if (rehearsal === 'sunset') return new AppError('gone', 'Rehearsal: this operation has been removed.');
  const { atMs, minute, day } = standing;
  const spent = { remaining: 0, isViolated: true };
  const until = (seconds: number) => Math.max(1, Math.ceil(seconds - atMs / 1000));
  const verdict = { admitted: false, isOfAllowance: false, neverFits: false, startsBan: false } as const;
  const refusal = { ...standing, ...verdict };
  if (rehearsal === '429 minute') {
    const retryAfterSeconds = until(minute.resetAtSeconds);
    return { ...refusal, code: 'rate_limited_minute', minute: { ...minute, ...spent }, retryAfterSeconds };
  }
  if (rehearsal === '429 day' && day) {
    const retryAfterSeconds = until(day.resetAtSeconds);
    return { ...refusal, code: 'rate_limited_day', day: { ...day, ...spent }, retryAfterSeconds };
  }
  const retryAfterSeconds = LADDER_MINUTES[0] * 60;
  const untilSeconds = Math.ceil(atMs / 1000) + retryAfterSeconds;
  const ban = { strikes: 0, untilSeconds, nextStepMinutes: LADDER_MINUTES[1] };
  return { ...refusal, code: 'key_banned', ban, retryAfterSeconds };
}
