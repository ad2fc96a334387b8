/** Random choices, the same ones for the same seed. */
export class Dice {
  private state: number;

  constructor(seed: number) {
    this.state = seed;
  }

  /** At least 0 and less than `end`. */
  below(end: number): number {
    // Mulberry32: neighbouring seeds give unlike sequences.
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % end;
  }

  /** True once in `times`. */
  once(times: number): boolean {
    return this.below(times) === 0;
  }

  oneOf<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }
}
