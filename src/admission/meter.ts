import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../caller.js';
import { AppError } from '../errors.js';
import type { Decision, Refused, Standing } from '../rate-limit/decision.js';
import { type Admission, rateLimited } from './admission.js';
import { Connections } from './connections.js';
import { allowanceOf, type Cost, payerOf } from './cost.js';
import { rateLimitHeaders } from './rate-limit-headers.js';
import { DOCUMENTS_PER_MINUTE, RefusedKeys } from './refused-keys.js';
import { parseRehearsal, rehearsed } from './rehearsal.js';

const REHEARSE = 'petstore-rehearse';
const NOTHING = { name: 'nothing', perMinute: 0, cost: 1 } as const;

/** Charges the requests of both doors, and writes what is left into their answers. */
export class Meter {
  private readonly connections = new Connections();
  private readonly refusedKeys: RefusedKeys;

  constructor(
    private readonly admission: Admission,
    private readonly isStaging: boolean,
    now: () => number,
  ) {
    this.refusedKeys = new RefusedKeys(now);
  }

  /** Who sends the request; null = no key in force. On a project's host only its own keys are. */
  identify({ headers, site, raw }: FastifyRequest): Caller | null | Promise<Caller | null> {
    const caller = this.admission.identify(headers.authorization, this.connections.of(raw.socket));
    // A request that is refused before its host was looked at has no site.
    const projectId = site?.projectId ?? null;
    if (projectId === null) return caller;
    const ownOnly = (known: Caller | null) => (known?.projectId === projectId ? known : null);
    return caller instanceof Promise ? caller.then(ownOnly) : ownOnly(caller);
  }

  /** Spends the cost; returns nothing where no wait is needed. Throws, or rejects with, `AppError` 429 when it is not there. */
  charge(request: FastifyRequest, reply: FastifyReply, cost: Cost): Promise<void> | undefined {
    request.paidBy = payerOf(cost);
    if (request.headers[REHEARSE] === undefined) return this.spend(request, reply, cost);
    return this.rehearse(request, reply).then(() => this.spend(request, reply, cost));
  }

  private spend(request: FastifyRequest, reply: FastifyReply, cost: Cost): Promise<void> | undefined {
    const caller = request.caller ?? null;
    const account = this.admission.account(caller, request.ip);
    const allowance = caller === null ? undefined : allowanceOf(caller, cost);
    const connection = this.connectionOf(request);
    const decision = this.admission.charge(account, { units: cost.pets, connection, allowance });
    if (decision instanceof Promise) return decision.then((known) => this.settle(request, reply, known));
    this.settle(request, reply, decision);
    return undefined;
  }

  private settle(request: FastifyRequest, reply: FastifyReply, decision: Decision): void {
    tell(request, reply, decision);
    if (decision.admitted) return;
    if (request.caller) this.note(request.caller, decision);
    if (decision.startsBan && request.caller) {
      const recorded = this.admission.recordBan(request.caller, decision, request.id);
      recorded.catch((error) => request.log.error({ err: error }, 'a ban could not be audited'));
    }
    throw rateLimited(decision);
  }

  /** As `look`, before admission: for the key that the request carries, or its address without a key in force. */
  async lookAhead(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    let caller: Caller | null = null;
    try {
      caller = await this.identify(request);
    } catch {
      // The database is away. The answer does not depend on it.
    }
    await this.look(request, reply, caller);
  }

  private note({ keyId }: Caller, { isOfAllowance, retryAfterSeconds }: Refused): void {
    this.refusedKeys.note(keyId, isOfAllowance ? 'allowance' : 'plan', retryAfterSeconds);
  }

  /** Whether this process has refused the request's key, and its Retry-After is not over. */
  isRefused({ caller }: FastifyRequest): boolean {
    return caller !== null && this.refusedKeys.isRefused(caller.keyId);
  }

  /**
   * Decides whether a document of a refused key is read, before what it costs is known. One that can only be about pets
   * is asked for at the plan, and refused and struck like any other request. Throws, or rejects with, `AppError` 429.
   */
  admitUnread(request: FastifyRequest, reply: FastifyReply, mayManage: boolean): Promise<void> | undefined {
    const { caller } = request;
    if (!caller) return undefined;
    if (!mayManage) {
      return this.refusedKeys.isRefusedByPlan(caller.keyId) ? this.probe(caller, request, reply) : undefined;
    }
    const retryAfterSeconds = this.refusedKeys.countDocument(caller.keyId);
    return retryAfterSeconds === 0 ? undefined : this.refuseUnread(request, reply, retryAfterSeconds);
  }

  /** Asks the plan for a unit without spending it: an allowance of nothing refuses what the plan would have admitted. */
  private async probe(caller: Caller, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const connection = this.connectionOf(request);
    const asked = { units: 1, connection, allowance: NOTHING };
    const decision = await this.admission.charge(this.admission.account(caller, request.ip), asked);
    if (decision.admitted || decision.isOfAllowance) return this.refusedKeys.forgetPlan(caller.keyId);
    request.paidBy = 'plan';
    this.settle(request, reply, decision);
  }

  private async refuseUnread(request: FastifyRequest, reply: FastifyReply, seconds: number): Promise<void> {
    request.paidBy = 'management';
    await this.look(request, reply);
    const rule = `While a key is refused, ${DOCUMENTS_PER_MINUTE} new documents a minute (UTC) are read for it`;
    const message = `${rule}. Send documents with variables; try again in ${seconds} s.`;
    throw new AppError('rate_limited_minute', message, {
      retryAfterSeconds: seconds,
      limit: DOCUMENTS_PER_MINUTE,
    });
  }

  /** Says what is left and spends nothing. */
  async look(
    request: FastifyRequest,
    reply: FastifyReply,
    caller: Caller | null = request.caller ?? null,
  ): Promise<Standing> {
    const standing = await this.admission.look(this.admission.account(caller, request.ip));
    tell(request, reply, standing);
    return standing;
  }

  /** What is left for an address, where there is no request to look at. */
  async headersOf(address: string): Promise<Record<string, string>> {
    return rateLimitHeaders(await this.admission.look(this.admission.account(null, address)));
  }

  /** Answers as if the quota were spent, so that a client can try its back-off; only for keys made for it, on staging. */
  private async rehearse(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (!this.isStaging || !request.caller?.rehearses) {
      reply.header(REHEARSE, this.isStaging ? 'ignored: not a rehearsal key' : 'ignored: production');
      return;
    }
    const rehearsal = parseRehearsal(String(request.headers[REHEARSE]));
    reply.header(REHEARSE, rehearsal);
    const refusal = rehearsed(rehearsal, await this.look(request, reply));
    if (refusal instanceof AppError) throw refusal;
    tell(request, reply, refusal);
    throw rateLimited(refusal);
  }

  /**
   * Pipelined requests were sent before the answers to those before them. A proxy's connection carries the requests of
   * many clients, and those of one client over several connections.
   */
  private connectionOf({ ips, raw, isPipelined }: FastifyRequest): string | null {
    if (isPipelined || (ips && ips.length > 1)) return null;
    return this.connections.of(raw.socket).name;
  }
}

function tell(request: FastifyRequest, reply: FastifyReply, standing: Standing): void {
  request.standing = standing;
  reply.headers(rateLimitHeaders(standing));
}
