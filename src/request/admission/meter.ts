import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../../ground/kernel/caller.js';
import { AppError } from '../../ground/kernel/errors.js';
import type { ApiKeyService } from '../../tenants/api-keys/api-key.service.js';
import {
  type Account,
  type Charge,
  type Decision,
  type Limiter,
  type Refused,
  type Standing,
  shownWindow,
} from '../rate-limit/rules/limiter.js';
import { addressSubject, projectSubject, visitSubject } from '../rate-limit/rules/subjects.js';
import { WINDOW_SECONDS, type WindowStanding } from '../rate-limit/rules/windows.js';
import { allowanceOf, type Cost } from './cost.js';
import { parseRehearsal, rateLimited, rehearsed, visitRefused } from './refusal-errors.js';

/** Quota of a client address for requests without a valid key. */
const ANONYMOUS_QUOTA = { perMinute: 60, perDay: null };
/** Stops floods of an address, not readers: a page causes at most twenty requests. */
const VISIT_QUOTA = { perMinute: 600, perDay: null };
const MAX_KEYS = 20_000;
const NOTHING = { name: 'nothing', perMinute: 0, perDay: null, cost: 1 };

/** Charges the requests of both doors, and writes the remaining quota into their responses. */
export class Meter {
  /** A cached caller is always the same object. */
  private readonly accounts = new WeakMap<Caller, Account>();
  private readonly refusedKeys: RefusedKeys;
  private readonly rehearseHeader: string;

  constructor(
    private readonly limiter: Limiter,
    private readonly apiKeys: ApiKeyService,
    private readonly about: {
      isStaging: boolean;
      /** The nouns of the gateway in words. */
      nouns: string;
      /** The header that requests a refusal, as clients write it. */
      rehearse: string;
    },
    now: () => number,
  ) {
    this.refusedKeys = new RefusedKeys(now);
    this.rehearseHeader = about.rehearse.toLowerCase();
  }

  /**
   * Spends the cost. Returns no promise if nothing has to wait. Throws, or rejects with, `AppError` 429 if the quota is
   * spent.
   */
  charge(request: FastifyRequest, reply: FastifyReply, cost: Cost): Promise<void> | undefined {
    // The plan pays for a mixed operation. D-31.
    request.paidBy = cost.plan > 0 ? 'plan' : cost.schema > 0 ? 'schema' : 'management';
    request.units = cost.plan;
    if (request.headers[this.rehearseHeader] === undefined) return this.spend(request, reply, cost);
    return this.rehearse(request, reply).then(() => this.spend(request, reply, cost));
  }

  private spend(request: FastifyRequest, reply: FastifyReply, cost: Cost): Promise<void> | undefined {
    const caller = request.caller ?? null;
    const { subject, keyId, quota } = this.accountOf(caller, request.ip);
    const kind = cost.schema > 0 ? 'schema' : cost.management > 0 ? 'management' : null;
    const allowance = caller && kind ? allowanceOf(kind, caller, cost[kind]) : undefined;
    const { dataOf } = request;
    const charge = { subject, keyId, quota, cost: cost.plan, allowance, dataOf };
    const decision = this.decide(request, charge);
    if (decision instanceof Promise) return decision.then((known) => this.settle(request, reply, known));
    this.settle(request, reply, decision);
    return undefined;
  }

  /** Overridden when there are traces, which know the request. */
  protected decide(_: FastifyRequest, charge: Charge): Decision | Promise<Decision> {
    return this.limiter.charge(charge);
  }

  private settle(request: FastifyRequest, reply: FastifyReply, decision: Decision): void {
    tell(request, reply, decision);
    if (decision.admitted) return;
    const { caller } = request;
    if (caller) {
      const { isOfAllowance, retryAfterSeconds, startsBan } = decision;
      this.refusedKeys.note(caller.keyId, isOfAllowance ? 'allowance' : 'plan', retryAfterSeconds);
      if (startsBan) this.recordBan(caller, request, decision);
    }
    throw rateLimited(decision, this.about.nouns);
  }

  private recordBan(caller: Caller, { id, log }: FastifyRequest, { ban }: Refused): void {
    const untilMs = (ban?.untilSeconds ?? 0) * 1000;
    const recorded = this.apiKeys.recordBan({ name: 'limiter', requestId: id }, caller, untilMs);
    recorded.catch((error) => log.error({ err: error }, 'a ban could not be audited'));
  }

  /** Whether this process has refused the request's key, and its Retry-After has not passed yet. */
  isRefused({ caller }: FastifyRequest): boolean {
    return caller !== null && this.refusedKeys.isRefused(caller.keyId);
  }

  /**
   * Decides whether to parse a document of a refused key before its cost is known. A document that can only be about nouns
   * is checked against the plan, and refused with a strike like any other request. Rejects with `AppError` 429.
   */
  async admitUnread(request: FastifyRequest, reply: FastifyReply, mayManage: boolean): Promise<void> {
    const { caller, ip } = request;
    if (!caller || !(mayManage || this.refusedKeys.isRefusedByPlan(caller.keyId))) return;
    const account = this.accountOf(caller, ip);
    // The plan is only checked: an allowance of zero refuses what the plan would admit.
    const charge: Charge = mayManage
      ? { ...account, cost: 0, allowance: allowanceOf('documents', caller, 1) }
      : { ...account, cost: 1, allowance: NOTHING };
    const decision = await this.decide(request, charge);
    if (!mayManage && (decision.admitted || decision.isOfAllowance))
      return this.refusedKeys.forgetPlan(caller.keyId);
    if (decision.admitted) return;
    request.paidBy = mayManage ? 'management' : 'plan';
    this.settle(request, reply, decision);
  }

