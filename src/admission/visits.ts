import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../errors.js';
import type { Decision } from '../rate-limit/decision.js';
import type { Limiter } from '../rate-limit/limiter.js';
import { visitSubject } from '../rate-limit/subjects.js';
import { rateLimitHeaders } from './rate-limit-headers.js';

/** A flood, not a reader: a page brings at most twenty requests with it. Per client address. */
const VISIT_QUOTA = { perMinute: 600, perDay: null };

/**
 * Limits the requests that no key is asked for: pages and the files they load, unknown paths and hosts. They spend nothing
 * of any plan, and their answers show no quota until the limit refuses.
 */
export class Visits {
  constructor(private readonly limiter: Limiter) {}

  /** Returns nothing where no wait is needed. Throws, or rejects with, `AppError` 429 for an address that floods. */
  admit(request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined {
    const account = { subject: visitSubject(request.ip), keyId: null, quota: VISIT_QUOTA };
    const decision = this.limiter.charge({ ...account, cost: 1, connection: null });
    if (decision instanceof Promise) return decision.then((known) => settle(reply, known));
    settle(reply, decision);
    return undefined;
  }
}

/** Puts the limit in front of every route of this part of the server, unknown paths included. */
export function limitVisits(app: FastifyInstance, visits: Visits): void {
  app.addHook('onRequest', (request, reply, done) => {
    // A preflight costs no more than its refusal would.
    if (request.method === 'OPTIONS') return done();
    const waiting = visits.admit(request, reply);
    if (waiting) waiting.then(() => done(), done);
    else done();
  });
}

function settle(reply: FastifyReply, decision: Decision): void {
  if (decision.admitted) return;
  const { code, retryAfterSeconds } = decision;
  reply.headers(rateLimitHeaders(decision));
  const rule = `An address may send ${VISIT_QUOTA.perMinute} requests a minute (UTC) that need no API key.`;
  throw new AppError(code, `${rule} Try again in ${retryAfterSeconds} s.`, { retryAfterSeconds });
}
