import { LRUCache } from 'lru-cache';
import { textBytes } from '../../response-cache/response-cache.js';
import { hashIn } from './apollo-key.js';

const MAX_QUERIES = 1_000;
const MAX_BYTES = 8 * 1024 * 1024;
/** The memory of an entry without its texts. */
const ENTRY_BYTES = 500;

/** The sources that clients registered under their SHA-256: Apollo's cache of automatic persisted queries. */
export class PersistedQueries {
  private readonly sources = new LRUCache<string, string>({
    max: MAX_QUERIES,
    maxSize: MAX_BYTES,
    sizeCalculation: (source) => textBytes(source) + ENTRY_BYTES,
  });

  sourceOf(queryHash: string): string | undefined {
    return this.sources.get(queryHash);
  }

  async get(key: string): Promise<string | undefined> {
    return this.sourceOf(hashIn(key));
  }

  async set(key: string, source: string): Promise<void> {
    this.sources.set(hashIn(key), source);
  }

  async delete(key: string): Promise<boolean> {
    return this.sources.delete(hashIn(key));
  }
}
