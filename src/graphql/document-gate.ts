import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import type { Meter } from '../admission/meter.js';
import type { KnownDocuments } from './known-documents.js';
import type { PersistedQueries } from './persisted-queries.js';
import { fieldsOfKind } from './root-fields.js';

/**
 * Stands before the parser, as only a parsed document tells what it costs: of a key that is refused at the moment, it lets
 * pass what is known already, and so many others a minute as name a field that spends nothing of the plan.
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

  private sourceOf({ method, body, query }: FastifyRequest): string | null {
    const asked = (method === 'GET' ? query : body) as Record<string, unknown> | null | undefined;
    if (typeof asked?.query === 'string') return asked.query;
    const hash = hashIn(asked?.extensions);
    return hash === null ? null : (this.persistedQueries.find(hash) ?? null);
  }
}

/** The SHA-256 of a persisted query, in the extensions of a POST or, as JSON, of a GET. */
function hashIn(extensions: unknown): string | null {
  const text = typeof extensions === 'string' ? extensions : (JSON.stringify(extensions) ?? '');
  return /"sha256Hash":\s*"([0-9a-f]{64})"/.exec(text)?.[1] ?? null;
}
