import { EXCHANGES } from '../../dns/ask-server.js';
import { AppError } from '../../kernel/errors.js';
import { FairSemaphore } from '../../scheduling/fair-semaphore.js';

/** Each check sends up to a hundred questions to servers that the owner chose. */
const CHECKS = { most: 16, mostOfKey: 8 };
/** This wait plus the check itself stays below the 5 s limit of a request. */
const PATIENCE_MS = 3_000;
/** More than for background checks, which must not use up what an owner may ask for. */
const MAX_EXCHANGES = 9_000;

/** Limits the DNS checks that owners request: how many run at once, in all and for each project. */
export class OwnerChecks {
  private readonly semaphore = new FairSemaphore(CHECKS);

  /** Throws `AppError unavailable` when the project gets no slot within 3 s, or has spent its exchanges. */
  async runCheck<T>(projectId: bigint, check: () => Promise<T>): Promise<T> {
    if (EXCHANGES.of(projectId) >= MAX_EXCHANGES) throw tooMany(EXCHANGES.leftMs(projectId));
    const done = await this.semaphore.runWithin(PATIENCE_MS, projectId, check);
    if (done !== null) return done.result;
    throw tooMany(0);
  }
}

function tooMany(restMs: number): AppError {
  const message = 'Too many DNS checks are running. Try again shortly.';
  return new AppError('unavailable', message, { retryAfterSeconds: Math.max(1, Math.ceil(restMs / 1_000)) });
}
