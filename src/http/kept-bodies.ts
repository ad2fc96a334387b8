import { LRUCache } from 'lru-cache';
import { KeptBody } from './kept-body.js';

const MAX_BYTES = 16 * 1024 * 1024;

/** Bodies that take time to make, by whatever they depend on. The least recently used make room. */
export class KeptBodies {
  private readonly kept: LRUCache<string, KeptBody>;
  private readonly making = new Map<string, Promise<KeptBody>>();

  constructor(maxBytes = MAX_BYTES) {
    // A string takes up to two bytes for each character.
    const sizeCalculation = (body: KeptBody, key: string) => body.bytes + 2 * key.length;
    this.kept = new LRUCache({ maxSize: maxBytes, sizeCalculation });
  }

  /** `key` names everything that the content depends on. Requests that come while it is made share it. */
  of(key: string, type: string, make: () => string): KeptBody | Promise<KeptBody> {
    return this.kept.get(key) ?? this.making.get(key) ?? this.make(key, type, make);
  }

  /** Of all that is kept. */
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
