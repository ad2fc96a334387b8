import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { durationInWords } from '../../ground/kernel/duration.js';
import { AppError } from '../../ground/kernel/errors.js';
import type { Decision, Limiter } from '../rate-limit/rules/limiter.js';
import { visitSubject } from '../rate-limit/rules/subjects.js';
import { rateLimitHeaders } from './meter.js';

/** Per client address. Stops floods, not readers: a page causes at most twenty requests. */
const VISIT_QUOTA = { perMinute: 600, perDay: null };

/**
 * Limits the requests that need no key: pages and their files, unknown paths and hosts. They spend nothing of any plan,
 * and their responses show no quota until the limit refuses. D-85.
 */
export class Visits {
  constructor(private readonly limiter: Pick<Limiter, 'charge'>) {}

  /**
   * Returns no promise if nothing has to wait. Throws, or rejects with, `AppError` 429 when the address is over its
   * limit.
   */
  admit(request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined {
    const account = { subject: visitSubject(request.ip), keyId: null, quota: VISIT_QUOTA };
    const decision = this.limiter.charge({ ...account, cost: 1, connection: null });
    if (decision instanceof Promise) return decision.then((known) => settle(reply, known));
    settle(reply, decision);
    return undefined;
  }
}

/** Applies the limit to routes that need no key, unknown paths included. */
export function limitVisits(visits: Visits): onRequestHookHandler {
  return (request, reply, done) => {
    // A preflight costs no more than its refusal would.
    if (request.method === 'OPTIONS') return done();
    const waiting = visits.admit(request, reply);
    if (waiting) waiting.then(() => done(), done);
    else done();
  };
}

function settle(reply: FastifyReply, decision: Decision): void {
  if (decision.admitted) return;
  const { code, retryAfterSeconds } = decision;
  reply.headers(rateLimitHeaders(decision));
  const rule = `An address may send ${VISIT_QUOTA.perMinute} requests a minute (UTC) that need no API key.`;
  throw new AppError(code, `${rule} Try again in ${durationInWords(retryAfterSeconds)}.`, {
    retryAfterSeconds,
  });
}
