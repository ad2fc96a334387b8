import { refusalOf } from './refusal.js';

/** An error for people: what happened, and what to do next. */
export interface InWords {
  title: string;
  remedy: string;
  /** Trying again earlier is of no use. */
  retryAtMs: number | null;
}

const WORDS: Record<string, { title: string; remedy: string }> = {
  UNAUTHORIZED: {
    title: 'This API key is not accepted.',
    remedy: 'It is mistyped, revoked or expired. Paste another one, or have a new one made.',
  },
  RATE_LIMITED_MINUTE: {
    title: 'The quota of this minute is spent.',
    remedy:
      'Pets can be read and changed again in the next minute. Going on before counts as a strike against the key.',
  },
  RATE_LIMITED_DAY: {
    title: 'The quota of today is spent.',
    remedy: 'Pets can be read and changed again from midnight UTC on. A higher plan has a larger quota.',
  },
  KEY_BANNED: {
    title: 'This API key is banned for a while.',
    remedy:
      'It went on asking for pets after being told to wait. Nothing needs to be done: the ban ends by itself.',
  },
  FIELD_RATE_LIMITED: {
    title: 'This was done too often in a short time.',
    remedy: 'It has a limit of its own, which begins anew. What was refused changed nothing.',
  },
  UNAVAILABLE: {
    title: 'The gateway can’t answer right now.',
    remedy: 'Its database does not respond. Try again in a moment; nothing was changed.',
  },
  INTERNAL: {
    title: 'Something broke in the gateway.',
    remedy: 'Try again. If it stays, tell whoever runs the gateway when it happened.',
  },
};

/** Everything but pets has an allowance of its own. */
const NO_OPERATIONS_LEFT = {
  title: 'This key has no operations left in this minute.',
  remedy: 'Everything but pets has so many a minute for each key. The quota of the plan is untouched.',
};

export function inWords(error: unknown): InWords {
  const refusal = refusalOf(error);
  if (!refusal) {
    return {
      title: 'The gateway could not be reached.',
      remedy: 'Check the connection, and whether the gateway runs. Then try again.',
      retryAtMs: null,
    };
  }
  const { code, message, retryAfterSeconds, limit } = refusal;
  const retryAtMs = retryAfterSeconds === undefined ? null : Date.now() + retryAfterSeconds * 1000;
  const isOfAllowance = code === 'RATE_LIMITED_MINUTE' && limit !== undefined;
  const known = isOfAllowance ? NO_OPERATIONS_LEFT : WORDS[code];
  // The gateway's other messages say what to do themselves.
  return known ? { ...known, retryAtMs } : { title: message, remedy: REMEDIES[code] ?? '', retryAtMs };
}

const REMEDIES: Record<string, string> = {
  NOT_FOUND: 'It may have been removed meanwhile. Reload the list.',
  INVALID_REQUEST: 'Correct it and send it again.',
};

/** The message about one field of a form; null = that field is not the problem. */
export function fieldProblem(error: unknown, field: string): string | null {
  const problem = refusalOf(error)?.errors?.find((each) => each.field === field);
  return problem ? problem.message.charAt(0).toUpperCase() + problem.message.slice(1) : null;
}
