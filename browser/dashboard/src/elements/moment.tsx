import { useAtNow } from './now.js';
import { relativeTo } from './relative-time.js';
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
/**
 * A point in time, in the user's zone and language: relative within a week, otherwise its date. On hover it is exact, with
 * its zone.
 */
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
