import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import {
  type DocumentNode,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
} from 'graphql';
import { type Cost, ONE_UNIT } from '../../request/admission/cost.js';
import type { Meter } from '../../request/admission/meter.js';
import type { KnownDocuments, PersistedQueries } from './known-documents.js';
import { refuse } from './negotiation.js';
import {
  costOf,
  costProblem,
  givenName,
  inputsProblem,
  META_FIELDS,
  type MeasuredOperation,
  operationName,
  sizeProblem,
  unitOf,
} from './operations/measured-operation.js';
import { type ListSizes, listSizesOf, measureOperation, type Variable } from './operations/operation-size.js';
import { parametersOf, type RequestParameters } from './request-parameters.js';
import { managementFields } from './schema/schema.js';

/** A shorter read takes about a millisecond, and does not wait for others. */
export const LONG_READ_FIELDS = 100;

/** A read of more fields takes tens of milliseconds, so that it waits for a turn of the event loop. */
const LARGE_READ_FIELDS = 1_000;

/** An operation with its document. The document need not be valid. */
export interface OperationInDocument {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

/** Measures, limits and charges requests: all of them, whether Apollo or `KnownOperations` answers. */
export class OperationCharges {
  private readonly lists: ListSizes;
  private readonly management = managementFields();
  private readonly rootFields: ReadonlySet<string>;

  constructor(
    schema: GraphQLSchema,
    private readonly meter: Meter,
  ) {
    this.lists = listSizesOf(schema);
    const types = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
    const declared = types.flatMap((type) => Object.keys(type?.getFields() ?? {}));
    this.rootFields = new Set([...declared, ...META_FIELDS]);
  }

  measure({ document, operation }: OperationInDocument, variable: Variable): MeasuredOperation {
    const size = measureOperation(document, operation, variable, this.lists);
    const cost = costOf(size.roots, this.management);
    const problem = inputsProblem(size.roots) ?? sizeProblem(size);
    const type = operation.operation;
    const names = size.roots.map((root) => root.name);
    return {
      size,
      cost,
      name: operationName(operation, names, this.rootFields),
      type,
      problem,
      readsSchema: names.includes('__schema') || names.includes('__type'),
      isLong: type === 'query' && cost.management > 0 && size.cost > LONG_READ_FIELDS,
      isLarge: size.cost > LARGE_READ_FIELDS,
    };
  }

  /**
   * Spends the cost, once; or one unit for an operation that is not known, is too large, or costs more than the plan has in
   * a window. Returns no promise if nothing has to wait. Throws, or rejects with, `AppError`: the problem, or 429 if the
   * quota is spent.
   */
  charge(
    measured: MeasuredOperation | null,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> | undefined {
    label(request, measured);
    if (!measured) return this.spend(ONE_UNIT, request, reply);
    const { cost } = measured;
    const problem = measured.problem ?? (request.caller && costProblem(cost, request.caller.quota));
    const charging = this.spend(problem ? unitOf(cost) : cost, request, reply);
    if (!problem) return charging;
    return Promise.resolve(charging).then(() => Promise.reject(problem));
  }

  /** Charges nothing for a refused operation, and shows the quota. */
  async waive(
    measured: MeasuredOperation | null,
    { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  ): Promise<void> {
    label(request, measured);
    request.paidBy = measured?.cost.plan === 0 ? 'management' : 'plan';
    await this.meter.showStanding(request, reply);
  }

  /**
   * Spends the cost of a valid document without directives, before its variables are parsed. Resolves with false if they
   * affect the cost. Rejects with `AppError` 429.
   */
  async chargeDocument(
    document: DocumentNode,
    operationName: unknown,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<boolean> {
    const operation = getOperationAST(document, operationName as string | undefined);
    if (!operation) return false;
    const measured = this.measure({ document, operation }, () => undefined);
    label(request, measured);
    const { cost, type } = measured;
    // A place for a stream comes first: if there is none, the refusal costs nothing.
    if (type === 'subscription' && cost.plan > 0) return false;
    if (type === 'mutation' && cost.plan > 0) return false;
    await this.spend(cost, request, reply);
    return true;
  }

  /**
   * A request that was refused before its operation was known costs one unit like any other; nothing was executed. If the
   * quota is spent, the 429 replaces the original answer. D-210.
   */
  readonly chargeUnpaid: onSendHookHandler = (request, reply, payload, done) => {
    if (!request.caller || request.paidBy) return done(null, payload);
    const settle = async () => this.spend(ONE_UNIT, request, reply);
    // Another answer may be sent while the charge waits: that of the deadline, or after it that of the handler.
    const finish = (answer: () => unknown) => reply.raw.headersSent || done(null, answer());
    settle().then(
      () => finish(() => payload),
      (error) => finish(() => refuse(error, request, reply)),
    );
  };

  private spend(cost: Cost, request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined {
    return request.paidBy ? undefined : this.meter.charge(request, reply, cost);
  }
}

function label(request: FastifyRequest, measured: MeasuredOperation | null): void {
  request.operation = measured?.name ?? null;
  request.operationType = measured?.type ?? null;
}

/**
 * Checks the requests of refused keys before anything of them is parsed, because the cost of a new document is known only
 * after parsing. A refused key may send known documents, and per minute a limited number of new documents that name a
 * field outside the plan. D-164.
 */
export class DocumentGate {
  private readonly managing = new RegExp(
    `\\b(?:${[...managementFields(), '__schema', '__type'].join('|')})\\b`,
  );

  constructor(
    private readonly charges: OperationCharges,
    private readonly meter: Meter,
    private readonly documents: KnownDocuments,
    private readonly persistedQueries: PersistedQueries,
  ) {}

  /** Charges or refuses the request before its variables are parsed. Rejects with `AppError` 429. */
  async chargeUnread(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const parameters = parametersOf(request);
    request.operation = givenName(parameters.operationName);
    const source = this.sourceOf(parameters);
    const document = source === null ? null : this.documents.of(hash('sha256', source, 'hex'));
    if (source === null || !document) {
      // The plan pays for a request without a document.
      return this.meter.admitUnread(request, reply, source !== null && this.managing.test(source));
    }
    // @skip and @include leave out fields.
    if (source.includes('@')) return;
    const isCharged = await this.charges.chargeDocument(document, parameters.operationName, request, reply);
    // The plan pays at least one unit.
    if (!isCharged) await this.meter.admitUnread(request, reply, false);
  }

  private sourceOf({ query, persistedQuery }: RequestParameters): string | null {
    if (typeof query === 'string') return query;
    const hash = (persistedQuery as { sha256Hash?: unknown } | null | undefined)?.sha256Hash;
    return typeof hash === 'string' ? (this.persistedQueries.sourceOf(hash) ?? null) : null;
  }
}
