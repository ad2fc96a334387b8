import { InvalidArgumentError } from 'commander';

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of `30s`, `15m`, `24h` or `90d`. Throws commander's `InvalidArgumentError`. */
export function durationMs(text: string): number {
  const [, amount, unit] = /^(\d{1,5})([smhd])$/.exec(text) ?? [];
  if (amount === undefined) {
    throw new InvalidArgumentError('It must be a whole number with a unit, such as 30s, 15m, 24h or 90d.');
  }
  return Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
}
