import { type ExecutionResult, execute, type GraphQLSchema, Kind } from 'graphql';
import type { OperationCharges, OperationInDocument } from './operation-charges.js';
import type { MeasuredOperation } from './operations/measured-operation.js';

export type Jit = typeof import('graphql-jit');

/**
 * graphql-jit 0.8.9 merges selections that @skip and @include leave out with others of the same field: in a fragment
 * spread twice, or in a repeated field. It also loses fields named `__proto__`. graphql itself executes such operations. D-42.
 */
const MISCOMPILED = /@|__proto__/;

/** Compiling takes 0.1 ms per selection: graphql itself executes larger operations. */
const MAX_SELECTIONS = 150;
/** Clients use few page sizes. */
const MAX_MEASURED = 20;

type ExecuteOperation = (
  root: undefined,
  context: unknown,
  variables: Record<string, unknown>,
) => ExecutionResult | Promise<ExecutionResult>;

/** An operation of a document; `name` is the client's operationName. */
export interface NamedOperation extends OperationInDocument {
  readonly source: string;
  readonly name: string | null;
}

/**
 * A valid read, compiled at its first execution. Other code may still reference it after its eviction: then it is empty.
 */
export class KnownOperation {
  private requests = 0;
  /** Null = it can't be compiled; undefined = not tried yet. */
  private compiled: ExecuteOperation | null | undefined;
  /** Null = the size depends on the variables, or is not measured yet. */
  private constant: MeasuredOperation | null = null;
  /** Keyed by the values of `sizing`. */
  private readonly measured = new Map<string, MeasuredOperation>();
  /** The variables that may change the size: page sizes, and those of @skip and @include. */
  private readonly sizing: readonly string[];

  constructor(
    private named: NamedOperation | null,
    private readonly charges: OperationCharges,
  ) {
    this.sizing = named === null ? [] : variablesOfType(named, ['Int', 'Boolean']);
  }

  /** Counts a request for the operation. Returns how many there have been. */
  countRequest(): number {
    this.requests += 1;
    return this.requests;
  }

  /** Whether it can be executed here: it was not evicted, and compiling it has not failed. */
  get isUsable(): boolean {
    return this.named !== null && this.compiled !== null;
  }

  /** Whether `compile` has nothing left to do. */
  get isCompiled(): boolean {
    return this.compiled !== undefined;
  }

  /** Null after its eviction. */
  measureWith(variables: Record<string, unknown>): MeasuredOperation | null {
    if (!this.named) return null;
    return this.constant ?? this.measureOnce(this.named, variables);
  }

  private measureOnce(named: NamedOperation, variables: Record<string, unknown>): MeasuredOperation {
    const values = this.sizing.map((name) => variables[name]);
    const measure = () => this.charges.measure(named, variables);
    // Wrong types would make long keys, or the keys of other values.
    if (values.some((value) => (typeof value === 'object' ? value !== null : typeof value === 'string')))
      return measure();
    const key = values.map(String).join();
    const known = this.measured.get(key);
    if (known) return known;
    const measured = measure();
    if (measured.size.isConstant) this.constant = measured;
    if (this.measured.size >= MAX_MEASURED) this.measured.clear();
    this.measured.set(key, measured);
    return measured;
  }

  /** Null = it can't be compiled, or was evicted. The first call takes milliseconds. */
  compile(jit: Jit, schema: GraphQLSchema): ExecuteOperation | null {
    if (!this.named) return null;
    if (this.compiled === undefined) {
      const isLarge = (this.measureWith({})?.size.selections ?? 0) > MAX_SELECTIONS;
      const byGraphql = isLarge || MISCOMPILED.test(this.named.source);
      this.compiled = byGraphql ? interpreted(schema, this.named) : compiledBy(jit, schema, this.named);
    }
    return this.compiled;
  }

  /** Releases the document and the compiled code, even if other code still references the operation. */
  evict(): void {
    this.named = null;
    this.compiled = null;
    this.measured.clear();
  }
}

function variablesOfType({ operation }: NamedOperation, types: readonly string[]): string[] {
  const definitions = operation.variableDefinitions ?? [];
  return definitions
    .filter(({ type }) => {
      const named = type.kind === Kind.NON_NULL_TYPE ? type.type : type;
      return named.kind === Kind.NAMED_TYPE && types.includes(named.name.value);
    })
    .map(({ variable }) => variable.name.value);
}

function interpreted(schema: GraphQLSchema, { document, name }: NamedOperation): ExecuteOperation {
  return (_, contextValue, variableValues) =>
    execute({ schema, document, operationName: name, contextValue, variableValues });
}

function compiledBy(
  { compileQuery, isCompiledQuery }: Jit,
  schema: GraphQLSchema,
  { document, name }: NamedOperation,
): ExecuteOperation | null {
  const compiled = compileQuery(schema, document, name ?? undefined);
  return isCompiledQuery(compiled) ? compiled.query : null;
}
