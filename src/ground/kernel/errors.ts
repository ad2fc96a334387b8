/**
 * Every error code that a client can receive, with its HTTP status and its condition. REST sends the code as written
 * here, GraphQL in upper case. OpenAPI and the reference's table are made from this one.
 */
export const ERRORS = {
  invalid_request: { status: 400, when: 'The body or a parameter is invalid; `errors` names each field.' },
  unauthorized: { status: 401, when: 'The API key is missing, malformed, unknown, revoked or expired.' },
  plan_required: { status: 403, when: 'The feature needs a higher plan.' },
  forbidden: { status: 403, when: 'The API key lacks the scope.' },
  not_found: { status: 404, when: 'The project has no such resource.' },
  method_not_allowed: { status: 405, when: 'The path does not support the method; see `Allow`.' },
  not_acceptable: { status: 406, when: '`Accept` excludes JSON.' },
  conflict: {
    status: 409,
    when: 'The Idempotency-Key is in use or its response is shown only once, the name is taken, there are too many, or the change log is off.',
  },
  not_published: { status: 409, when: 'A custom domain is requested before the first deploy.' },
  gone: {
    status: 410,
    when: 'The operation was removed at its sunset, or the change log does not reach back to the cursor.',
  },
  precondition_failed: {
    status: 412,
    when: '`If-Match` names another state of the record: it was changed. Read it again.',
  },
  payload_too_large: { status: 413, when: 'The body is larger than 100 KB.' },
  unsupported_media_type: {
    status: 415,
    when: 'The body is not `application/json` in UTF-8, or is compressed; see `Accept-Encoding`.',
  },
  misdirected: { status: 421, when: 'The host is not served here.' },
  idempotency_mismatch: { status: 422, when: 'The Idempotency-Key was used with another payload.' },
  rate_limited_minute: { status: 429, when: "The minute's quota is spent; see `Retry-After`." },
  rate_limited_day: { status: 429, when: "The day's quota is spent; see `Retry-After`." },
  key_banned: { status: 429, when: 'The key is temporarily banned; see `Retry-After`.' },
  field_rate_limited: {
    status: 429,
    when: 'The rate limit of a GraphQL field is exceeded; see `Retry-After`. The other fields are returned, with status 200.',
  },
  too_many_streams: { status: 429, when: "The plan's number of open streams is reached; close one." },
  internal: { status: 500, when: 'An error in the gateway; quote the `X-Request-Id`.' },
  unavailable: {
    status: 503,
    when: 'The database does not respond, or the gateway has too many requests; see `Retry-After`. The message says if a change may be stored.',
  },
} as const satisfies Record<string, { status: number; when: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** The end of a message about a change whose outcome is unknown. */
export const MAY_BE_STORED =
  'A change may be stored: send it again only with the same Idempotency-Key, or look first.';

/** One invalid input: `field` is the name that the client used. */
export interface FieldProblem {
  field: string;
  message: string;
}

interface AppErrorDetails {
  errors?: FieldProblem[];
  retryAfterSeconds?: number;
  /** How many uses the field's rate limit allows. */
  limit?: number;
  /** The strikes of the key, with this one. */
  strikes?: number;
  /** For programs: what to do instead. */
  advice?: string;
  /** The content coding that a body may have. */
  acceptEncoding?: string;
  cause?: unknown;
}

/** An error for clients: `message` says what happened and what to do, and reveals no internals. */
export class AppError extends Error {
  readonly errors: FieldProblem[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly limit: number | undefined;
  readonly strikes: number | undefined;
  readonly advice: string | undefined;
  readonly acceptEncoding: string | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    { cause, ...details }: AppErrorDetails = {},
  ) {
    super(message, { cause });
    this.name = 'AppError';
    Object.assign(this, details);
    // A client that gets 503 must know when to return.
    if (code === 'unavailable') this.retryAfterSeconds ??= 1;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }
}

export function invalidRequest(errors: FieldProblem[]): AppError {
  const message = errors.map(({ field, message }) => `${field} ${message}`).join('; ');
  return new AppError('invalid_request', message, { errors });
}

/** Throws `AppError invalid_request` that names every problem, if there is one. */
export function refuseProblems(problems: FieldProblem[]): void {
  if (problems.length > 0) throw invalidRequest(problems);
}

export function invalidField(field: string, message: string): AppError {
  return invalidRequest([{ field, message }]);
}
