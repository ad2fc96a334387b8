import type { Decision, Standing } from './decision.js';
import type { Allowance, Quota } from './windows.js';

/** Whose units and whose bans. */
export interface Account {
  /** What is counted: a project or an address, made by `subjects.ts`. */
  subject: string;
  /** What is banned; null for a request without a valid key. */
  keyId: string | null;
  /** The quota of this moment: whoever charges knows of a changed plan within a second. */
  quota: Quota;
}

export interface Charge extends Account {
  /** Whole units of the quota. 0 = none: neither the quota nor a ban refuses the request. */
  cost: number;
  /**
   * Is charged in the same step, for a request with a key: what one of the two refuses spends nothing of either. The
   * allowance's own refusals strike nobody.
   */
  allowance?: Allowance | undefined;
  /**
   * Names the HTTP/1.1 connection, uniquely among all processes. Null when it may carry several requests at once (HTTP/2,
   * pipelining) or those of several clients (a trusted proxy's): then only time tells a burst from a client that ignores
   * its 429. The reason is in `bans.ts`.
   */
  connection: string | null;
}

/**
 * Decides whether requests are within their quota. One process counts in memory, several count in Redis.
 * `charge` and `peek` never throw and never wait for long: who can't reach the shared counters decides alone.
 */
export interface Limiter {
  /**
   * Decides and spends in one atomic step. Synchronous when decided in memory, so that the hot path allocates no promise:
   * `const answer = limiter.charge(…); const decision = answer instanceof Promise ? await answer : answer`.
   */
  charge(request: Charge): Decision | Promise<Decision>;
  /** Spends nothing, strikes nobody: for `GET /v1/rate_limit` and `Query.rateLimit`. */
  peek(account: Account): Standing | Promise<Standing>;
  /** Ends the key's ban and forgets its strikes and its steps on the ladder. Throws when it can't reach all who count. */
  unban(account: Pick<Account, 'subject'> & { keyId: string }): void | Promise<void>;
  close(): Promise<void>;
}

/** What the limiter says about itself. */
export interface LimiterLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
