/** A refusal of the CA, as a problem document of RFC 7807 and RFC 8555 §6.7. */
export class AcmeProblem extends Error {
  /** Without its namespace: `rateLimited`, `badNonce`. Types that ACME does not define keep their whole URI. */
  readonly type: string;
  readonly detail: string;
  private readonly parts: readonly Part[];

  /** Any field of the document may be missing or of another type. */
  constructor(
    document: Record<string, unknown>,
    readonly context: ProblemContext,
  ) {
    const type = shortType(document.type);
    const detail = text(document.detail) || text(document.title) || 'no detail';
    super(`${type}: ${detail}`, { cause: context.cause });
    this.name = 'AcmeProblem';
    this.type = type;
    this.detail = detail;
    this.parts = Array.isArray(document.subproblems) ? document.subproblems : [];
  }

  /** The subproblem about the host (RFC 8555 §6.7.1), which tells more than the summary; otherwise the problem itself. */
  about(hostname: string | null): { type: string; detail: string } {
    const part = this.parts.find((one) => one?.identifier?.value === hostname) ?? this.parts[0];
    return part ? { type: shortType(part.type), detail: text(part.detail) || this.detail } : this;
  }
}

/** The CA gave no usable answer: no connection, a reset, a timeout, an oversized body, HTML from a proxy. */
export class AcmeUnreachable extends AcmeProblem {
  constructor(reason: string, context: Omit<ProblemContext, 'status'>) {
    super({ type: 'unreachable', detail: reason }, { ...context, status: 503 });
  }
}

/** A subproblem as the CA sent it. */
type Part = { type?: unknown; detail?: unknown; identifier?: { value?: unknown } } | null;

interface ProblemContext {
  url: string;
  /** HTTP status. */
  status: number;
  /** Null = the CA did not say. */
  retryAfterSeconds?: number | null;
  /** The CA could not validate the host; otherwise it refused the request itself. */
  isValidation?: boolean;
  cause?: unknown;
}

const NAMESPACE = 'urn:ietf:params:acme:error:';
const DETAIL_CHARACTERS = 1_000;
/** A wrong clock or a wrong unit must not stop an order for ever. Let's Encrypt's longest is 34 hours. */
const LONGEST_RETRY_AFTER_SECONDS = 2 * 86_400;

/** Retry-After in seconds, from a number or an HTTP date (RFC 9110 §10.2.3). Null = absent or neither. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | null {
  if (value === undefined) return null;
  const isSeconds = /^\d+$/.test(value.trim());
  const seconds = isSeconds ? Number(value) : Math.ceil((Date.parse(value) - nowMs) / 1_000);
  if (Number.isNaN(seconds)) return null;
  return Math.min(Math.max(seconds, 0), LONGEST_RETRY_AFTER_SECONDS);
}

function shortType(type: unknown): string {
  const uri = text(type) || 'about:blank';
  return uri.startsWith(NAMESPACE) ? uri.slice(NAMESPACE.length) : uri;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, DETAIL_CHARACTERS) : '';
}
