import { randomInt } from 'node:crypto';

const EPOCH_MS = Date.UTC(2025, 0, 1);
const SEQUENCE_BITS = 12n;
const MOST_AT_START = 2 ** 11;

/**
 * Assigns ids: 41 bits of milliseconds since 2025, then 12 bits that start at random and count up.
 *
 * They stay below 2^53, so that legacy clients in JavaScript lose no digit, rise within a process, and, unlike an
 * auto-increment shared by all tenants, tell nobody how many rows the others have. Two processes may draw the same id in
 * the same millisecond: the primary key refuses the second one, and `withDrawnId` draws again.
 */
export class IdGenerator {
  private last = 0n;

  constructor(
    private readonly now: () => number,
    private readonly random: (below: number) => number = randomInt,
  ) {}

  next(): bigint {
    const start = (BigInt(this.now() - EPOCH_MS) << SEQUENCE_BITS) + BigInt(this.random(MOST_AT_START));
    this.last = start > this.last ? start : this.last + 1n;
    return this.last;
  }

  /** As `next`, beyond the ids that another process is likely to have drawn in this millisecond. */
  nextFurther(): bigint {
    this.last = this.next() + BigInt(this.random(MOST_AT_START));
    return this.last;
  }
}
