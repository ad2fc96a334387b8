import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { mayBeKept } from './cache-control.directive.js';
import {
  constantSize,
  measureOperation,
  type OperationSize,
  type PageSizes,
  pageSizesOf,
} from './operation-size.js';
import type { PersistedQueries } from './persisted-queries.js';

const MAX_OPERATIONS = 500;
const MAX_SOURCE_BYTES = 4 * 1024 * 1024;
/** Compiling takes milliseconds: only for who comes again. */
const TIMES_BEFORE_COMPILING = 2;

/**
 * graphql-jit 0.8.9 merges what @skip and @include leave out with what they do not (a fragment spread twice, a field asked
 * for twice), and loses what is called `__proto__`. Such operations are executed by graphql itself.
 */
const MISCOMPILED = /@|__proto__/;

export interface CompiledOperation {
  sizeWith(variables: Record<string, unknown>): OperationSize;
  query(
    root: undefined,
    context: unknown,
    variables: Record<string, unknown>,
  ): ExecutionResult | Promise<ExecutionResult>;
  /** The JSON of a result without errors. */
  stringify(result: ExecutionResult): string;
}

interface Known {
  readonly source: string;
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  times: number;
  /** Null = it can't be compiled. */
  compiled?: CompiledOperation | null;
}

/**
 * Validated operations by their source, compiled to a function. Only reads that may be kept, which may also be run again:
 * whatever goes wrong, Apollo executes them anew and answers.
 */
export class CompiledOperations {
  private readonly known = new LRUCache<string, Known>({
    max: MAX_OPERATIONS,
    maxSize: MAX_SOURCE_BYTES,
    sizeCalculation: (_, key) => key.length + 1,
  });
  private readonly mayBeKept: ReturnType<typeof mayBeKept>;
  private readonly pages: PageSizes;
  /** Loaded for the first operation that may be compiled. */
  private jit: typeof import('graphql-jit') | null = null;

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly persistedQueries: PersistedQueries,
  ) {
    this.mayBeKept = mayBeKept(schema);
    this.pages = pageSizesOf(schema);
  }

  find(source: string, operationName: string | null): CompiledOperation | null {
    const known = this.known.get(keyOf(source, operationName));
    if (!known) return null;
    known.times += 1;
    if (known.compiled === undefined && known.times >= TIMES_BEFORE_COMPILING && this.jit) {
      known.compiled = this.compile(this.jit, known, operationName);
    }
    return known.compiled ?? null;
  }

  /** The source that was registered under this SHA-256. */
  sourceOf(queryHash: string): string | undefined {
    return this.persistedQueries.find(queryHash);
  }

  /** To be told of each operation that was admitted and found valid. */
  learn(
    { source, operationName }: { source: string; operationName: string | null },
    document: DocumentNode,
    operation: OperationDefinitionNode,
  ): void {
    const key = keyOf(source, operationName);
    if (this.known.has(key) || !this.mayBeKept(document, operation)) return;
    this.known.set(key, { source, document, operation, times: 0 });
    if (!this.jit) this.load();
  }

  private load(): void {
    const keep = (jit: typeof import('graphql-jit')) => {
      this.jit = jit;
    };
    // Apollo goes on answering, and the next operation tries again.
    import('graphql-jit').then(keep, () => {});
  }

  private compile(
    { compileQuery, isCompiledQuery }: typeof import('graphql-jit'),
    { source, document, operation }: Known,
    operationName: string | null,
  ): CompiledOperation | null {
    const { schema, pages } = this;
    const constant = constantSize(document, operation, pages);
    const sizeWith: CompiledOperation['sizeWith'] = (variables) =>
      constant ?? measureOperation(document, operation, variables, pages);
    if (MISCOMPILED.test(source)) {
      const query: CompiledOperation['query'] = (_, contextValue, variableValues) =>
        execute({ schema, document, operationName, contextValue, variableValues });
      return { sizeWith, query, stringify: JSON.stringify };
    }
    const compileWith = (customJSONSerializer: boolean) =>
      compileQuery(schema, document, operationName ?? undefined, { customJSONSerializer });
    const withSerializer = compileWith(true);
    // Its serializers know no scalars but GraphQL's own.
    const compiled = isCompiledQuery(withSerializer) ? withSerializer : compileWith(false);
    if (!isCompiledQuery(compiled)) return null;
    const { query, stringify } = compiled;
    return { sizeWith, query, stringify };
  }
}

function keyOf(source: string, operationName: string | null): string {
  return `${JSON.stringify(operationName)}${source}`;
}
