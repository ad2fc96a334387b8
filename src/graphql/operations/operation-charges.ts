import {
  type DocumentNode,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
} from 'graphql';
import type { Cost } from '../../admission/cost.js';
import type { AppError } from '../../kernel/errors.js';
import { allRootFields, fieldsOfKind } from '../documents/root-fields.js';
import type { Context, PlannedOperation } from '../execution/context.js';
import { costOf, costProblem, unitOf } from './operation-cost.js';
import { sizeProblem } from './operation-limits.js';
import { operationName } from './operation-name.js';
import { type ListSizes, listSizesOf, measureOperation, type OperationSize } from './operation-size.js';
import { inputsProblem } from './root-inputs.js';

/** A shorter read takes about a millisecond, and does not wait for others. */
export const LONG_READ_FIELDS = 100;

/** A read of more fields takes tens of milliseconds, so that it waits for a turn of the event loop. */
const LARGE_READ_FIELDS = 1_000;

/** An operation with its document. The document need not be valid. */
export interface OperationInDocument {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
}

export interface MeasuredOperation extends PlannedOperation {
  readonly size: OperationSize;
  /** As `operationName` returns it. */
  readonly name: string | null;
  readonly type: 'query' | 'mutation' | 'subscription';
  /** The reason why the operation is refused; null = its size is allowed. */
  readonly problem: AppError | null;
}

/** Measures, limits and charges operations: all of them, whether Apollo or `KnownOperations` executes them. */
export class OperationCharges {
  private readonly lists: ListSizes;
  private readonly management: ReadonlySet<string>;
  private readonly rootFields: ReadonlySet<string>;

  constructor(schema: GraphQLSchema) {
    this.lists = listSizesOf(schema);
    this.management = fieldsOfKind(schema, 'management');
    this.rootFields = allRootFields(schema);
  }

  measure(
    { document, operation }: OperationInDocument,
    variables: Record<string, unknown>,
  ): MeasuredOperation {
    const size = measureOperation(document, operation, variables, this.lists);
    const cost = costOf(size.roots, this.management);
    const problem = inputsProblem(size.roots) ?? sizeProblem(size);
    const type = operation.operation;
    const isRead = type === 'query';
    const isLong = isRead && cost.management > 0 && size.cost > LONG_READ_FIELDS;
    const names = size.roots.map((root) => root.name);
    const name = operationName(operation, names, this.rootFields);
    const readsSchema = names.includes('__schema') || names.includes('__type');
    const isLarge = size.cost > LARGE_READ_FIELDS;
    return { size, cost, name, type, problem, readsSchema, isLong, isLarge };
  }

  /**
   * Spends the cost of a valid document without directives, before its variables are parsed. Resolves with false if they
   * affect the cost. Rejects with `AppError` 429.
   */
  async chargeDocument(document: DocumentNode, operationName: unknown, context: Context): Promise<boolean> {
    const operation = getOperationAST(document, operationName as string | undefined);
    if (!operation) return false;
    const { cost, name, type } = this.measure({ document, operation }, {});
    context.noteOperation(name, type);
    if (type === 'mutation' && cost.pets > 0) return false;
    await context.chargeOnce(cost);
    return true;
  }

  /**
   * Spends the cost, or one unit for an operation that is too large or costs more than the plan has in a window. Sets the
   * operation of the context. Returns no promise if nothing has to wait. Throws, or rejects with, `AppError`: the
   * problem, or 429 if the quota is spent.
   */
  chargeOperation(measured: MeasuredOperation, context: Context): Promise<void> | undefined {
    const { cost, name, type } = measured;
    const problem = measured.problem ?? costProblem(cost, context.caller.quota);
    context.noteOperation(name, type);
    if (problem) return refuse(problem, unitOf(cost), context);
    context.operation = measured;
    return context.chargeOnce(cost);
  }
}

async function refuse(problem: AppError, cost: Cost, context: Context): Promise<never> {
  await context.chargeOnce(cost);
  throw problem;
}
