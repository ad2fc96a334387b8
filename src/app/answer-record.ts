import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import {
  type AnsweredRequest,
  type CountedRequest,
  OTHER_OPERATION,
  type RequestOutcome,
} from '../ground/kernel/answered-request.js';
import type { EndedRequests } from '../request/http/drain.js';
import { onWorkDone } from '../request/http/server.js';
import type { Parts } from './parts.js';

/** The name of OpenTelemetry for any other method is `_OTHER`. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT']);
const UNKNOWN_ROUTE = 'unknown';
/** Apollo's name of a client, as its tools send it. */
const CLIENT_HEADER = 'apollographql-client-name';
const DASHBOARD = 'dashboard';
/** Of a `User-Agent` in the request log. */
const MOST_CHARACTERS = 200;
/** No answer: the client disconnected before, or its body was refused in the middle. nginx's number for it. */
const DISCONNECTED = 499;

/**
 * Logs each request at its end, and records it: metrics, the use of the key, the usage of the project and its log. The end:
 * the answer has left, a stream is live, or the client has disconnected, for which Fastify's `onResponse` does not run. The
 * client does not wait for it.
 */
export function recordEnds(
  { metrics, services }: Parts,
  ended: EndedRequests,
  now: () => number,
): onRequestHookHandler {
  const { keyUses, usage, requestWriter } = services;
  return (request, reply, done) => {
    onWorkDone(request, reply.raw, () => {
      logAnswer(request, reply);
      const answered = answeredRequest(request, reply, now());
      metrics?.observe(answered);
      if (answered.door !== 'other')
        ended[answered.status === DISCONNECTED ? 'unanswered' : 'completed'] += 1;
      if (answered.keyId !== null) keyUses.note(answered.keyId);
      if (!isCounted(answered)) return;
      usage.count(answered);
      requestWriter.note(answered);
    });
    done();
  };
}

function isCounted(answered: AnsweredRequest): answered is CountedRequest {
  if (answered.keyId === null || answered.door === 'other') return false;
  // Free requests, such as reading the remaining quota, are shown only when they fail.
  return answered.paidBy !== null || answered.outcome !== 'ok';
}

/** Writes the one line that the log has of each request. */
function logAnswer(request: FastifyRequest, reply: FastifyReply): void {
  const { caller, standing, paidBy, trace } = request;
  request.server.log.info(
    {
      requestId: request.id,
      method: request.method,
      path: request.url.split('?', 1)[0],
      status: statusOf(reply),
      durationMs: Math.round(reply.elapsedTime * 10) / 10,
      // Undefined fields are not written.
      projectId: caller ? String(caller.projectId) : undefined,
      keyId: caller ? String(caller.keyId) : undefined,
      paidBy: paidBy === 'plan' ? undefined : (paidBy ?? undefined),
      minuteLeft: standing?.minute.remaining,
      dayLeft: standing?.day?.remaining,
      ...trace?.logFields,
    },
    'request',
  );
}

export function methodOf({ method }: FastifyRequest): string {
  return METHODS.has(method) ? method : '_OTHER';
}

export function routeOf({ routeOptions }: FastifyRequest): string {
  return routeOptions.url ?? UNKNOWN_ROUTE;
}

/**
 * The door that the request's address belongs to, regardless of the outcome. The router finds it also in another spelling,
 * such as `/%67raphql` or `/graphql#`.
 */
export function doorOf(url: string): AnsweredRequest['door'] {
  const path = url.includes('%') ? decodeURI(url.replace(/[?#].*$/s, '')) : url;
  const [, first] = /^\/(graphql|v1)(?:[/?#]|$)/.exec(path) ?? [];
  if (first === 'v1') return 'rest';
  return first === 'graphql' ? 'graphql' : 'other';
}

function answeredRequest(request: FastifyRequest, reply: FastifyReply, atMs: number): AnsweredRequest {
  const { caller, standing, errorCode } = request;
  const isAdmitted = standing !== null && 'admitted' in standing && standing.admitted;
  const isStrike = standing !== null && 'strike' in standing && standing.strike !== null;
  const status = statusOf(reply);
  const outcome = outcomeOf(request, isAdmitted, status);
  return {
    atMs,
    requestId: request.id,
    projectId: caller?.projectId ?? null,
    keyId: caller?.keyId ?? null,
    door: doorOf(request.url),
    method: methodOf(request),
    route: routeOf(request),
    operation: request.operation ?? OTHER_OPERATION,
    status,
    code: errorCode,
    outcome,
    durationMs: reply.elapsedTime,
    paidBy: request.paidBy,
    isDashboardRead:
      outcome === 'ok' && request.paidBy === 'management' && request.headers[CLIENT_HEADER] === DASHBOARD,
    units: isAdmitted ? request.units : 0,
    strikeBy: isStrike ? (request.headers['user-agent'] || 'unknown').slice(0, MOST_CHARACTERS) : null,
  };
}

function statusOf({ raw, statusCode }: FastifyReply): number {
  return raw.headersSent ? statusCode : DISCONNECTED;
}

function outcomeOf(
  { paidBy, hasRefusedField, errorCode }: FastifyRequest,
  isAdmitted: boolean,
  status: number,
): RequestOutcome {
  if (paidBy && (!isAdmitted || hasRefusedField)) return 'refused';
  return status >= 400 || errorCode !== null ? 'failed' : 'ok';
}
