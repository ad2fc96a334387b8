import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { type Caller, type ServiceCall, serviceCall } from '../../ground/kernel/caller.js';
import type { ApiKeyService } from '../../tenants/api-keys/api-key.service.js';
import type { KnownKey } from '../../tenants/api-keys/caller-cache.js';
import { digestOf, isToken } from '../../tenants/api-keys/token.js';
import { REPLAYED } from '../http/headers.js';
import { mayWriteOf } from '../http/server.js';
import type { Decision, Standing } from '../rate-limit/rules/limiter.js';
import { ONE_UNIT, type Payer } from './cost.js';
import type { Meter } from './meter.js';
import { unauthorized } from './refusal-errors.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Null on the routes that need no key. */
    caller: Caller | null;
    /** Both windows and the ban state after this request; null = the limiter was not asked. */
    standing: Standing | Decision | null;
    /** Where the request was charged, admitted or not; null = it was not charged. */
    paidBy: Payer | null;
    /** Units of the plan that the request costs; a refused request spends none of them. */
    units: number;
    /** The noun whose data the response depends on, if it may be cached; null = it is not cached. */
    dataOf: string | null;
    /** The request was admitted, but one of its fields was refused. */
    hasRefusedField: boolean;
  }
  interface FastifyContextConfig {
    /** `public`: answered without a key. `free`: needs a key and spends nothing. Otherwise a request costs one unit. */
    admission?: 'public' | 'free';
  }
}

interface Door {
  /** Whether the door itself charges the requests of known callers, once it knows their cost. */
  isChargedByDoor?: boolean;
  isPublic?: (request: FastifyRequest) => boolean;
}

/** The last `Authorization` header of a connection, and the digest of its token; null = the header has no token. */
interface SentKey {
  authorization: string;
  digest: string | null;
}

/** The fields that admission sets on a request, as they are before admission. */
export const UNADMITTED = {
  caller: null,
  standing: null,
  paidBy: null,
  units: 0,
  dataOf: null,
  hasRefusedField: false,
};

/** The step between a request and either door: finds the caller of a bearer token, and charges the request. */
export class Admission {
  /** Clients send the same key with each request of a connection, so it is parsed and hashed once. */
  private readonly sentKeys = new WeakMap<Socket, SentKey>();

  constructor(
    private readonly apiKeys: ApiKeyService,
    private readonly meter: Meter,
  ) {}

  /** Identifies callers and charges requests, for every route of a door, unknown paths included. */
  admitCallers({ isChargedByDoor = false, isPublic = () => false }: Door = {}): onRequestHookHandler {
    const enter = (
      caller: Caller | null,
      request: FastifyRequest,
      reply: FastifyReply,
    ): Promise<unknown> | undefined => {
      request.caller = caller;
      if (!caller) return this.refuseUnknown(request, reply);
      if (request.routeOptions.config.admission === 'free') return this.meter.showStanding(request, reply);
      return isChargedByDoor ? undefined : this.meter.charge(request, reply, ONE_UNIT);
    };
    return admissionHook((request, reply) => {
      const isFree = request.routeOptions.config.admission === 'public' || isPublic(request);
      if (isFree) return this.visit(request, reply);
      const caller = this.identify(request);
      if (!(caller instanceof Promise)) return enter(caller, request, reply);
      const fail = async (error: unknown) => {
        await this.meter.showStanding(request, reply);
        throw error;
      };
      return caller.then((known) => enter(known, request, reply), fail);
    });
  }

  /** Limits the requests of an address to routes that need no key, unknown paths included. */
  limitVisits(): onRequestHookHandler {
    return admissionHook((request, reply) => this.meter.chargeVisit(request, reply));
  }

  /** Shows the quota before admission: of the request's key, or of its address without a valid key. */
  async lookAhead(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const identified = async () => this.identify(request);
    // Without the database the caller is not known, and the response does not depend on it.
    const caller = await identified().catch(() => null);
    await this.meter.showStanding(request, reply, caller);
  }

  /** The key of the request, as this process remembers it; null = not known here. Waits for nothing. */
  rememberedKeyOf(message: IncomingMessage): KnownKey | null {
    const digest = this.digestIn(message);
    return digest === null ? null : this.apiKeys.callers.remembered(digest);
  }

  /** The caller of the request; null without a valid key. On a project's host only the project's own keys are valid. */
  private identify({ site, raw }: FastifyRequest): Caller | null | Promise<Caller | null> {
    const digest = this.digestIn(raw);
    const caller = digest === null ? null : this.apiKeys.callers.identify(digest);
    // A request refused before host routing has no site.
    const projectId = site?.projectId ?? null;
    if (projectId === null) return caller;
    const ownOnly = (known: Caller | null) => (known?.projectId === projectId ? known : null);
    return caller instanceof Promise ? caller.then(ownOnly) : ownOnly(caller);
  }

  /** The digest of the message's bearer token; null = it has none. RFC 6750 §2.1. */
  private digestIn({ headers: { authorization }, socket }: IncomingMessage): string | null {
    if (authorization === undefined) return null;
    const known = this.sentKeys.get(socket);
    if (known?.authorization === authorization) return known.digest;
    const [, token] = /^bearer +([^ ]+)$/i.exec(authorization) ?? [];
    const digest = token !== undefined && isToken(token) ? digestOf(token) : null;
    this.sentKeys.set(socket, { authorization, digest });
    return digest;
  }

  private async refuseUnknown(request: FastifyRequest, reply: FastifyReply): Promise<never> {
    await this.meter.charge(request, reply, ONE_UNIT);
    throw unauthorized();
  }

  private async visit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await this.meter.chargeVisit(request, reply);
    await this.meter.showStanding(request, reply);
  }
}

type Admit = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown> | undefined;

/** The hook waits for no promise unless `admit` returns one: a cached key counted in memory is decided synchronously. */
function admissionHook(admit: Admit): onRequestHookHandler {
  return (request, reply, done) => {
    // A preflight carries no credentials and spends nothing.
    const waiting = request.method === 'OPTIONS' ? undefined : admit(request, reply);
    if (waiting) waiting.then(() => done(), done);
    else done();
  };
}

/** The arguments for services: the caller, the actor and the Idempotency-Key of a request after admission. */
export function serviceCallOf({ caller, id, headers }: FastifyRequest, reply: FastifyReply): ServiceCall {
  if (!caller) throw new Error('a route that needs a caller is marked public');
  const text = headers['idempotency-key']?.toString();
  const onReplay = () => void reply.header(REPLAYED, 'true');
  const request = { requestId: id, mayWrite: mayWriteOf(reply) };
  return serviceCall(caller, request, text === undefined ? null : { text, onReplay });
}
