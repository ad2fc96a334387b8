import { LRUCache } from 'lru-cache';

const MAX_TARGETS = 10_000;
const SECOND_MS = 1_000;
/** Enough for the name servers of a large provider; the owners of zones choose whose address it is. */
const QUESTIONS_A_SECOND = 40;

/** Counts what is asked of each address, so that zones that name a stranger's machine can't have it flooded. */
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
