import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { textBytes } from '../response-cache/text-bytes.js';
import { mayBeKept } from './cache-control.directive.js';
import { type CompiledOperation, KnownOperation } from './known-operation.js';
import { type PageSizes, pageSizesOf } from './operation-size.js';
import type { PersistedQueries } from './persisted-queries.js';
import type { Turns } from './turns.js';

const MAX_OPERATIONS = 500;
const MAX_BYTES = 32 * 1024 * 1024;
/** What graphql-jit 0.8.9 compiles takes 35 KB and 3 KB for each selection; running it adds V8's own code. */
const COMPILED_BYTES = 48 * 1024;
const SELECTION_BYTES = 6 * 1024;
/** Compiling takes milliseconds: only for who comes again. */
const TIMES_BEFORE_COMPILING = 2;

/**
 * Validated operations by their source, compiled to a function. Only reads that may be kept, which may also be run again:
 * whatever goes wrong, Apollo executes them anew and answers.
 */
export class CompiledOperations {
  private readonly known = new LRUCache<string, KnownOperation>({
    max: MAX_OPERATIONS,
    maxSize: MAX_BYTES,
    // The fast path may hold it still.
    dispose: (operation) => operation.evict(),
  });
  private readonly mayBeKept: ReturnType<typeof mayBeKept>;
  private readonly pages: PageSizes;
  /** Loaded for the first operation that may be compiled. */
  private jit: typeof import('graphql-jit') | null = null;

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly persistedQueries: PersistedQueries,
    private readonly turns: Turns,
  ) {
    this.mayBeKept = mayBeKept(schema);
    this.pages = pageSizesOf(schema);
  }

  /** The operation, once it has been asked for so often that it is worth compiling. */
  find(source: string, operationName: string | null): KnownOperation | null {
    const known = this.known.get(keyOf(source, operationName));
    const isWorthIt = known && known.count() >= TIMES_BEFORE_COMPILING && known.isUsable;
    return isWorthIt && this.jit ? known : null;
  }

  /** To be called for what was charged. Null = Apollo executes it. A promise only where there is something to compile. */
  compile(
    operation: KnownOperation,
    projectId: bigint,
  ): CompiledOperation | null | Promise<CompiledOperation | null> {
    const { jit } = this;
    if (!jit) return null;
    if (operation.isCompiled) return operation.compile(jit);
    return this.turns.next(projectId).then(() => operation.compile(jit));
  }

  /** The source that was registered under this SHA-256. */
  sourceOf(queryHash: string): string | undefined {
    return this.persistedQueries.find(queryHash);
  }

  /** To be told of each operation that was admitted and found valid. */
  learn(
    { source, operationName: name }: { source: string; operationName: string | null },
    document: DocumentNode,
    operation: OperationDefinitionNode,
  ): void {
    const key = keyOf(source, name);
    if (this.known.has(key) || !this.mayBeKept(document, operation)) return;
    const known = new KnownOperation(this.schema, this.pages, { source, document, operation, name });
    const selections = known.sizeWith({})?.selections ?? 0;
    const size = COMPILED_BYTES + selections * SELECTION_BYTES + 2 * textBytes(key);
    this.known.set(key, known, { size });
    if (!this.jit) this.load();
  }

  private load(): void {
    const keep = (jit: typeof import('graphql-jit')) => {
      this.jit = jit;
    };
    // Apollo goes on answering, and the next operation tries again.
    import('graphql-jit').then(keep, () => {});
  }
}

function keyOf(source: string, operationName: string | null): string {
  return `${JSON.stringify(operationName)}${source}`;
}
