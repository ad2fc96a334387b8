import type { GraphQLRequestContextWillSendResponse } from '@apollo/server';
import { getDirective } from '@graphql-tools/utils';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GraphQLField, GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { EventLoopTurns } from '../../ground/scheduling/event-loop-turns.js';
import type { JsonBody } from '../../request/http/content/json-body.js';
import {
  type KeptResponse,
  type ResponseCache,
  textBytes,
} from '../../request/response-cache/response-cache.js';
import { type Context, contextOf, serviceCallOf } from './execution/context.js';
import type { NestedSource, NestedSources } from './execution/nested-fields.js';
import type { PersistedQueries } from './known-documents.js';
import { KnownOperation } from './known-operation.js';
import { answerType } from './negotiation.js';
import type { OperationCharges, OperationInDocument } from './operation-charges.js';
import type { MeasuredOperation } from './operations/measured-operation.js';
import { rootFieldNames } from './operations/operation-size.js';
import type { NullVariables } from './operations/selections.js';
import { type PostedOperation, postedOperationIn } from './request-parameters.js';

const MAX_OPERATIONS = 500;
const MAX_OPERATIONS_BYTES = 32 * 1024 * 1024;
/** An operation compiled by graphql-jit 0.8.9 takes 35 KB, plus 3 KB per selection; running it adds V8's own code. */
const COMPILED_BYTES = 48 * 1024;
const SELECTION_BYTES = 6 * 1024;

const MAX_REQUESTS = 2_000;
const MAX_REQUESTS_BYTES = 4 * 1024 * 1024;
/** The memory of a request without its text, and with a measurement of 20 root fields. */
const REQUEST_BYTES = 2_000;

/** Null = Apollo answers. */
type KnownResponse = KeptResponse | null;

/** A recognised request. Its variables stay in its text. */
interface KnownRequest {
  readonly operation: WeakRef<KnownOperation>;
  readonly measured: MeasuredOperation;
  readonly contentType: string;
  readonly dataOf: string;
  readonly nestedSources: readonly NestedSource[];
}

interface KnownOperationsOptions {
  schema: GraphQLSchema;
  charges: OperationCharges;
  nullVariables: NullVariables;
  nestedSources: NestedSources | null;
  persistedQueries: PersistedQueries;
  cache: ResponseCache;
  turns: EventLoopTurns;
}

/**
 * Valid, cacheable reads that need no Apollo: they are answered from the response cache while the data version is
 * unchanged, otherwise by a compiled function. Reads may run twice: after any failure Apollo executes them again. D-41.
 */
export class KnownOperations {
  /** Keyed by operation name and source. */
  private readonly operations = new LRUCache<string, KnownOperation>({
    max: MAX_OPERATIONS,
    maxSize: MAX_OPERATIONS_BYTES,
  });
  private readonly requests = new LRUCache<string, KnownRequest>({
    max: MAX_REQUESTS,
    maxSize: MAX_REQUESTS_BYTES,
    sizeCalculation: (_, text) => textBytes(text) + REQUEST_BYTES,
  });
  /** The root fields of which a response may be kept, with their nouns. */
  private readonly cacheable: ReadonlyMap<string, GraphQLField<unknown, unknown>>;

  constructor(private readonly parts: KnownOperationsOptions) {
    const fields = Object.values(parts.schema.getQueryType()?.getFields() ?? {});
    const cacheable = fields.filter(
      (field) =>
        getDirective(parts.schema, field, 'cacheControl')?.length && field.extensions.isComputed !== true,
    );
    this.cacheable = new Map(cacheable.map((field) => [field.name, field]));
  }

  /** Registers an operation that Apollo has executed without errors, so that later requests need no Apollo. */
  learn(executed: GraphQLRequestContextWillSendResponse<Context>): void {
    const { source, request, document, operation, response, contextValue } = executed;
    const isFaultless = response.body.kind === 'single' && !response.body.singleResult.errors;
    if (!source || !document || !operation || !isFaultless) return;
    const name = request.operationName ?? null;
    const key = keyOf(source, name);
    if (this.operations.has(key)) return;
    // With those that a variable leaves out.
    const nestedSources = this.parts.nestedSources?.(document, operation, () => undefined) ?? [];
    const dataOf = this.dataOf({ document, operation }, nestedSources.length > 0);
    if (dataOf === null) return;
    const selections = contextValue.operation?.size.selections ?? 0;
    const named = { source, document, operation, name, selections, dataOf, nestedSources };
    const size = COMPILED_BYTES + selections * SELECTION_BYTES + 2 * textBytes(key);
    this.operations.set(key, new KnownOperation(named, this.parts.charges), { size });
  }

