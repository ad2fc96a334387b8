import { useAtNow } from './now.js';
import { Tooltip } from './tooltip.js';

interface Props {
  /** ISO 8601. */
  at: string;
  /** Shows the date and the zone themselves, where a person compares or quotes them. */
  isExact?: boolean;
}

const EXACT = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZoneName: 'short',
});
const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });
const UNITS = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;

/** A point in time, in the user's zone and language: relative, and the exact one with its zone on hover. */
export function Moment({ at, isExact = false }: Props) {
  const exact = EXACT.format(new Date(at));
  const relative = useAtNow((nowMs) => relativeTo(nowMs, Date.parse(at)));
  return (
    <Tooltip content={isExact ? relative : exact}>
      <time dateTime={at} className="whole">
        {isExact ? exact : relative}
      </time>
    </Tooltip>
  );
}

function relativeTo(nowMs: number, atMs: number): string {
  const seconds = Math.round((atMs - nowMs) / 1000);
  for (const [unit, length] of UNITS) {
    if (Math.abs(seconds) >= length) return RELATIVE.format(Math.trunc(seconds / length), unit);
  }
  return seconds > 0 ? 'in a moment' : 'just now';
}
