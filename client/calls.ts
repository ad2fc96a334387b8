import { answerOf, refusedBy, textOf } from './answer.js';
import type { Shapes } from './description.js';
import { ApiError, WaitTooLong } from './errors.js';
import { type Gate, gateOf, type Patience } from './gate.js';
import { type Clock, onAbort, pause } from './pause.js';
import type { Request } from './request.js';

export interface Settings {
  /** The address of `/v1`; by default that of the document. */
  baseUrl: string;
  apiKey: string;
  /** How long a call may wait in all, for its quota and between repeats: 60 by default. 0 = it never waits. */
  waitAtMostSeconds: number;
  /** How long one attempt may take: 30 by default. */
  timeoutSeconds: number;
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  clock: Clock;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
  /** For a write; by default a new one. Its repeats have the same one. */
  idempotencyKey?: string | undefined;
  waitAtMostSeconds?: number | undefined;
  /** Called with the answer that the call returns, for its status and headers. */
  onAnswer?: ((response: Response) => void) | undefined;
}

export interface Answer {
  readonly value: unknown;
  readonly headers: Headers;
}

/** The result of one attempt. */
type Outcome = { response: Response; text: string } | ApiError;

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 8_000;
/** A fault of the gateway usually stays. */
const MOST_REPEATS_OF_500 = 3;

/** Sends the requests of a client, and repeats those that can be repeated. */
export class Calls {
  private readonly gate: Gate;

  constructor(
    private readonly settings: Settings,
    readonly shapes: Shapes,
  ) {
    this.gate = gateOf(settings.clock, `${settings.baseUrl} ${settings.apiKey}`);
  }

  get clock(): Clock {
    return this.settings.clock;
  }

  /** Throws `ApiError`, or the reason of an aborted signal. */
  async send(request: Request, options: CallOptions = {}): Promise<Answer> {
    const { waitAtMostSeconds = this.settings.waitAtMostSeconds } = options;
    requireSeconds('waitAtMostSeconds', waitAtMostSeconds);
    const patience: Patience = { forMs: waitAtMostSeconds * 1000 };
    const { method, access } = request.operation;
    const isWrite = !/^(GET|HEAD)$/.test(method);
    const idempotencyKey = isWrite ? (options.idempotencyKey ?? newKey()) : undefined;
    // Here, so that a value that no header can have is an error and no lost connection.
    const headers = new Headers({
      accept: 'application/json',
      ...(access === 'public' ? {} : { authorization: `Bearer ${this.settings.apiKey}` }),
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
    });
    return this.repeat(request, headers, patience, options).catch((error) => {
      if (error instanceof ApiError) error.idempotencyKey = idempotencyKey;
      throw error;
    });
  }

  private async repeat(
    request: Request,
    headers: Headers,
    patience: Patience,
    options: CallOptions,
  ): Promise<Answer> {
    const { signal } = options;
    for (let repeats = 0; ; repeats += 1) {
      const outcome = await this.attempt(request, headers, patience, { signal, isRepeat: repeats > 0 });
      if (!(outcome instanceof ApiError)) {
        options.onAnswer?.(outcome.response);
        return {
          value: answerOf(outcome, request.operation, this.shapes),
          headers: outcome.response.headers,
        };
      }
      await this.waitAfter(outcome, repeats, patience, request, signal);
    }
  }

  /** Resolves when the request may be repeated. Throws the error if it may not. */
  private async waitAfter(
    error: ApiError,
    repeats: number,
    patience: Patience,
    { operation }: Request,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { status, retryAfterSeconds } = error;
    const isRefused = status === 429;
    // The gate lets it in when the time has come.
    if (isRefused && !operation.access) return;
    const isPassing =
      status === 0 ? error.code === 'no_answer' : [502, 503, 504].includes(status) || isRefused;
    const isRepeatable =
      isPassing ||
      (status === 409 && retryAfterSeconds !== undefined) ||
      (status === 500 && repeats < MOST_REPEATS_OF_500);
    if (!isRepeatable) throw error;
    const backOffMs = Math.min(FIRST_PAUSE_MS * 2 ** repeats, LONGEST_PAUSE_MS) * (0.5 + Math.random() / 2);
    const waitMs = retryAfterSeconds === undefined ? backOffMs : retryAfterSeconds * 1000;
    const nowMs = this.clock.now();
    patience.untilMs ??= nowMs + patience.forMs;
    if (nowMs + waitMs > patience.untilMs) {
      throw retryAfterSeconds === undefined ? error : new WaitTooLong(error, new Date(nowMs + waitMs), nowMs);
    }
    // Other clients wait for the same time.
    const jitterMs = Math.min(Math.random() * 500, patience.untilMs - nowMs - waitMs);
    await pause(this.clock, waitMs + (retryAfterSeconds === undefined ? 0 : jitterMs), signal);
  }

  private async attempt(
    request: Request,
    headers: Headers,
    patience: Patience,
    { signal, isRepeat }: { signal: AbortSignal | undefined; isRepeat: boolean },
  ): Promise<Outcome> {
    const { access } = request.operation;
    const ticket = access ? this.gate.ticket : await this.gate.enter(patience, signal, isRepeat);
    let received: Headers | undefined;
    let refusal: ApiError | undefined;
    try {
      const note = (response: Response) => {
        received = response.headers;
        // The gate knows of it, also if its body is cut.
        if (response.status === 429) refusal = refusedBy(response, '');
      };
      const { response, text } = await this.fetch(request, headers, signal, note);
      const error = refusedBy(response, text);
      if (response.status === 429) refusal = error;
      return error ?? { response, text };
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      if (cause instanceof ApiError) return cause;
      const message = `No answer from ${this.settings.baseUrl}: ${reasonOf(cause)}`;
      return new ApiError({ code: 'no_answer', status: 0, message, cause });
    } finally {
      if (!access) this.gate.leave(ticket, received, refusal);
      else if (access === 'free' && received && !refusal) this.gate.look(ticket, received);
    }
  }

  /** Ends the attempt when it takes too long, its body included. */
  private async fetch(
    { operation, path, search, body }: Request,
    headers: Headers,
    signal: AbortSignal | undefined,
    note: (response: Response) => void,
  ): Promise<{ response: Response; text: string }> {
    const { baseUrl, timeoutSeconds } = this.settings;
    const ending = new AbortController();
    const unwatch = onAbort(signal, (reason) => ending.abort(reason));
    const cancelTimeout = this.clock.after(timeoutSeconds * 1000, () =>
      ending.abort(new Error(`it took longer than ${timeoutSeconds} s`)),
    );
    try {
      const response = await this.settings.fetch(`${baseUrl}${path}${search}`, {
        method: operation.method,
        headers,
        ...(body === undefined ? {} : { body }),
        // Followed, a POST could become a GET.
        redirect: 'manual',
        signal: ending.signal,
      });
      note(response);
      return { response, text: await textOf(response) };
    } finally {
      unwatch();
      cancelTimeout();
    }
  }
}

/** Throws `TypeError`: `undefined` and NaN would mean no bound. */
export function requireSeconds(name: string, value: unknown): void {
  if (typeof value !== 'number' || !(value >= 0))
    throw new TypeError(`${name} must be a number of seconds, 0 or more; got ${String(value)}.`);
}

/** Not `randomUUID`: pages on plain http have none. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}

/** Node says only in the cause what happened. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  const detail = (cause as Error | undefined)?.message;
  return detail ? `${message} (${detail})` : message;
}
