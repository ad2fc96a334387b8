import { crc32 } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import type { Caller } from '../../ground/kernel/caller.js';
import type { Capability, Reading } from '../../ground/kernel/capability.js';
import type { Decision, Standing } from '../rate-limit/rules/limiter.js';

const MAX_BYTES = 32 * 1024 * 1024;
/** The memory of an entry without its texts. */
const ENTRY_BYTES = 500;
const DOORKEEPER_SLOTS = 1 << 16;

/** A complete response with status 200. */
export interface KeptResponse {
  readonly body: string;
  /** The headers that belong to the body, in lower case. Each request adds its own others. */
  readonly headers: Readonly<Record<string, string>>;
}

type Response = KeptResponse | null;

interface Request {
  caller: Caller | null;
  /** The decision of the limiter, with the data version. */
  standing: Standing | Decision | null;
}

/**
 * Cached responses, keyed by (project, data version, scopes) and by request. A version is valid only until the next
 * write, so a cached response equals what the database would return.
 *
 * An in-flight response can be shared for the same reason: it was started after its data version was issued, so it reads
 * nothing older. A response is stored when it is requested for the second time: most requests never repeat. D-40.
 */
export class ResponseCache implements Capability {
  private readonly kept: LRUCache<string, KeptResponse>;
  private readonly doorkeeper = new Doorkeeper();
  private readonly inFlight = new Map<string, Promise<Response>>();
  readonly counts = { hits: 0, shared: 0, misses: 0 };
  readonly readings: readonly Reading[] = [
    [
      'response_cache_lookups_total',
      'Cacheable lists: hit = from memory, shared = from the read of another request, miss = from the database.',
      () => ({ hit: this.counts.hits, shared: this.counts.shared, miss: this.counts.misses }),
      'result',
    ],
  ];

  constructor(maxBytes = MAX_BYTES) {
    this.kept = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ body, headers }, key) =>
        textBytes(body) + textBytes(key) + Object.values(headers).join('').length + ENTRY_BYTES,
    });
  }

  /**
   * Returns the cached response, or a promise of the response that another request is producing, or what `produce`
   * returns. That response is cached if the same was requested before. A promise of null = there is nothing to share, and
   * each request produces its own response.
   *
   * @param text every part of the request that affects the response
   */
  respond(
    request: Request,
    text: string,
    produce: () => Promise<Response>,
  ): KeptResponse | Promise<Response> {
    const key = keyOf(request, text);
    if (key === null) return produce();
    const kept = this.kept.get(key);
    if (kept) {
      this.counts.hits += 1;
      return kept;
    }
    const shared = this.inFlight.get(key);
    if (shared) {
      this.counts.shared += 1;
      return shared;
    }
    this.counts.misses += 1;
    const isRepeated = this.doorkeeper.note(text);
    const finish = (response: Response) => {
      this.inFlight.delete(key);
      if (response && isRepeated) this.kept.set(key, response);
      return response;
    };
    const produced = produce();
    // Only the request that produces reports a failure.
    this.inFlight.set(
      key,
      produced.then(finish, () => finish(null)),
    );
    return produced;
  }
}

/** Null = the request was not admitted, or has no data version: its response is neither cached nor shared. */
function keyOf({ caller, standing }: Request, text: string): string | null {
  if (!caller || !standing || !('admitted' in standing) || !standing.admitted) return null;
  if (standing.dataVersion === null) return null;
  const scopes = [...caller.scopes].join();
  return `${standing.dataVersion} ${caller.projectId} ${scopes} ${text}`;
}

/**
 * Remembers approximately which texts were seen before: a fixed table of 256 KB with their hashes. A newer text may
 * overwrite an older one.
 */
class Doorkeeper {
  private readonly hashes = new Uint32Array(DOORKEEPER_SLOTS);

  /** Records the text. Returns whether it was seen before. */
  note(text: string): boolean {
    const hash = crc32(text);
    const slot = hash & (DOORKEEPER_SLOTS - 1);
    const isKnown = this.hashes[slot] === hash;
    this.hashes[slot] = hash;
    return isKnown;
  }
}

/** The bytes that V8 needs for a text: one per character, or two if any character is outside Latin-1. */
export function textBytes(text: string): number {
  return /[\u0100-\uffff]/.test(text) ? text.length * 2 : text.length;
}
