export interface ErrorDetails {
  code: string;
  message: string;
  /** The HTTP status; 0 = no answer came. */
  status: number;
  errors?: readonly FieldProblem[] | undefined;
  requestId?: string | undefined;
  retryAfterSeconds?: number | undefined;
  cause?: unknown;
}

export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

/**
 * A call that failed. Decide by `code`: that of the API's reference, or one of the client's own: `no_answer` (no connection,
 * or it broke), `bad_answer` (not what the API sends: a proxy's page, perhaps) and `redirected`.
 */
export class ApiError extends Error {
  // Not `new.target.name`: bundlers shorten the names of classes.
  override name = 'ApiError';
  readonly code: string;
  readonly status: number;
  /** With status 400: the problem of each invalid field. */
  readonly errors: readonly FieldProblem[];
  /** Finds the request in the gateway's log. */
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  /** That of the write, which may be done: send it again only with this one. Undefined for a read. */
  idempotencyKey: string | undefined;

  constructor({ code, message, status, errors = [], requestId, retryAfterSeconds, cause }: ErrorDetails) {
    super(message, { cause });
    this.code = code;
    this.status = status;
    this.errors = errors;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** 410: the operation was removed, or the change log does not reach back to the cursor: list again. */
export class Gone extends ApiError {
  override name = 'Gone';
}

/** The call would have to wait longer than `waitAtMostSeconds`: until `until`. */
export class WaitTooLong extends ApiError {
  override name = 'WaitTooLong';

  constructor(
    error: ApiError,
    readonly until: Date,
    nowMs: number,
  ) {
    const retryAfterSeconds = Math.ceil((until.getTime() - nowMs) / 1000);
    super({
      ...error,
      message: `${error.message} Wait until ${until.toISOString()}.`,
      retryAfterSeconds,
      cause: error,
    });
  }
}
