import { LRUCache } from 'lru-cache';

const MAX_TARGETS = 10_000;
const SECOND_MS = 1_000;
/** Enough for the name servers of a large provider. Zone owners choose the addresses, so the number is bounded. */
const QUESTIONS_A_SECOND = 40;

/** Counts the questions to each address, so that zones that name a foreign machine can't make us flood it. */
export class Targets {
  private readonly counts = new LRUCache<string, { count: number }>({ max: MAX_TARGETS, ttl: SECOND_MS });

  /** Whether one more question may go to the address within this second. */
  mayAsk(address: string): boolean {
    const known = this.counts.get(address);
    if (!known) this.counts.set(address, { count: 1 });
    else known.count += 1;
    return (known?.count ?? 1) <= QUESTIONS_A_SECOND;
  }
}
