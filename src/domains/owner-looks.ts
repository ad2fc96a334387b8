import { startDeadline } from '../deadline.js';
import { FairTurns } from '../dns/fair-turns.js';
import { AppError } from '../errors.js';

/** Each asks up to a hundred questions, of servers that the owner has chosen. */
const LOOKS = { most: 16, mostOfKey: 8 };
/** With the look itself short of the 5 s in which a request is answered. */
const PATIENCE_MS = 3_000;

/** The looks at DNS that owners ask for: a number at once, and of those a part for each project. */
export class OwnerLooks {
  private readonly turns = new FairTurns(LOOKS);

  /** Throws `AppError unavailable` when it is not the project's turn for 3 s. */
  async take<T>(projectId: bigint, look: () => Promise<T>): Promise<T> {
    const deadline = startDeadline(PATIENCE_MS);
    try {
      const turn = await this.turns.run(projectId, deadline.signal, look);
      if (turn !== null) return turn.result;
    } finally {
      deadline.end();
    }
    const message = 'Too many domains are being looked at in DNS. Try again shortly.';
    throw new AppError('unavailable', message, { retryAfterSeconds: 1 });
  }
}
