/**
 * Every code a client can meet, with its HTTP status and when it is used.
 * REST sends the code as it stands, GraphQL in upper case; OpenAPI and the README's table are made from this one.
 */
export const ERRORS = {
  invalid_request: { status: 400, when: 'The body or a parameter is refused; `errors` names each field.' },
  unauthorized: { status: 401, when: 'The API key is missing, malformed, unknown, revoked or expired.' },
  plan_required: { status: 403, when: 'The feature needs a higher plan.' },
  forbidden: { status: 403, when: 'The API key lacks the scope.' },
  not_found: { status: 404, when: 'There is no such thing in this project.' },
  method_not_allowed: { status: 405, when: 'The path exists, the method does not; see `Allow`.' },
  not_acceptable: { status: 406, when: '`Accept` excludes JSON.' },
  conflict: {
    status: 409,
    when: 'The Idempotency-Key is in use or its answer was shown once, the name is taken, or there are too many.',
  },
  not_published: { status: 409, when: 'A custom domain is asked for before the first deploy.' },
  gone: { status: 410, when: 'The operation was removed at its sunset.' },
  payload_too_large: { status: 413, when: 'The body is larger than 100 KB.' },
  unsupported_media_type: { status: 415, when: 'The body is not `application/json` in UTF-8.' },
  misdirected: { status: 421, when: 'The host is not served here.' },
  idempotency_mismatch: { status: 422, when: 'The Idempotency-Key was used with another payload.' },
  rate_limited_minute: { status: 429, when: "The minute's quota is spent; see `Retry-After`." },
  rate_limited_day: { status: 429, when: "The day's quota is spent; see `Retry-After`." },
  key_banned: { status: 429, when: 'The key is banned for a while; see `Retry-After`.' },
  field_rate_limited: {
    status: 429,
    when: 'A GraphQL field was used more often than it allows; see `Retry-After`. The other fields are answered, with status 200.',
  },
  internal: { status: 500, when: 'A fault of ours; quote the `X-Request-Id`.' },
  unavailable: { status: 503, when: 'The database does not answer; see `Retry-After`.' },
} as const satisfies Record<string, { status: number; when: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** One refused input: `field` is the name the client used. */
export interface FieldProblem {
  field: string;
  message: string;
}

interface AppErrorDetails {
  errors?: FieldProblem[];
  retryAfterSeconds?: number;
  /** How many uses the refused field allows. */
  limit?: number;
  cause?: unknown;
}

/** An error a client may see: `message` says what happened and what to do, and shows nothing of the inside. */
export class AppError extends Error {
  readonly errors: FieldProblem[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly limit: number | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    details: AppErrorDetails = {},
  ) {
    super(message, { cause: details.cause });
    this.name = 'AppError';
    this.errors = details.errors;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.limit = details.limit;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

/** The 400 for one or more refused fields. */
export function invalidRequest(errors: FieldProblem[]): AppError {
  return new AppError(
    'invalid_request',
    errors.map(({ field, message }) => `${field} ${message}`).join('; '),
    {
      errors,
    },
  );
}
