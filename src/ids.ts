import { randomInt } from 'node:crypto';

const EPOCH_MS = Date.UTC(2025, 0, 1);
const SEQUENCE_BITS = 12n;

/**
 * Assigns ids: 41 bits of milliseconds since 2025, then 12 bits that start at random and count up.
 *
 * They stay below 2^53, so that legacy clients in JavaScript lose no digit, rise within a process, and, unlike an
 * auto-increment shared by all tenants, tell nobody how many rows the others have. Two processes may draw the same id in
 * the same millisecond: primary keys refuse the second one, and the writer draws again.
 */
export class IdGenerator {
  private last = 0n;

  constructor(private readonly now: () => number) {}

  next(): bigint {
    const start = (BigInt(this.now() - EPOCH_MS) << SEQUENCE_BITS) + BigInt(randomInt(2 ** 11));
    this.last = start > this.last ? start : this.last + 1n;
    return this.last;
  }
}
