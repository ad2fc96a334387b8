import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { Meter } from '../admission/meter.js';
import type { KnownDocuments } from './known-documents.js';
import type { PersistedQueries } from './persisted-queries.js';
import { parametersOf } from './request-parameters.js';
import { fieldsOfKind } from './root-fields.js';

/**
 * Stands before the parser, because the cost of a document is known only after parsing. For a key that is refused at the
 * moment it passes known documents, and a number of new ones a minute that name a field which the plan does not pay.
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

  /** Returns nothing where no wait is needed. Throws, or rejects with, `AppError` 429. */
  pass(request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined {
    if (!this.meter.isRefused(request)) return undefined;
    const source = this.sourceOf(request);
    // Without a source nothing is parsed.
    if (source === null || this.documents.knows(source)) return undefined;
    return this.meter.admitUnread(request, reply, this.managing.test(source));
  }

  private sourceOf(request: FastifyRequest): string | null {
    const { query, persistedQuery } = parametersOf(request);
    if (typeof query === 'string') return query;
    const hash = (persistedQuery as { sha256Hash?: unknown } | null | undefined)?.sha256Hash;
    return typeof hash === 'string' ? (this.persistedQueries.find(hash) ?? null) : null;
  }
}
