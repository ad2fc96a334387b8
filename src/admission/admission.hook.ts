import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../caller.js';
import type { Decision, Standing } from '../rate-limit/decision.js';
import { unauthorized } from './admission.js';
import { ONE_UNIT, type Payer } from './cost.js';
import type { Meter } from './meter.js';
import type { Visits } from './visits.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose host the request was sent to: only that project's keys count there; null = the platform's, where all do. */
    site: {
      readonly projectId: bigint | null;
      /** Where the client reached it; null = the platform's own address, which is in the settings. */
      readonly origin: string | null;
    };
    /** Null on the routes that need no key. */
    caller: Caller | null;
    /** Both windows and the bans, after this request; null = the limiter has not been asked. */
    standing: Standing | Decision | null;
    /** From what the request was to be paid, whether or not that was there; null = it was not charged. */
    paidBy: Payer | null;
    /** It was admitted, and a field of it was not. */
    hasRefusedField: boolean;
  }
  interface FastifyContextConfig {
    /** `public`: answered without a key. `free`: needs a key and spends nothing. Otherwise a request costs one unit. */
    admission?: 'public' | 'free';
  }
}

interface AdmissionOptions {
  meter: Meter;
  /** Limit what needs no key. */
  visits: Visits;
  /** Whether the door charges the requests of known callers itself, once it knows their cost. */
  isChargedByDoor?: boolean;
  isPublic?: (request: FastifyRequest) => boolean;
}

/** Puts admission in front of every route of this part of the server, unknown paths included. */
export function admitCallers(app: FastifyInstance, options: AdmissionOptions): void {
  const { meter, visits, isChargedByDoor = false, isPublic = () => false } = options;
  app.decorateRequest('caller', null);
  app.decorateRequest('standing', null);
  app.decorateRequest('paidBy', null);
  app.decorateRequest('hasRefusedField', false);

  const enter = (caller: Caller | null, request: FastifyRequest, reply: FastifyReply) => {
    request.caller = caller;
    if (!caller) return refuseUnknown(request, reply);
    if (request.routeOptions.config.admission === 'free') return meter.look(request, reply);
    return isChargedByDoor ? undefined : meter.charge(request, reply, ONE_UNIT);
  };
  const refuseUnknown = async (request: FastifyRequest, reply: FastifyReply) => {
    await meter.charge(request, reply, ONE_UNIT);
    throw unauthorized();
  };
  const visit = async (request: FastifyRequest, reply: FastifyReply) => {
    await visits.admit(request, reply);
    await meter.look(request, reply);
  };
  const identify = async (
    identified: Promise<Caller | null>,
    request: FastifyRequest,
    reply: FastifyReply,
  ) => {
    const caller = await identified.catch(async (error) => {
      await meter.look(request, reply);
      throw error;
    });
    await enter(caller, request, reply);
  };
  const admit = (request: FastifyRequest, reply: FastifyReply): Promise<unknown> | undefined => {
    // A preflight carries no credentials and spends nothing.
    if (request.method === 'OPTIONS') return undefined;
    const isFree = request.routeOptions.config.admission === 'public' || isPublic(request);
    if (isFree) return visit(request, reply);
    const caller = meter.identify(request);
    return caller instanceof Promise ? identify(caller, request, reply) : enter(caller, request, reply);
  };
  // A promise only where there is something to wait for: a key that is known, counted in memory, waits for nothing.
  app.addHook('onRequest', (request, reply, done) => {
    const waiting = admit(request, reply);
    if (waiting) waiting.then(() => done(), done);
    else done();
  });
}

/** The caller of a request that went through admission. */
export function callerOf({ caller }: Pick<FastifyRequest, 'caller'>): Caller {
  if (!caller) throw new Error('a route that needs a caller is marked public');
  return caller;
}
