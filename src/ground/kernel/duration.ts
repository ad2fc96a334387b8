export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** Clocks of processes may differ by less. */
const DIFFERENCE_MS = MINUTE_MS;

/**
 * Whether a time, which was set at most `longestMs` ahead, still lies ahead. Further ahead it has passed: the clock that
 * set it was ahead, or the clock was set back since. D-240.
 */
export function isAhead(atMs: number, nowMs: number, longestMs: number): boolean {
  return nowMs < atMs && atMs - nowMs <= longestMs + DIFFERENCE_MS;
}

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** A duration for people: its two largest units, such as `42 s`, `1 min 30 s` or `11 h 11 min`. */
export function durationInWords(seconds: number): string {
  const at = UNITS.findIndex(([, size]) => seconds >= size);
  const [unit, size] = UNITS[at] ?? UNITS[3];
  const [smallerUnit, smallerSize] = UNITS[at + 1] ?? UNITS[3];
  const rest = Math.floor((seconds % size) / smallerSize);
  return `${Math.floor(seconds / size)} ${unit}${rest === 0 ? '' : ` ${rest} ${smallerUnit}`}`;
}
