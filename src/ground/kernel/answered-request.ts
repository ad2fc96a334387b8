/** The operation of a request that has no known one. */
export const OTHER_OPERATION = 'other';

/** `refused`: by a quota, an allowance, a ban or a field's limit. `failed`: admitted, and answered with an error. */
export type RequestOutcome = 'ok' | 'failed' | 'refused';

/** A request after its answer: the facts that metrics, usage and the last use of a key are counted from. */
export interface AnsweredRequest {
  /** The time of the answer. */
  readonly atMs: number;
  readonly requestId: string;
  /** Null without a valid key, as `keyId`. */
  readonly projectId: bigint | null;
  readonly keyId: bigint | null;
  /** The door that the address belongs to, regardless of the outcome. */
  readonly door: 'graphql' | 'rest' | 'other';
  /** The request's method, or `_OTHER` if it is in neither RFC 9110 nor RFC 5789. */
  readonly method: string;
  /** The pattern of the route, such as `/v1/books/:bookId`; `unknown` = the path has no route. */
  readonly route: string;
  /** REST's operation id; a GraphQL operation's name, or its root fields; or `other`. At most 100 characters. */
  readonly operation: string;
  readonly status: number;
  /** The code of the first error, as the client reads it: lower case from REST, upper case from GraphQL; null = none. */
  readonly code: string | null;
  readonly outcome: RequestOutcome;
  readonly durationMs: number;
  /** Where the request was charged, admitted or not; null = the limiter was not asked. */
  readonly paidBy: 'plan' | 'management' | 'schema' | null;
  /** A dashboard read it for its viewer: it went well, and spent nothing of the plan. D-181. */
  readonly isDashboardRead: boolean;
  /** Units of the plan that the request spent. D-122. */
  readonly units: number;
  /** At most 200 characters of the `User-Agent` of a request that was a strike; null = it was none. */
  readonly strikeBy: string | null;
}

/** A request that a project's usage and request log have: its key is valid, and the limiter decided about it or it failed. */
export interface CountedRequest extends AnsweredRequest {
  readonly projectId: bigint;
  readonly keyId: bigint;
  readonly door: 'graphql' | 'rest';
}
