const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const DATE = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 86_400;
const WEEK_SECONDS = 7 * DAY_SECONDS;

/** A time for people, in their language: relative and rounded within a week, so 119 minutes are 2 hours; otherwise its date. */
export function relativeTo(nowMs: number, atMs: number): string {
  const seconds = Math.round((atMs - nowMs) / 1000);
  const distance = Math.abs(seconds);
  const inUnits = (unit: Intl.RelativeTimeFormatUnit, length: number) =>
    RELATIVE.format(Math.round(seconds / length), unit);
  if (distance < MINUTE_SECONDS) return seconds > 0 ? 'in a moment' : 'just now';
  if (distance < HOUR_SECONDS - MINUTE_SECONDS / 2) return inUnits('minute', MINUTE_SECONDS);
  if (distance < DAY_SECONDS - HOUR_SECONDS / 2) return inUnits('hour', HOUR_SECONDS);
  return distance <= WEEK_SECONDS ? inUnits('day', DAY_SECONDS) : DATE.format(atMs);
}
