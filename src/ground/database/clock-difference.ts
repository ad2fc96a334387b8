const CLOCK = "SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) AS micros";

/**
 * How far the clock `now` is ahead of MySQL's, in milliseconds; negative = behind. Exact to half the time that the question
 * takes. SQLite has no clock.
 */
export async function clockAheadMs(
  ask: (sql: string) => Promise<{ micros: string | number | bigint }[]>,
  now: () => number,
): Promise<number> {
  const askedMs = now();
  const [row] = await ask(CLOCK);
  return (askedMs + now()) / 2 - Number(row?.micros) / 1_000;
}
