import type { UsageDimension } from '../graphql/generated.js';
import type { Layer, LayerColor } from '../plot/layers.js';
import { isOwn, nameOfSeries, OTHER, OWN_LABEL, requestsOfSeries } from './series-names.js';
import type { KnownUsage } from './use-live-usage.js';

type Series = KnownUsage['usage']['plot']['series'][number];

/**
 * More parts than this can't be told apart; the smallest are one part. Few statuses exist, and errors are rare. The
 * dashboard's own operations are one more.
 */
const MOST_LAYERS: Record<UsageDimension, number> = { DOOR: 2, KEY: 6, OPERATION: 5, STATUS: 8 };
const COLORS: readonly LayerColor[] = ['1', '2', '3', '4', '5', '6', 'failed', 'refused'];
/** By the status or its first digit, in the order of use. */
const STATUS_COLORS: Record<string, readonly LayerColor[]> = {
  '2': ['1', '6'],
  '3': ['2'],
  '4': ['failed', '3'],
  '429': ['refused'],
  '5': ['5'],
};

/** The parts of the bars, largest first and so at the bottom; doors and statuses by name. */
export function layersOf({ by, usage }: KnownUsage, mayReadKeys: boolean): Layer[] {
  const own = usage.plot.series.filter((series) => by === 'OPERATION' && isOwn(series));
  const listed = usage.plot.series.filter((series) => !own.includes(series));
  const named = listed.filter(({ name }) => name !== OTHER);
  const most = MOST_LAYERS[by];
  const shown = named.slice(0, most);
  // A part keeps its place and colour, whichever is larger.
  if (by === 'STATUS' || by === 'DOOR') shown.sort((a, b) => (a.name < b.name ? -1 : 1));
  const rest = [...named.slice(most), ...listed.filter(({ name }) => name === OTHER)];
  const free = [...COLORS];
  const layers = shown.map((series) => {
    const { name } = series;
    const ofStatus = STATUS_COLORS[name] ?? STATUS_COLORS[name.charAt(0)] ?? [];
    const preferred = by === 'STATUS' ? ofStatus : [];
    const color = [...preferred, ...free].find((each) => free.includes(each)) ?? 'other';
    if (color !== 'other') free.splice(free.indexOf(color), 1);
    const to = mayReadKeys ? requestsOfSeries(name, by) : null;
    return { ...layerOf([series], color), name, label: nameOfSeries(series, by), to };
  });
  const label = rest.length === 1 && rest[0] ? nameOfSeries(rest[0], by) : `${rest.length} others`;
  return [
    ...layers,
    ...(own.length > 0 ? [{ ...layerOf(own, free[0] ?? 'other'), name: 'own', label: OWN_LABEL }] : []),
    ...(rest.length > 0 ? [{ ...layerOf(rest, 'other'), name: OTHER, label }] : []),
  ];
}

function layerOf(series: readonly Series[], color: LayerColor): Omit<Layer, 'name' | 'label'> {
  const counts = (series[0]?.counts ?? []).map((_, at) =>
    series.reduce((sum, each) => sum + (each.counts[at]?.admitted ?? 0) + (each.counts[at]?.refused ?? 0), 0),
  );
  return { color, counts, total: counts.reduce((sum, count) => sum + count, 0), to: null };
}
