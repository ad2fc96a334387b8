import type { UsageWindow } from '../graphql/generated.js';
import type { PlotPoint } from '../plot/layers.js';
import type { KnownUsage } from './use-live-usage.js';

const HOUR_MS = 3_600_000;
const COUNT = new Intl.NumberFormat();
const CLOCK: Intl.DateTimeFormatOptions = { hour: '2-digit', minute: '2-digit' };
const EXACT: Intl.DateTimeFormatOptions = { day: 'numeric', month: 'short', ...CLOCK, timeZoneName: 'short' };
const formats = (short: Intl.DateTimeFormatOptions, long: Intl.DateTimeFormatOptions) => ({
  short: new Intl.DateTimeFormat(undefined, short),
  long: new Intl.DateTimeFormat(undefined, long),
});
/** Minutes and hours in the user's zone; days begin at midnight UTC. */
const FORMATS = {
  HOUR: formats(CLOCK, EXACT),
  DAY: formats(CLOCK, EXACT),
  MONTH: formats(
    { day: 'numeric', month: 'short', timeZone: 'UTC' },
    { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC', timeZoneName: 'short' },
  ),
} satisfies Record<UsageWindow, unknown>;

/** The points of the plot, with the errors and refusals at each. */
export function pointsOf({ window, usage }: KnownUsage): PlotPoint[] {
  const { short, long } = FORMATS[window];
  return usage.plot.points.map(({ at }, index) => {
    const start = new Date(at);
    const sum = (outcome: 'failed' | 'refused') =>
      usage.plot.series.reduce((all, { counts }) => all + (counts[index]?.[outcome] ?? 0), 0);
    return {
      at,
      short: short.format(start),
      long: window === 'DAY' ? long.formatRange(start, Date.parse(at) + HOUR_MS) : long.format(start),
      note: [inWords(sum('failed'), 'error', 'errors'), inWords(sum('refused'), 'refused', 'refused')]
        .filter(Boolean)
        .join(', '),
    };
  });
}

function inWords(count: number, one: string, many: string): string {
  return count === 0 ? '' : `${COUNT.format(count)} ${count === 1 ? one : many}`;
}
