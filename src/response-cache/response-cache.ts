import { LRUCache } from 'lru-cache';
import { Doorkeeper } from './doorkeeper.js';
import { textBytes } from './text-bytes.js';

const MAX_BYTES = 32 * 1024 * 1024;
/** What an entry takes beside its texts. */
const ENTRY_BYTES = 500;

/** A whole answer with status 200. */
export interface KeptResponse {
  readonly body: string;
  /** Those that belong to the body, in lower case; all others are each request's own. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Answers kept under who reads which version of which data, and under what was asked. A version is current only as long
 * as nobody has written, so an answer found here is what the database would say.
 *
 * The same holds for an answer in the making: who was given the same version may share it, as it was begun after that
 * version was given out, and so reads nothing older. An answer is kept when it is asked for a second time: most never are.
 */
export class ResponseCache {
  private readonly kept: LRUCache<string, KeptResponse>;
  private readonly doorkeeper = new Doorkeeper();
  private readonly flights = new Map<string, Flight>();
  /** For metrics. */
  readonly counts = { hits: 0, shared: 0, misses: 0 };

  constructor(maxBytes = MAX_BYTES) {
    this.kept = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ body }, key) => textBytes(body) + textBytes(key) + ENTRY_BYTES,
    });
  }

  /**
   * `reader` is from `readerOf`; `text` is all of the request that makes a difference. A promise of what another request
   * is finding out, null when it failed; or a flight, which the caller must land.
   */
  take(reader: string, text: string): KeptResponse | Promise<KeptResponse | null> | Flight {
    const key = `${reader} ${text}`;
    const kept = this.kept.get(key);
    if (kept) {
      this.counts.hits += 1;
      return kept;
    }
    const other = this.flights.get(key);
    if (other) {
      this.counts.shared += 1;
      return other.landing();
    }
    this.counts.misses += 1;
    const flight = new Flight(this.doorkeeper.note(text), (response) => {
      this.flights.delete(key);
      if (response && flight.isRepeated) this.kept.set(key, response);
    });
    this.flights.set(key, flight);
    return flight;
  }
}

/** An answer in the making. */
export class Flight {
  private readonly waiting: ((response: KeptResponse | null) => void)[] = [];
  private hasLanded = false;

  constructor(
    /** The same was asked before. */
    readonly isRepeated: boolean,
    private readonly onLanding: (response: KeptResponse | null) => void,
  ) {}

  landing(): Promise<KeptResponse | null> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
    });
  }

  /** With null when there is nothing to share. Only the first time counts. */
  land(response: KeptResponse | null): void {
    if (this.hasLanded) return;
    this.hasLanded = true;
    this.onLanding(response);
    for (const resolve of this.waiting) resolve(response);
  }
}
