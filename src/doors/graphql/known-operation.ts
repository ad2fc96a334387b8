import { type ExecutionResult, execute, type GraphQLSchema } from 'graphql';
import type { NestedSource } from './execution/nested-fields.js';
import type { OperationCharges, OperationInDocument } from './operation-charges.js';
import { type CompilableOperation, isCompilable } from './operations/compilable.js';
import type { MeasuredOperation } from './operations/measured-operation.js';
import { variablesIn } from './operations/operation-size.js';

type ExecuteOperation = (
  root: undefined,
  context: unknown,
  variables: Record<string, unknown>,
) => ExecutionResult | Promise<ExecutionResult>;

/** An operation of a document; `name` is the client's operationName. */
export interface NamedOperation extends OperationInDocument, CompilableOperation {
  readonly name: string | null;
  /** The noun that it reads. */
  readonly dataOf: string;
  /** A caller must be able to read all of them. */
  readonly nestedSources: readonly NestedSource[];
}

/** A valid read, compiled at its first execution. */
export class KnownOperation {
  /** For those who must not keep it in memory after its eviction. */
  readonly reference = new WeakRef(this);
  /** Null before the first execution. */
  compiled: ExecuteOperation | null = null;
  /** The last measurement, with the variables that it read: page sizes, and those of @skip and @include. */
  private last: { measured: MeasuredOperation; read: [name: string, value: unknown][] } | null = null;

  constructor(
    readonly named: NamedOperation,
    private readonly charges: OperationCharges,
  ) {}

  /** Clients rarely change the page size: while the variables that it read are the same, the last measurement holds. */
  measureWith(variables: Record<string, unknown>): MeasuredOperation {
    if (this.last?.read.every(([name, value]) => variables[name] === value)) return this.last.measured;
    const read: [name: string, value: unknown][] = [];
    const variable = variablesIn(variables);
    const measured = this.charges.measure(this.named, (name) => {
      const value = variable(name);
      // A value of a wrong type may be large: it is not kept, and NaN equals no value.
      const isKept = value === undefined || typeof value === 'number' || typeof value === 'boolean';
      read.push([name, isKept ? value : Number.NaN]);
      return value;
    });
    this.last = { measured, read };
    return measured;
  }

  /** Takes milliseconds. */
  async compile(schema: GraphQLSchema): Promise<ExecuteOperation> {
    const jit = await import('graphql-jit');
    this.compiled ??= executorOf(jit, schema, this.named);
    return this.compiled;
  }
}

function executorOf(
  { compileQuery, isCompiledQuery }: typeof import('graphql-jit'),
  schema: GraphQLSchema,
  named: NamedOperation,
): ExecuteOperation {
  const { document, name } = named;
  const compiled = isCompilable(schema, named) ? compileQuery(schema, document, name ?? undefined) : null;
  if (compiled && isCompiledQuery(compiled)) return compiled.query;
  return (_, contextValue, variableValues) =>
    execute({ schema, document, operationName: name, contextValue, variableValues });
}
