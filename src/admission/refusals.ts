import { durationInWords } from '../kernel/duration.js';
import { AppError } from '../kernel/errors.js';
import type { Refused } from '../rate-limit/rules/decision.js';
import { inWords } from './cost.js';

/** The 401 for a caller without a valid key. The message is the same for every reason. Spec: Authentication. */
export function unauthorized(): AppError {
  return new AppError(
    'unauthorized',
    'The API key is missing or not valid. Send it as "Authorization: Bearer <API_KEY>".',
  );
}

/** The 429 for a refusal by the limiter. Spec: Limits 2 and 3. */
export function rateLimited(refused: Refused): AppError {
  const { code, retryAfterSeconds, neverFits, allowance, isOfAllowance } = refused;
  if (isOfAllowance && allowance) {
    const { rule, advice } = inWords(allowance.name);
    const message = `${rule}. ${advice}; try again in ${durationInWords(retryAfterSeconds)}.`;
    return new AppError(code, message, { retryAfterSeconds, limit: allowance.limit });
  }
  const reason = {
    rate_limited_minute: 'The quota of this minute (UTC) is spent.',
    rate_limited_day: 'The quota of this day (UTC) is spent.',
    key_banned: 'This API key is temporarily banned, because it continued to send requests after a 429.',
  }[code];
  const advice = neverFits
    ? 'The operation costs more than a whole window allows: split it, or upgrade the plan.'
    : `Try again in ${durationInWords(retryAfterSeconds)}, and back off exponentially.`;
  return new AppError(code, `${reason} ${advice}`, { retryAfterSeconds });
}
