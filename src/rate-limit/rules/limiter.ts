import type { Quota } from '../../kernel/quota.js';
import type { Decision, Standing } from './decision.js';
import type { Allowance } from './windows.js';

/** The counted subject, the key that can be banned, and the quota. */
export interface Account {
  /** The project or address whose units are counted, made by `subjects.ts`. */
  subject: string;
  /** The key that can be banned; null for a request without a valid key. */
  keyId: string | null;
  /** The current quota: a changed plan arrives here within a second. */
  quota: Quota;
}

export interface Charge extends Account {
  /** Whole units of the quota. 0 = neither the quota nor a ban refuses the request. */
  cost: number;
  /**
   * Charged in the same step, for a request with a key: if the quota or the allowance refuses, neither is spent. A
   * refusal by the allowance is no strike.
   */
  allowance?: Allowance | undefined;
  /**
   * Identifies the HTTP/1.1 connection uniquely across processes. Null when it may carry concurrent requests (HTTP/2,
   * pipelining) or those of several clients (a trusted proxy). Then only time separates a burst from a client that
   * ignores its 429; see `bans.ts`.
   */
  connection: string | null;
}

/**
 * Decides whether requests are within their quota. One process counts in memory, several count in Redis. `charge` and
 * `peek` never throw and never wait for long: a process that can't reach the shared counters decides alone.
 */
export interface Limiter {
  /**
   * Decides and spends in one atomic step. Synchronous when decided in memory, so that the hot path allocates no promise:
   * `const answer = limiter.charge(…); const decision = answer instanceof Promise ? await answer : answer`.
   */
  charge(request: Charge): Decision | Promise<Decision>;
  /** Reads the remaining quota without charging and without strikes: for `GET /v1/rate_limit` and `Query.rateLimit`. */
  peek(account: Account): Standing | Promise<Standing>;
  /** Ends the key's ban, and clears its strikes and ladder steps. Throws when it can't reach all counters. */
  unban(account: Pick<Account, 'subject'> & { keyId: string }): void | Promise<void>;
  close(): Promise<void>;
}

/** The log of the limiter itself. */
export interface LimiterLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}
