import { type DocumentNode, TokenKind } from 'graphql';
import { LRUCache } from 'lru-cache';
import { textBytes } from '../../request/response-cache/response-cache.js';

const MAX_DOCUMENTS = 1_000;
const MAX_BYTES = 16 * 1024 * 1024;
/** A node of a parsed document with its location, rounded up from its size in V8 8–13. */
const NODE_BYTES = 250;

/** Documents that were admitted and are valid, keyed by the SHA-256 of their source. */
export class KnownDocuments {
  private readonly known = new LRUCache<string, DocumentNode>({ max: MAX_DOCUMENTS, maxSize: MAX_BYTES });

  of(queryHash: string): DocumentNode | undefined {
    return this.known.get(queryHash);
  }

  store(queryHash: string, source: string, document: DocumentNode): void {
    const size = textBytes(source) + forgetTokens(document) * NODE_BYTES;
    this.known.set(queryHash, document, { size });
  }
}

/**
 * Unlinks the lexer's tokens. Each node's location references its first and last token, and each token its neighbours. So
 * every node would keep all tokens of the source in memory, comments included. Returns about how many nodes the document
 * can have at most: a name makes two, any other token one.
 */
function forgetTokens({ loc }: DocumentNode): number {
  let nodes = 0;
  for (let token = loc?.startToken ?? null; token; ) {
    nodes += token.kind === TokenKind.NAME ? 2 : 1;
    const { next } = token;
    Object.assign(token, { prev: null, next: null });
    token = next;
  }
  return nodes;
}

const MAX_QUERIES = 1_000;
const MAX_SOURCE_BYTES = 8 * 1024 * 1024;
/** The memory of an entry without its texts. */
const ENTRY_BYTES = 500;

/** The sources that clients registered under their SHA-256: Apollo's cache of automatic persisted queries. */
export class PersistedQueries {
  private readonly sources = new LRUCache<string, string>({
    max: MAX_QUERIES,
    maxSize: MAX_SOURCE_BYTES,
    sizeCalculation: (source) => textBytes(source) + ENTRY_BYTES,
  });

  sourceOf(queryHash: string): string | undefined {
    return this.sources.get(`apq:${queryHash}`);
  }

  async get(key: string): Promise<string | undefined> {
    return this.sources.get(key);
  }

  async set(key: string, source: string): Promise<void> {
    this.sources.set(key, source);
  }

  async delete(key: string): Promise<boolean> {
    return this.sources.delete(key);
  }
}
