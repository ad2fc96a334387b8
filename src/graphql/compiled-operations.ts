import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { LRUCache } from 'lru-cache';
import { mayBeKept } from './cache-control.directive.js';

const MAX_OPERATIONS = 500;
const MAX_SOURCE_BYTES = 4 * 1024 * 1024;
/** Compiling takes milliseconds: only for who comes again. */
const TIMES_BEFORE_COMPILING = 2;

export interface CompiledOperation {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  readonly query: CompiledQuery['query'];
}

interface Known {
  readonly document: DocumentNode;
  readonly operation: OperationDefinitionNode;
  times: number;
  /** Null = not yet, or it can't be compiled. */
  compiled: CompiledOperation | null;
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
  private readonly sources = new LRUCache<string, string>({ max: MAX_OPERATIONS });
  private readonly mayBeKept: ReturnType<typeof mayBeKept>;

  constructor(private readonly schema: GraphQLSchema) {
    this.mayBeKept = mayBeKept(schema);
  }

  find(source: string, operationName: string | null): CompiledOperation | null {
    const known = this.known.get(keyOf(source, operationName));
    if (!known) return null;
    known.times += 1;
    if (known.times === TIMES_BEFORE_COMPILING) known.compiled = this.compile(known, operationName);
    return known.compiled;
  }

  /** The source with this SHA-256, of those that were seen. */
  sourceOf(queryHash: string): string | null {
    return this.sources.get(queryHash) ?? null;
  }

  /** To be told of each operation that Apollo found valid, and that was admitted. */
  learn(
    { source, queryHash, operationName }: { source: string; queryHash: string; operationName: string | null },
    document: DocumentNode,
    operation: OperationDefinitionNode,
  ): void {
    const key = keyOf(source, operationName);
    if (this.known.has(key) || !this.mayBeKept(document, operation)) return;
    this.known.set(key, { document, operation, times: 0, compiled: null });
    this.sources.set(queryHash, source);
  }

  private compile({ document, operation }: Known, operationName: string | null): CompiledOperation | null {
    const compiled = compileQuery(this.schema, document, operationName ?? undefined);
    return isCompiledQuery(compiled) ? { document, operation, query: compiled.query } : null;
  }
}

function keyOf(source: string, operationName: string | null): string {
  return `${operationName ?? ''}\n${source}`;
}