  /**
   * Counts a request that needs no key: for a page or its files, an unknown path or host. It spends nothing of any plan, and
   * its response shows no quota until the limit refuses. Returns no promise if nothing has to wait. Throws, or rejects with,
   * `AppError` 429. D-85.
   */
  chargeVisit(request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined {
    const account = { subject: visitSubject(request.ip), keyId: null, quota: VISIT_QUOTA };
    const decision = this.decide(request, { ...account, cost: 1 });
    if (decision instanceof Promise) return decision.then((known) => settleVisit(reply, known));
    settleVisit(reply, decision);
    return undefined;
  }

  /** Reads the remaining quota without charging. */
  async showStanding(
    request: FastifyRequest,
    reply: FastifyReply,
    caller: Caller | null = request.caller ?? null,
  ): Promise<Standing> {
    const standing = await this.limiter.peek(this.accountOf(caller, request.ip));
    tell(request, reply, standing);
    return standing;
  }

  /** The rate limit headers of an address, when no request could be parsed. */
  async headersOf(address: string): Promise<Record<string, string>> {
    return rateLimitHeaders(await this.limiter.peek(this.accountOf(null, address)));
  }

  /** Responds as if the quota were spent, so that clients can test their back-off. Only for rehearsal keys, on staging. */
  private async rehearse(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { isStaging } = this.about;
    if (!isStaging || !request.caller?.rehearses) {
      reply.header(this.rehearseHeader, isStaging ? 'ignored: not a rehearsal key' : 'ignored: production');
      return;
    }
    const stated = String(request.headers[this.rehearseHeader]);
    const rehearsal = parseRehearsal(this.about.rehearse, stated);
    reply.header(this.rehearseHeader, rehearsal);
    const refusal = rehearsed(rehearsal, await this.showStanding(request, reply));
    if (refusal instanceof AppError) throw refusal;
    tell(request, reply, refusal);
    throw rateLimited(refusal, this.about.nouns);
  }

  /** The account to charge: the caller's project, or without a caller the address. Bans belong to the key. Spec: Limits. */
  private accountOf(caller: Caller | null, address: string): Account {
    if (!caller) return { subject: addressSubject(address), keyId: null, quota: ANONYMOUS_QUOTA };
    const known = this.accounts.get(caller);
    if (known) return known;
    const { projectId, keyId, quota } = caller;
    const account = { subject: projectSubject(projectId), keyId: String(keyId), quota };
    this.accounts.set(caller, account);
    return account;
  }
}

function settleVisit(reply: FastifyReply, decision: Decision): void {
  if (decision.admitted) return;
  reply.headers(rateLimitHeaders(decision));
  throw visitRefused(decision, VISIT_QUOTA.perMinute);
}

function tell(request: FastifyRequest, reply: FastifyReply, standing: Standing): void {
  request.standing = standing;
  reply.headers(rateLimitHeaders(standing));
}

/**
 * The remaining quota as headers, for every API response of both doors. SPEC's three headers show one window: the
 * violated one, otherwise the one with less left. The headers of the IETF draft list both. Spec: Limits 1.
 */
function rateLimitHeaders(standing: Standing): Record<string, string> {
  const { limit, remaining, resetAtSeconds } = shownWindow(standing);
  const { minute, day, atMs } = standing;
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(resetAtSeconds),
    'ratelimit-policy': both(policy('minute', minute), day && policy('day', day)),
    ratelimit: both(left('minute', minute, atMs), day && left('day', day, atMs)),
  };
}

function policy(name: keyof typeof WINDOW_SECONDS, { limit }: WindowStanding): string {
  return `"${name}";q=${limit};w=${WINDOW_SECONDS[name]}`;
}

function left(name: string, { remaining, resetAtSeconds }: WindowStanding, atMs: number): string {
  return `"${name}";r=${remaining};t=${Math.max(0, Math.ceil(resetAtSeconds - atMs / 1000))}`;
}

function both(minute: string, day: string | null): string {
  return day === null ? minute : `${minute}, ${day}`;
}

/**
 * The keys that this process has refused, until their Retry-After. It refuses no request itself: it only says whose
 * documents need the limiter's decision before they are parsed. Bounded: beyond 20,000 keys the oldest is evicted. D-32.
 */
export class RefusedKeys {
  private readonly by: Record<'plan' | 'allowance', LRUCache<bigint, true>>;

  constructor(now: () => number) {
    const keys = () => new LRUCache<bigint, true>({ max: MAX_KEYS, ttlResolution: 0, perf: { now } });
    this.by = { plan: keys(), allowance: keys() };
  }

  note(keyId: bigint, by: 'plan' | 'allowance', retryAfterSeconds: number): void {
    // An entry lives through the last millisecond of its time, and the key is admitted in it.
    this.by[by].set(keyId, true, { ttl: retryAfterSeconds * 1000 - 1 });
  }

  /** Called when the plan admits the key again, such as after an upgrade. */
  forgetPlan(keyId: bigint): void {
    this.by.plan.delete(keyId);
  }

  isRefused(keyId: bigint): boolean {
    return this.isRefusedByPlan(keyId) || this.by.allowance.has(keyId);
  }

  isRefusedByPlan(keyId: bigint): boolean {
    return this.by.plan.has(keyId);
  }
}
