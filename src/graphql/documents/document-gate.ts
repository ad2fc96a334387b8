import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import type { Meter } from '../../admission/meter.js';
import type { KnownDocuments } from './known-documents.js';
import type { PersistedQueries } from './persisted-queries.js';
import type { RequestParameters } from './request-parameters.js';
import { fieldsOfKind } from './root-fields.js';

/**
 * Checks the requests of refused keys before anything of them is parsed, because the cost of a new document is known only
 * after parsing. A refused key may send known documents, and per minute a limited number of new documents that name a
 * field outside the plan.
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

  /**
   * Returns the document of the request if it is known and costs the same for all variables: the caller charges it before
   * it parses them. Rejects with `AppError` 429.
   */
  async pass(
    request: FastifyRequest,
    reply: FastifyReply,
    parameters: RequestParameters,
  ): Promise<DocumentNode | null> {
    const source = this.sourceOf(parameters);
    const known = source === null ? null : this.documents.of(source);
    // @skip and @include leave out fields.
    if (source !== null && known) return source.includes('@') ? null : known;
    // The plan pays for a request without a document.
    await this.meter.admitUnread(request, reply, source !== null && this.managing.test(source));
    return null;
  }

  private sourceOf({ query, persistedQuery }: RequestParameters): string | null {
    if (typeof query === 'string') return query;
    const hash = (persistedQuery as { sha256Hash?: unknown } | null | undefined)?.sha256Hash;
    return typeof hash === 'string' ? (this.persistedQueries.sourceOf(hash) ?? null) : null;
  }
}