  /** The data of an operation with root fields of one noun, if its whole response may be cached; otherwise null: a charge reads at most one version. */
  private dataOf({ document, operation }: OperationInDocument, isNested: boolean): string | null {
    if (operation.operation !== 'query') return null;
    const asked = rootFieldNames(document, operation).filter((name) => name !== '__typename');
    const fields = asked.map((name) => this.cacheable.get(name)?.extensions);
    const [noun, ...others] = new Set(fields.map((extensions) => extensions?.noun));
    if (noun === undefined || others.length > 0) return null;
    const group = fields[0]?.group;
    if (isNested && group !== undefined) return group === null ? null : String(group);
    return String(noun);
  }

  /**
   * Charges a request for a known operation, and answers it: at once, if nothing has to wait. Null = Apollo answers; a
   * charge stays charged. Throws, or rejects with, `AppError` 429 if the quota is spent.
   */
  answer(
    request: FastifyRequest,
    reply: FastifyReply,
    body: JsonBody,
  ): KnownResponse | Promise<KnownResponse> {
    const text = `${request.headers.accept ?? ''}\n${request.site.origin ?? ''}\n${body.key}`;
    const before = this.requests.get(text);
    const known = before ?? this.recognize(request, body);
    const mayRead = (source: NestedSource) => source.mayRead(serviceCallOf(contextOf(request, reply)));
    if (!known?.nestedSources.every(mayRead)) return null;
    const respond = () => {
      const response = this.parts.cache.respond(request, text, async () => {
        const executed = await this.execute(known, body, contextOf(request, reply, known.measured));
        // The operation may be evicted since; Apollo registers it again.
        if (!executed) this.requests.delete(text);
        return executed;
      });
      // A cache hit: the same request was sent before, and is likely to be sent again.
      if (known !== before && !(response instanceof Promise)) this.requests.set(text, known);
      return response;
    };
    request.dataOf = known.dataOf;
    const charging = this.parts.charges.charge(known.measured, request, reply);
    return charging ? charging.then(respond) : respond();
  }

  /** Null = the operation is not known, or must be refused with these variables. */
  private recognize(request: FastifyRequest, body: JsonBody): KnownRequest | null {
    const posted = postedOperationIn(body.parse(), this.parts.persistedQueries);
    const operation = posted && this.operations.get(keyOf(posted.source, posted.operationName));
    if (!operation || this.hasNull(operation, posted.variables)) return null;
    const measured = operation.measureWith(posted.variables);
    const contentType = answerType(request);
    if (measured.problem || contentType === undefined) return null;
    const { dataOf, nestedSources } = operation.named;
    return { operation: operation.reference, measured, contentType, dataOf, nestedSources };
  }

  private hasNull({ named }: KnownOperation, variables: PostedOperation['variables']): boolean {
    return this.parts.nullVariables.problemsOf(named.operation, variables, 1).length > 0;
  }

  private async execute(known: KnownRequest, body: JsonBody, context: Context): Promise<KnownResponse> {
    const { contentType, measured } = known;
    const operation = known.operation.deref();
    if (!operation) return null;
    const nextTurn = () => this.parts.turns.next(context.caller.projectId);
    if (!operation.compiled || measured.isLarge) await nextTurn();
    const executeOperation = operation.compiled ?? (await operation.compile(this.parts.schema));
    const { variables = {} } = postedOperationIn(body.parse(), this.parts.persistedQueries) ?? {};
    const result = await executeOperation(undefined, context, variables);
    // Apollo executes the operation again, and reports the errors.
    if (result.errors) return null;
    // The rows of several reads may have arrived at once, and writing a large answer takes milliseconds again.
    if (measured.isLarge) await nextTurn();
    // Apollo ends each response with a line feed.
    return { body: `${JSON.stringify(result)}\n`, headers: { 'content-type': contentType } };
  }
}

function keyOf(source: string, operationName: string | null): string {
  return `${JSON.stringify(operationName)}${source}`;
}
