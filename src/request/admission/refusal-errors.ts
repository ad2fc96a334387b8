import { durationInWords, MINUTE_MS } from '../../ground/kernel/duration.js';
import { AppError, invalidField } from '../../ground/kernel/errors.js';
import { got } from '../../ground/kernel/got.js';
import { LADDER_MINUTES, STRIKES_TO_BAN } from '../rate-limit/rules/bans.js';
import type { Refused, Standing } from '../rate-limit/rules/limiter.js';
import { allowanceMessage } from './cost.js';

/** The 401 for a caller without a valid key. The message is the same for every reason. Spec: Authentication. */
export function unauthorized(): AppError {
  return new AppError(
    'unauthorized',
    'The API key is missing or not valid. Send it as "Authorization: Bearer <API_KEY>".',
  );
}

/** The 429 for a refusal by the limiter. `nouns` are those of the gateway in words. Spec: Limits 2 and 3. */
export function rateLimited(refused: Refused, nouns: string): AppError {
  const { code, retryAfterSeconds, neverFits, allowance, isOfAllowance, strike } = refused;
  if (isOfAllowance && allowance) {
    const message = `${allowanceMessage(allowance, nouns)}; try again in ${durationInWords(retryAfterSeconds)}.`;
    return new AppError(code, message, { retryAfterSeconds, limit: allowance.limit });
  }
  const reason = {
    rate_limited_minute: 'The quota of this minute (UTC) is spent.',
    rate_limited_day: 'The quota of this day (UTC) is spent.',
    key_banned: 'This API key is temporarily banned, because it continued to send requests after a 429.',
  }[code];
  const left = durationInWords(retryAfterSeconds);
  if (strike !== null) {
    const early = code === 'key_banned' ? 'This request was' : `This request came ${left} early:`;
    const message = `${reason} ${early} strike ${strike} of ${STRIKES_TO_BAN}. Wait for Retry-After.`;
    return new AppError(code, message, { retryAfterSeconds, strikes: strike });
  }
  const advice = neverFits
    ? 'The operation costs more than a whole window allows: split it, or upgrade the plan.'
    : `Try again in ${left}, and back off exponentially.`;
  return new AppError(code, `${reason} ${advice}`, { retryAfterSeconds });
}

/** The 429 for an address that sends too many requests without a key. */
export function visitRefused({ code, retryAfterSeconds }: Refused, perMinute: number): AppError {
  const rule = `An address may send ${perMinute} requests a minute (UTC) that need no API key.`;
  const message = `${rule} Try again in ${durationInWords(retryAfterSeconds)}.`;
  return new AppError(code, message, { retryAfterSeconds });
}

const REHEARSALS = ['429 minute', '429 day', 'banned', 'sunset'] as const;
type Rehearsal = (typeof REHEARSALS)[number];

/** The refusal that the header `name` requests with its value. Throws `AppError invalid_request` for an unknown one. */
export function parseRehearsal(name: string, value: string): Rehearsal {
  const rehearsal = REHEARSALS.find((known) => known === value.trim());
  if (rehearsal) return rehearsal;
  throw invalidField(name, got(`must be one of ${REHEARSALS.join(', ')}`, value));
}

/** The refusal as it would be if the quota were spent or the key banned now; for `sunset` the 410. */
export function rehearsed(rehearsal: Rehearsal, standing: Standing): Refused | AppError {
  if (rehearsal === 'sunset') return new AppError('gone', 'Rehearsal: this operation has been removed.');
  const { atMs, minute, day } = standing;
  const spent = { remaining: 0, isViolated: true };
  const refusal = (code: Refused['code'], endsAtMs: number, shown: Partial<Standing>): Refused => ({
    ...standing,
    ...shown,
    code,
    retryAfterSeconds: Math.max(1, Math.ceil((endsAtMs - atMs) / 1000)),
    admitted: false,
    isOfAllowance: false,
    neverFits: false,
    strike: null,
    startsBan: false,
  });
  if (rehearsal === '429 minute')
    return refusal('rate_limited_minute', minute.resetAtSeconds * 1000, { minute: { ...minute, ...spent } });
  if (rehearsal === '429 day' && day)
    return refusal('rate_limited_day', day.resetAtSeconds * 1000, { day: { ...day, ...spent } });
  const untilMs = atMs + LADDER_MINUTES[0] * MINUTE_MS;
  const ban = { strikes: 0, untilSeconds: Math.ceil(untilMs / 1000), nextStepMinutes: LADDER_MINUTES[1] };
  return refusal('key_banned', untilMs, { ban });
}
