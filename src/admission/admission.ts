import type { ApiKeyService } from '../api-keys/api-key.service.js';
import { digestOf, isToken } from '../api-keys/token.js';
import type { Caller } from '../caller.js';
import { AppError } from '../errors.js';
import type { Decision, Refused, Standing } from '../rate-limit/decision.js';
import type { Account, Charge, Limiter } from '../rate-limit/limiter.js';
import { addressSubject, projectSubject } from '../rate-limit/subjects.js';
import { newConnection } from './connections.js';
import { inWords } from './cost.js';

/** Requests without a key in force, per client address. */
const ANONYMOUS_QUOTA = { perMinute: 60, perDay: null };

/** As in `Charge`, with the units of the quota. */
type Spending = Pick<Charge, 'connection' | 'allowance'> & { units: number };

/** The one step between a request and either door: from the bearer token to the caller, and from the caller to one charge. */
export class Admission {
  /** A caller is one object for as long as it is known. */
  private readonly accounts = new WeakMap<Caller, Account>();

  constructor(
    private readonly apiKeys: ApiKeyService,
    private readonly limiter: Limiter,
  ) {}

  /** Who sends a request with this `Authorization` header; null when no key in force says so. RFC 6750 §2.1. */
  identify(
    authorization: string | undefined,
    connection = newConnection(),
  ): Caller | null | Promise<Caller | null> {
    if (authorization !== connection.authorization) {
      const [, token] = /^bearer +([^ ]+)$/i.exec(authorization ?? '') ?? [];
      connection.digest = token !== undefined && isToken(token) ? digestOf(token) : null;
      connection.authorization = authorization;
    }
    return connection.digest === null ? null : this.apiKeys.identifyDigest(connection.digest);
  }

  /** Who pays: the caller's project, or without a caller the address. Bans belong to the key. Spec: Limits. */
  account(caller: Caller | null, address: string): Account {
    if (!caller) return { subject: addressSubject(address), keyId: null, quota: ANONYMOUS_QUOTA };
    const known = this.accounts.get(caller);
    if (known) return known;
    const { projectId, keyId, quota } = caller;
    const account = { subject: projectSubject(projectId), keyId: String(keyId), quota };
    this.accounts.set(caller, account);
    return account;
  }

  charge(
    { subject, keyId, quota }: Account,
    { units, connection, allowance }: Spending,
  ): Decision | Promise<Decision> {
    return this.limiter.charge({ subject, keyId, quota, cost: units, connection, allowance });
  }

  /** Puts a ban on record. The refusal that started it is the one moment it is known. */
  recordBan(caller: Caller, { ban }: Refused, requestId: string): Promise<void> {
    const untilMs = (ban?.untilSeconds ?? 0) * 1000;
    return this.apiKeys.recordBan({ name: 'limiter', requestId }, caller, untilMs);
  }

  look(account: Account): Standing | Promise<Standing> {
    return this.limiter.peek(account);
  }
}

/** The refusal of a caller without a key in force, in the same words whatever is wrong with it. Spec: Authentication. */
export function unauthorized(): AppError {
  return new AppError(
    'unauthorized',
    'The API key is missing or not valid. Send it as "Authorization: Bearer <API_KEY>".',
  );
}

/** The 429 that a refusal is to the client. Spec: Limits 2 and 3. */
export function rateLimited(refused: Refused): AppError {
  const { code, retryAfterSeconds, neverFits, allowance, isOfAllowance } = refused;
  if (isOfAllowance && allowance) {
    const { rule, advice } = inWords(allowance.name);
    const message = `${rule}. ${advice}; try again in ${retryAfterSeconds} s.`;
    return new AppError(code, message, { retryAfterSeconds, limit: allowance.limit });
  }
  const reason = {
    rate_limited_minute: 'The quota of this minute (UTC) is spent.',
    rate_limited_day: 'The quota of this day (UTC) is spent.',
    key_banned: 'This API key is banned for a while, because it went on after 429.',
  }[code];
  const advice = neverFits
    ? 'The operation costs more than a whole window allows: split it, or upgrade the plan.'
    : `Try again in ${retryAfterSeconds} s, and back off exponentially.`;
  return new AppError(code, `${reason} ${advice}`, { retryAfterSeconds });
}
