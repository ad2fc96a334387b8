import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLResolveInfo } from 'graphql';
import type { Cost } from '../../admission/cost.js';
import type { Meter } from '../../admission/meter.js';
import { unauthorized } from '../../admission/refusals.js';
import { REPLAYED } from '../../http/headers.js';
import { type Caller, type IdempotencyKey, type ServiceCall, serviceCall } from '../../kernel/caller.js';
import type { Standing } from '../../rate-limit/rules/decision.js';
import { refusal } from './errors.js';

/** An operation before its execution. */
export interface PlannedOperation {
  readonly size: { readonly rootFields: number; readonly selections: number };
  readonly cost: Cost;
  /** It has `__schema` or `__type` at its root, perhaps with other fields. */
  readonly readsSchema: boolean;
  /**
   * It reads more than a few fields of management or of the schema. Such reads of a project run one after the other.
   */
  readonly isLong: boolean;
  /** It executes more than 1,000 fields, so that it waits for a turn of the event loop. */
  readonly isLarge: boolean;
}

/** The request as resolvers see it. */
export interface Context {
  caller: Caller;
  requestId: string;
  log: FastifyBaseLogger;
  idempotencyKey: string | null;
  /** Called by each mutation that gets a stored answer. */
  noteReplay(): void;
  /** Set before execution. */
  operation: PlannedOperation | null;
  /** The origin at which the client reached the project's own host; null = a platform host. */
  origin: string | null;
  /** Spends the cost, once. Throws, or rejects with, `AppError` 429 if the quota is spent. */
  chargeOnce(cost: Cost): Promise<void> | undefined;
  /** The request has its response, or its client has disconnected. */
  isOver(): boolean;
  /** Called when a field was refused by its own limit: the request then counts as refused. */
  noteRefusedField(): void;
  /** Called when the operation is known, before its charge: `name` is what it is counted under, `type` is `query`, … */
  noteOperation(name: string | null, type: string | null): void;
  /** Called with the code of the first error of the answer. */
  noteError(code: string): void;
  /** Both windows and the ban state after this request; null before `chargeOnce`. */
  standing(): Standing | null;
}

/** Throws a refusal if the request has no caller. */
export function contextOf(request: FastifyRequest, reply: FastifyReply, meter: Meter): Context {
  // The page needs no key; if Apollo executes such a request anyway, it has no caller.
  if (!request.caller) throw refusal(unauthorized());
  let replays = 0;
  return {
    caller: request.caller,
    requestId: request.id,
    log: request.log,
    idempotencyKey: request.headers['idempotency-key']?.toString() ?? null,
    noteReplay() {
      replays += 1;
      if (replays === this.operation?.size.rootFields) reply.header(REPLAYED, 'true');
    },
    operation: null,
    origin: request.site.origin,
    isOver: () => reply.sent || reply.raw.destroyed,
    chargeOnce: (cost) => (request.paidBy ? undefined : meter.charge(request, reply, cost)),
    noteRefusedField: () => {
      request.hasRefusedField = true;
    },
    noteOperation: (name, type) => {
      request.operation = name;
      request.operationType = type;
    },
    noteError: (code) => {
      request.errorCode = code;
    },
    standing: () => request.standing,
  };
}

/** The arguments for services. Give `info` for a mutation, so that it has an Idempotency-Key. */
export function serviceCallOf(context: Context, info?: GraphQLResolveInfo): ServiceCall {
  return serviceCall(context.caller, context.requestId, info ? idempotencyKeyOf(context, info) : null);
}

/**
 * The Idempotency-Key of one mutation. Each of several mutations in an operation gets its own key, made with its alias,
 * so that a repeated request finds the same keys. No header contains a line feed, so no client's key equals one of them.
 */
function idempotencyKeyOf(context: Context, info: GraphQLResolveInfo): IdempotencyKey | null {
  const { idempotencyKey, operation } = context;
  if (idempotencyKey === null) return null;
  const text = operation?.size.rootFields === 1 ? idempotencyKey : `${idempotencyKey}\n${info.path.key}`;
  return { text, onReplay: () => context.noteReplay() };
}
