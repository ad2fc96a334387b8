const EXACT = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  timeZoneName: 'short',
});

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });

/** A point in time to the millisecond, in the user's zone, which it names. `at` is ISO 8601. */
export function exactTime(at: string): string {
  return EXACT.format(new Date(at));
}

/** The time of day to the second, beside something that has the date and the zone. `at` is ISO 8601. */
export function clockTime(at: string): string {
  return CLOCK.format(new Date(at));
}
