import { randomInt } from 'node:crypto';
import { AppError } from './errors.js';

const EPOCH_MS = Date.UTC(2025, 0, 1);
/** 41 bits of milliseconds last until September 2094; the time that is left has room for a clock that was ahead. */
export const LAST_MS = Date.UTC(2094, 0, 1);
const SEQUENCE_BITS = 12n;
/** The bits that start at random begin below it, so that as many ids follow in the same millisecond. */
const MOST_AT_START = 2 ** 11;

/** The smallest id of a time: ids of later times are larger. */
export function firstIdAt(atMs: number): bigint {
  return BigInt(atMs - EPOCH_MS) << SEQUENCE_BITS;
}

/** Every id that the gateway draws from its clock is below it. */
export const END_OF_IDS = firstIdAt(LAST_MS);

/**
 * Assigns ids: 41 bits of milliseconds since 2025, then 12 bits that start at random and count up.
 *
 * Ids stay below 2^53, so that legacy clients in JavaScript lose no digit. They rise within a process, and over its restarts,
 * also when the clock is set back. Unlike an auto-increment shared by all tenants, they do not reveal how many rows other
 * tenants have. Two processes may draw the same id in the same millisecond: the primary key refuses the second, and
 * `withDrawnId` draws again. D-1.
 */
export class IdGenerator {
  private last = 0n;

  constructor(
    private readonly now: () => number,
    private readonly random: (below: number) => number = randomInt,
  ) {}

  /** From now on ids are larger. Called at the start with the largest id of earlier processes. D-241. */
  startAbove(id: bigint): void {
    if (id > this.last) this.last = id;
  }

  /** The largest id that was drawn; 0 = none. */
  get largest(): bigint {
    return this.last;
  }

  /** Throws `AppError unavailable` while the clock is beyond 2093. */
  next(): bigint {
    const first = firstIdAt(this.now());
    if (first >= END_OF_IDS) {
      throw new AppError('unavailable', 'The clock of the gateway is wrong, so it creates nothing.');
    }
    const start = first + BigInt(this.random(MOST_AT_START));
    this.last = start > this.last ? start : this.last + 1n;
    return this.last;
  }

  /** As `next`, but beyond the ids that another process has probably drawn in this millisecond. */
  nextFurther(): bigint {
    this.last = this.next() + BigInt(this.random(MOST_AT_START));
    return this.last;
  }
}

/** Draws an id for each time, larger than `above`; times rise, and so do the ids. Another call can draw the same ids: see `untilFree`. */
export function drawIdsAt(times: readonly number[], above: bigint): bigint[] {
  // Random for all of them together: many draws of a millisecond would all end near the largest random number.
  const start = BigInt(randomInt(MOST_AT_START));
  let last = above;
  return times.map((atMs) => {
    const id = firstIdAt(atMs) + start;
    last = id > last ? id : last + 1n;
    return last;
  });
}
