import type { FastifyInstance, onRequestHookHandler, onSendHookHandler } from 'fastify';
import { isPage } from '../doors/graphql/negotiation.js';
import {
  announceAnswer,
  answerFromMemory,
  conditionalGet,
  keepAnswer,
  requireJsonAccepted,
} from '../doors/rest/rest.hooks.js';
import { requirePlatformHost } from '../doors/web/dashboard.door.js';
import { varyByEncoding } from '../doors/web/pages.door.js';
import { type Admission, UNADMITTED } from '../request/admission/admission.js';
import type { BodiesInFlight } from '../request/http/content/bodies-in-flight.js';
import { allowNoOrigin, allowOrigins } from '../request/http/cors.js';
import { labelAnswer, startAnswerTimer, stopAnswerTimer, UNANSWERED } from '../request/http/server.js';
import type { Tracing } from '../request/tracing/start-tracing.js';
import type { Parts } from './parts.js';
import {
  endOperationTrace,
  followTrace,
  resumeTrace,
  startOperationTrace,
  startTrace,
  UNTRACED,
} from './trace-hooks.js';

// Every hook of the server, in the order in which it runs. The hooks of a door run after those of the server.
// docs/request-path.md follows a request through them. D-105.

interface ServerHooks {
  isAllowedOrigin: (origin: string) => boolean;
  recordEnd: onRequestHookHandler;
  refuseEarly: onRequestHookHandler;
  /** Null = nothing is traced. */
  tracing: Tracing | null;
}

export function addServerHooks(
  server: FastifyInstance,
  { isAllowedOrigin, recordEnd, refuseEarly, tracing }: ServerHooks,
): void {
  const notes: Record<string, unknown> = {
    ...UNADMITTED,
    ...UNANSWERED,
    ...UNTRACED,
    shareResponse: null,
    bodyShare: null,
  };
  // Each request has all of them from the start: V8 reads objects of one shape fastest.
  for (const [name, value] of Object.entries(notes)) server.decorateRequest(name, value);

  // First, so that the deadline covers every hook below.
  server.addHook('onRequest', startAnswerTimer);
  // Before anything waits: a client that disconnects then is recorded, too.
  server.addHook('onRequest', recordEnd);
  // Before anything else that may be slow or refuse: the trace has it.
  if (tracing) {
    server.addHook('onRequest', startTrace(tracing));
    server.addHook('preValidation', followTrace(tracing));
  }
  // Before anything refuses: a refusal has a request id too.
  server.addHook('onRequest', labelAnswer);
  // Before anything refuses: pages of allowed origins may read refusals.
  server.addHook('onRequest', allowOrigins(isAllowedOrigin, server.names.exposed));
  // Sets the project of the host, which admission asks for; answers redirects and ACME challenges.
  server.addHook('onRequest', refuseEarly);

  // The timer of an answer that is on its way must not fire.
  server.addHook('onResponse', stopAnswerTimer);
}

export function addRestHooks(
  door: FastifyInstance,
  { admission, cache, tracing }: Parts,
  bodies: BodiesInFlight,
): void {
  // Before admission refuses: `Vary` and the deprecation of a route belong on refusals too.
  door.addHook('onRequest', announceAnswer);
  // Identifies the caller and charges the request.
  door.addHook('onRequest', admission.admitCallers());
  // After the charge: a request that cannot be answered in JSON costs a unit like any other.
  door.addHook('onRequest', requireJsonAccepted);
  // After admission, which may wait.
  if (tracing) door.addHook('onRequest', resumeTrace(tracing));
  // After the charge: an answer from memory is not free.
  door.addHook('onRequest', answerFromMemory(cache));
  // Before the body is received.
  door.addHook('preParsing', bodies.expectBody);

  // Before the answer may become a 304, which has no body to keep.
  door.addHook('onSend', keepAnswer(door.names));
  // Last: the body is final.
  door.addHook('onSend', conditionalGet);
}

export function addGraphQLHooks(
  door: FastifyInstance,
  { admission, tracing }: Parts,
  { bodies, chargeUnpaid }: { bodies: BodiesInFlight; chargeUnpaid: onSendHookHandler },
): void {
  // Identifies the caller. The door charges, when it knows the cost of the operation.
  door.addHook('onRequest', admission.admitCallers({ isChargedByDoor: true, isPublic: isPage }));
  // Before the body is received.
  door.addHook('preParsing', bodies.expectBody);
  // A request that was refused before its operation was known is charged, and perhaps refused for that.
  door.addHook('onSend', chargeUnpaid);
  if (!tracing) return;
  // Last before the handler, so that the operation's span covers exactly the handler.
  door.addHook('preHandler', startOperationTrace(tracing));
  door.addHook('onSend', endOperationTrace);
}

export function addKeylessHooks(part: FastifyInstance, admission: Admission): void {
  // Pages and unknown paths ask for no key, so their address is counted.
  part.addHook('onRequest', admission.limitVisits());
}

export function addPageHooks(door: FastifyInstance): void {
  // Pages hold what only their own site may read.
  door.addHook('onRequest', allowNoOrigin);
  // After CORS, whose `Vary` names an origin that does not count here.
  door.addHook('onRequest', varyByEncoding);
}

export function addDashboardHooks(door: FastifyInstance): void {
  door.addHook('onRequest', allowNoOrigin);
  // On a project's own hosts there is no dashboard.
  door.addHook('onRequest', requirePlatformHost);
}
