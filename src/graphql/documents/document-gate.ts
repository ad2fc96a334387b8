import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { Meter } from '../../admission/meter.js';
import type { KnownDocuments } from './known-documents.js';
import type { PersistedQueries } from './persisted-queries.js';
import { parametersOf } from './request-parameters.js';
import { fieldsOfKind } from './root-fields.js';

/**
 * Checks the requests of refused keys before the parser, because a document's cost is known only after parsing. A refused
 * key may send known documents, and per minute a limited number of new documents that name a field outside the plan.
 */
export class DocumentGate {
  private readonly managing: RegExp;

  constructor(
    schema: GraphQLSchema,
    private readonly meter: Meter,
    private readonly documents: KnownDocuments,
    private readonly persistedQueries: PersistedQueries,
  ) {
    const names = [...fieldsOfKind(schema, 'management'), '__schema', '__type'];
    this.managing = new RegExp(`\\b(?:${names.join('|')})\\b`);
  }

  /** Returns no promise if nothing has to wait. Throws, or rejects with, `AppError` 429. */
  pass(request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined {
    if (!this.meter.isRefused(request)) return undefined;
    const source = this.sourceOf(request);
    // Without a source there is nothing to parse.
    if (source === null || this.documents.knows(source)) return undefined;
    return this.meter.admitUnread(request, reply, this.managing.test(source));
  }

  private sourceOf(request: FastifyRequest): string | null {
    const { query, persistedQuery } = parametersOf(request);
    if (typeof query === 'string') return query;
    const hash = (persistedQuery as { sha256Hash?: unknown } | null | undefined)?.sha256Hash;
    return typeof hash === 'string' ? (this.persistedQueries.sourceOf(hash) ?? null) : null;
  }
}
