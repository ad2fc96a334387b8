import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { constantSize, measureOperation, type OperationSize, type PageSizes } from './operation-size.js';

type Jit = typeof import('graphql-jit');

/**
 * graphql-jit 0.8.9 merges what @skip and @include leave out with what they do not (a fragment spread twice, a field asked
 * for twice), and loses what is called `__proto__`. Such operations are executed by graphql itself.
 */
const MISCOMPILED = /@|__proto__/;

/** Compiling takes 0.1 ms for each selection: what has more is executed by graphql itself. */
const MAX_SELECTIONS = 150;

export interface CompiledOperation {
  query(
    root: undefined,
    context: unknown,
    variables: Record<string, unknown>,
  ): ExecutionResult | Promise<ExecutionResult>;
  /** The JSON of a result without errors. */
  stringify(result: ExecutionResult): string;
}

/** An operation of a document; `name` as the client gave it. */
export interface NamedOperation {
  readonly source: string;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly name: string | null;
}

/** A valid read, which is compiled when it is first executed. Others may hold it when it is evicted: then it is empty. */
export class KnownOperation {
  private times = 0;
  /** Null = it can't be compiled; undefined = that was not tried. */
  private compiled: CompiledOperation | null | undefined;
  /** Null = the size depends on the variables. */
  private constant: OperationSize | null | undefined;

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly pages: PageSizes,
    private named: NamedOperation | null,
  ) {}

  /** How often it was asked for, this time included. */
  count(): number {
    this.times += 1;
    return this.times;
  }

  /** Whether it may be executed here: it was not evicted, and can be compiled as far as is known. */
  get isUsable(): boolean {
    return this.named !== null && this.compiled !== null;
  }

  /** Whether `compile` has nothing left to do. */
  get isCompiled(): boolean {
    return this.compiled !== undefined;
  }

  /** Null once it was evicted. */
  sizeWith(variables: Record<string, unknown>): OperationSize | null {
    if (!this.named) return null;
    const { document, operation } = this.named;
    if (this.constant === undefined) this.constant = constantSize(document, operation, this.pages);
    return this.constant ?? measureOperation(document, operation, variables, this.pages);
  }

  /** Null = it can't be compiled, or was evicted. Takes milliseconds the first time. */
  compile(jit: Jit): CompiledOperation | null {
    if (!this.named) return null;
    if (this.compiled === undefined) {
      const isLarge = (this.sizeWith({})?.selections ?? 0) > MAX_SELECTIONS;
      const byGraphql = isLarge || MISCOMPILED.test(this.named.source);
      this.compiled = byGraphql ? executed(this.schema, this.named) : compile(jit, this.schema, this.named);
    }
    return this.compiled;
  }

  /** Lets go of the document and of what was compiled, whoever still holds the operation. */
  evict(): void {
    this.named = null;
    this.compiled = null;
  }
}

function executed(schema: GraphQLSchema, { document, name }: NamedOperation): CompiledOperation {
  return {
    query: (_, contextValue, variableValues) =>
      execute({ schema, document, operationName: name, contextValue, variableValues }),
    stringify: JSON.stringify,
  };
}

function compile(
  { compileQuery, isCompiledQuery }: Jit,
  schema: GraphQLSchema,
  { document, name }: NamedOperation,
): CompiledOperation | null {
  const compileWith = (customJSONSerializer: boolean) =>
    compileQuery(schema, document, name ?? undefined, { customJSONSerializer });
  const withSerializer = compileWith(true);
  // Its serializers know no scalars but GraphQL's own.
  const compiled = isCompiledQuery(withSerializer) ? withSerializer : compileWith(false);
  if (!isCompiledQuery(compiled)) return null;
  const { query, stringify } = compiled;
  return { query, stringify };
}
