import {
  type DocumentNode,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
} from 'graphql';
import type { Cost } from '../../admission/cost.js';
import type { AppError } from '../../kernel/errors.js';
import { allRootFields, fieldsOfKind } from '../documents/root-fields.js';
import type { Context } from '../execution/context.js';
import { costOf, costProblem, unitOf } from './operation-cost.js';
import { sizeProblem } from './operation-limits.js';
import { operationName } from './operation-name.js';
import {
  constantSize,
  measureOperation,
  type OperationSize,
  type PageSizes,
  pageSizesOf,
} from './operation-size.js';
import { inputsProblem } from './root-inputs.js';
import { countStatements } from './statements.js';

/** A shorter read takes about a millisecond, and does not wait for others. */
export const LONG_READ_FIELDS = 100;

/** A read of more fields takes tens of milliseconds, so that it waits for a turn of the event loop. */
const LARGE_READ_FIELDS = 1_000;

/** An operation with its document. The document need not be valid. */
export interface OperationInDocument {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

export interface MeasuredOperation {
  readonly size: OperationSize;
  readonly cost: Cost;
  /** As `operationName` returns it. */
  readonly name: string | null;
  readonly type: 'query' | 'mutation' | 'subscription';
  /** The reason why the operation is refused; null = its size is allowed. */
  readonly problem: AppError | null;
  /** The operation reads more than a few fields of management. */
  readonly isLong: boolean;
  /** The operation executes so many fields that it blocks other requests. */
  readonly isLarge: boolean;
}

/** Measures, limits and charges operations: all of them, whether Apollo or `KnownOperations` executes them. */
export class OperationCharges {
  private readonly pages: PageSizes;
  private readonly fullPages: PageSizes;
  private readonly management: ReadonlySet<string>;
  private readonly rootFields: ReadonlySet<string>;

  constructor(private readonly schema: GraphQLSchema) {
    this.pages = pageSizesOf(schema);
    this.fullPages = pageSizesOf(schema, 'most');
    this.management = fieldsOfKind(schema, 'management');
    this.rootFields = allRootFields(schema);
  }

  /** `hasIdempotencyKey`: each mutation then runs more statements. */
  measure(
    { document, operation }: OperationInDocument,
    variables: Record<string, unknown>,
    hasIdempotencyKey: boolean,
  ): MeasuredOperation {
    const size = measureOperation(document, operation, variables, this.pages);
    const full = measureOperation(document, operation, variables, this.fullPages).cost;
    const cost = costOf(size.roots, this.management);
    const problem =
      inputsProblem(size.roots) ??
      sizeProblem({ ...size, full }) ??
      sizeProblem({ statements: countStatements(this.schema, document, operation, { hasIdempotencyKey }) });
    const type = operation.operation;
    const isRead = type === 'query';
    const isLong = isRead && cost.management > 0 && size.cost > LONG_READ_FIELDS;
    const names = size.roots.map((root) => root.name);
    const name = operationName(operation, names, this.rootFields);
    return { size, cost, name, type, problem, isLong, isLarge: size.cost > LARGE_READ_FIELDS };
  }

  /** Measures a read for all variables at once; null = its size depends on them. */
  measureConstant(read: OperationInDocument): MeasuredOperation | null {
    const size = constantSize(read.document, read.operation, this.pages);
    return size && this.measure(read, {}, false);
  }

  /**
   * Spends the cost of a valid document without directives, before its variables are parsed. Resolves with false if they
   * affect the cost. Rejects with `AppError` 429.
   */
  async chargeDocument(document: DocumentNode, operationName: unknown, context: Context): Promise<boolean> {
    const operation = getOperationAST(document, operationName as string | undefined);
    if (!operation) return false;
    const { cost, name, type } = this.measure({ document, operation }, {}, false);
    context.noteOperation(name, type);
    if (type === 'mutation' && cost.pets > 0) return false;
    await context.chargeOnce(cost);
    return true;
  }

  /**
   * Spends the cost, or one unit for an operation that is too large or costs more than the plan has in a window. Sets the
   * measured fields of the context. Returns no promise if nothing has to wait. Throws, or rejects with, `AppError`: the
   * problem, or 429 if the quota is spent.
   */
  chargeOperation(measured: MeasuredOperation, context: Context): Promise<void> | undefined {
    const { size, cost, name, type, isLong, isLarge } = measured;
    const problem = measured.problem ?? costProblem(cost, context.caller.quota);
    context.noteOperation(name, type);
    if (problem) return refuse(problem, unitOf(cost), context);
    context.rootFieldCount = size.rootFields;
    context.isIntrospection = cost.schema > 0;
    context.isLong = isLong;
    context.isLarge = isLarge;
    return context.chargeOnce(cost);
  }
}

async function refuse(problem: AppError, cost: Cost, context: Context): Promise<never> {
  await context.chargeOnce(cost);
  throw problem;
}
