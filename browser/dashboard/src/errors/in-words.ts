import { NOUN_WORDS } from '../../../gateway.js';
import { capitalized } from '../../../nouns.js';
import { refusalOf } from './refusal.js';

/** An error for people: what happened, and what to do next. */
export interface InWords {
  title: string;
  remedy: string;
  /** The time before which a retry is useless. */
  retryAtMs: number | null;
  /** A quota, an allowance or a ban refused it: the banner of every page says so. */
  isOfQuota: boolean;
}

const CHANGED_AGAIN = `${capitalized(NOUN_WORDS)} can be read and changed again`;

const WORDS: Record<string, { title: string; remedy: string }> = {
  UNAUTHORIZED: {
    title: 'This API key is not accepted.',
    remedy: 'It is mistyped, revoked or expired. Paste another key, or ask for a new one.',
  },
  RATE_LIMITED_MINUTE: {
    title: 'The quota of this minute is spent.',
    remedy: `${CHANGED_AGAIN} in the next minute. An earlier request counts as a strike against the key.`,
  },
  RATE_LIMITED_DAY: {
    title: 'The quota of today is spent.',
    remedy: `${CHANGED_AGAIN} from midnight UTC on. A higher plan has a larger quota.`,
  },
  KEY_BANNED: {
    title: 'This API key is temporarily banned.',
    remedy: `${CHANGED_AGAIN} when the ban ends. It ends automatically.`,
  },
  FIELD_RATE_LIMITED: {
    title: 'This was done too often in a short time.',
    remedy: 'It has its own limit, which resets. The refused request changed nothing.',
  },
  UNAVAILABLE: {
    title: 'The gateway can’t respond right now.',
    remedy: 'Its database does not respond. Try again in a moment; nothing was changed.',
  },
  INTERNAL: {
    title: 'An error occurred in the gateway.',
    remedy: 'Try again. If it happens again, tell the operator of the gateway the time.',
  },
};

/** Everything except the nouns has a separate allowance. */
const NO_OPERATIONS_LEFT = {
  title: 'This key has no operations left in this minute.',
  remedy: `Everything except ${NOUN_WORDS} has its own limit per minute. It resets when the minute ends.`,
};

export function inWords(error: unknown): InWords {
  const refusal = refusalOf(error);
  if (!refusal) {
    return {
      title: 'The gateway could not be reached.',
      remedy: 'Check the connection, and whether the gateway runs. Then try again.',
      retryAtMs: null,
      isOfQuota: false,
    };
  }
  const { code, message, retryAfterSeconds, limit } = refusal;
  const retryAtMs = retryAfterSeconds === undefined ? null : Date.now() + retryAfterSeconds * 1000;
  const isOfAllowance = code === 'RATE_LIMITED_MINUTE' && limit !== undefined;
  const known = isOfAllowance ? NO_OPERATIONS_LEFT : WORDS[code];
  // The gateway's other messages already say what to do.
  const words = known ?? { title: message, remedy: REMEDIES[code] ?? '' };
  return { ...words, retryAtMs, isOfQuota: OF_QUOTA.includes(code) };
}

const OF_QUOTA = ['RATE_LIMITED_MINUTE', 'RATE_LIMITED_DAY', 'KEY_BANNED'];

const REMEDIES: Record<string, string> = {
  NOT_FOUND: 'It may have been removed meanwhile. Reload the list.',
  INVALID_REQUEST: 'Correct it and send it again.',
};

/** The message about one field of a form; null = the field is not the problem. */
export function fieldProblem(error: unknown, field: string): string | null {
  const problem = refusalOf(error)?.errors?.find((each) => each.field === field);
  return problem ? problem.message.charAt(0).toUpperCase() + problem.message.slice(1) : null;
}
