import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLResolveInfo } from 'graphql';
import { createParameterDecorator } from 'type-graphql';
import {
  type Caller,
  type IdempotencyKey,
  type ServiceCall,
  serviceCall,
} from '../../../ground/kernel/caller.js';
import { unauthorized } from '../../../request/admission/refusal-errors.js';
import { REPLAYED } from '../../../request/http/headers.js';
import { mayWriteOf } from '../../../request/http/server.js';
import type { MeasuredOperation } from '../operations/measured-operation.js';
import { refusal } from './errors.js';

/** The request as resolvers see it. */
export interface Context {
  readonly caller: Caller;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Set before execution. */
  operation: MeasuredOperation | null;
  /** Mutations that got a stored answer. */
  replays: number;
  /** The cursor with which a stream resumes; null = the client sent none. WHATWG HTML §9.2.4. */
  readonly lastEventId: string | null;
}

/** Throws a refusal if the request has no caller. */
export function contextOf(
  request: FastifyRequest,
  reply: FastifyReply,
  operation: MeasuredOperation | null = null,
): Context {
  // The page needs no key; if Apollo executes such a request anyway, it has no caller.
  if (!request.caller) throw refusal(unauthorized(), request.server.names);
  const lastEventId = request.headers['last-event-id']?.toString() || null;
  return { caller: request.caller, request, reply, operation, replays: 0, lastEventId };
}

/** The origin at which the client reached the project's own host; null = a platform host. */
export function originOf({ request }: Context): string | null {
  return request.site.origin;
}

/** The call of a service, by default without an Idempotency-Key. */
export function serviceCallOf(context: Context, key: IdempotencyKey | null = null): ServiceCall {
  const { caller, request, reply } = context;
  return serviceCall(caller, { requestId: request.id, mayWrite: mayWriteOf(reply) }, key);
}

/** Decorates a parameter of a mutation: the call of a service, with its Idempotency-Key. */
export function Call() {
  return createParameterDecorator<Context>(({ context, info }) =>
    serviceCallOf(context, idempotencyKeyOf(context, info)),
  );
}

/**
 * The Idempotency-Key of one mutation. Each of several mutations in an operation gets its own key, made with its alias,
 * so that a repeated request finds the same keys. No header contains a line feed, so no client's key equals one of them.
 */
function idempotencyKeyOf(context: Context, info: GraphQLResolveInfo): IdempotencyKey | null {
  const { request, reply, operation } = context;
  const given = request.headers['idempotency-key']?.toString();
  if (given === undefined) return null;
  const mutations = operation?.size.rootFields ?? 1;
  const onReplay = () => {
    context.replays += 1;
    if (context.replays === mutations) reply.header(REPLAYED, 'true');
  };
  return { text: mutations === 1 ? given : `${given}\n${info.path.key}`, onReplay };
}
