import { LRUCache } from 'lru-cache';
import { KeptBody } from './kept-body.js';

const MAX_BYTES = 16 * 1024 * 1024;

/** Cached bodies that take time to produce, keyed by everything they depend on. Evicts the least recently used. D-83. */
export class KeptBodies {
  private readonly kept: LRUCache<string, KeptBody>;
  private readonly making = new Map<string, Promise<KeptBody>>();

  constructor(maxBytes = MAX_BYTES) {
    // A string takes up to two bytes per character.
    const sizeCalculation = (body: KeptBody, key: string) => body.bytes + 2 * key.length;
    this.kept = new LRUCache({ maxSize: maxBytes, sizeCalculation });
  }

  /** `key` names everything that the content depends on. Concurrent requests share one production. */
  of(key: string, type: string, make: () => string): KeptBody | Promise<KeptBody> {
    return this.kept.get(key) ?? this.making.get(key) ?? this.make(key, type, make);
  }

  /** The total of all cached bodies. */
  get bytes(): number {
    return this.kept.calculatedSize;
  }

  private make(key: string, type: string, make: () => string): Promise<KeptBody> {
    const made = KeptBody.of(type, make());
    this.making.set(key, made);
    return made
      .then((body) => {
        this.kept.set(key, body);
        return body;
      })
      .finally(() => this.making.delete(key));
  }
}
