import type { FastifyBaseLogger } from 'fastify';
import type { GraphQLResolveInfo } from 'graphql';
import type { Cost } from '../admission/cost.js';
import type { Caller } from '../caller.js';
import type { Standing } from '../rate-limit/decision.js';

/** What a resolver knows of the request. */
export interface Context {
  caller: Caller;
  requestId: string;
  log: FastifyBaseLogger;
  idempotencyKey: string | null;
  /** Fields that the operation resolves at its root, aliases counted; set before execution. */
  rootFieldCount: number;
  /** Where the client reached the project's own host; null = the platform's. */
  origin: string | null;
  /** Spends the cost, once. Throws, or rejects with, `AppError` 429 when it is not there. */
  charge(cost: Cost): Promise<void> | undefined;
  /** The operation reads the schema and nothing else; set before execution. */
  isIntrospection: boolean;
  /** It reads more than a few fields of management: those of a project are executed one after the other. Set before execution. */
  isLong: boolean;
  /** The request has been answered, or its client has left. */
  isOver(): boolean;
  /** A field of the operation was refused for its own limit: the request is counted as refused. */
  noteRefusedField(): void;
  /** Both windows and the bans, after this request; null before `charge`. */
  standing(): Standing | null;
}

/** The key of one mutation: an operation with several gives each its own, by alias, so that a repetition finds them again. */
export function idempotencyKeyOf(context: Context, info: GraphQLResolveInfo): string | null {
  const { idempotencyKey, rootFieldCount } = context;
  if (idempotencyKey === null || rootFieldCount === 1) return idempotencyKey;
  return `${idempotencyKey}:${info.path.key}`;
}
