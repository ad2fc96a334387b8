import { BUCKETS, USAGE_WINDOWS, type UsageWindow } from './buckets.js';
import type { StoredCount } from './usage.service.js';
import {
  addOutcomes,
  type Dimension,
  type Latency,
  latencyOf,
  noOutcomes,
  type Outcomes,
  unmarkedName,
} from './usage-counters.js';
import { MAX_NAMES, OTHER } from './usage-rows.js';

export interface UsagePoint extends Record<'graphql' | 'rest' | 'management', Outcomes> {
  /** The start of the minute, hour or day. */
  atMs: number;
}

/** The requests with one name. */
export interface UsageSeries {
  name: string;
  total: Outcomes;
  /** In the order of the points. */
  counts: Outcomes[];
}

export interface UsageReport {
  points: UsagePoint[];
  /** Most requests first, `other` last; at most 200 and `other`. */
  series: UsageSeries[];
  total: Outcomes;
  /** Of the admitted requests. */
  latency: Latency;
}

interface Asked {
  window: UsageWindow;
  /** The bucket number that the window begins with. */
  first: number;
  by: Dimension;
  /** Whether reads of dashboards count. */
  dashboards: boolean;
}

/** The report of a window, made from the rows of the dimensions that it needs. */
export function usageReport(
  rows: readonly StoredCount[],
  { window, first, by, dashboards }: Asked,
): UsageReport {
  const { bucket, points } = USAGE_WINDOWS[window];
  const seriesOf = (dimension: Dimension) => {
    const series = new Map<string, UsageSeries>();
    for (const row of rows) {
      const { name, isOfDashboards } = unmarkedName(row.name);
      if (row.dimension !== dimension || (isOfDashboards && !dashboards)) continue;
      addRow(series, { ...row, name }, points, first);
    }
    return series;
  };
  const doors = seriesOf('door');
  const managing = seriesOf('payer').values().next().value?.counts;
  const total = noOutcomes();
  for (const door of doors.values()) addOutcomes(total, door.total);
  const latencies = [...seriesOf('latency').values()];
  return {
    points: Array.from({ length: points }, (_, at) => ({
      atMs: (first + at) * BUCKETS[bucket].sizeMs,
      graphql: doors.get('graphql')?.counts[at] ?? noOutcomes(),
      rest: doors.get('rest')?.counts[at] ?? noOutcomes(),
      management: managing?.[at] ?? noOutcomes(),
    })),
    series: limited([...seriesOf(by).values()].filter(({ total }) => sizeOf(total) > 0)),
    total,
    latency: latencyOf(new Map(latencies.map(({ name, total }) => [Number(name), total.admitted]))),
  };
}

function addRow(series: Map<string, UsageSeries>, row: StoredCount, points: number, first: number): void {
  const { name, number } = row;
  const known = series.get(name) ?? {
    name,
    total: noOutcomes(),
    counts: Array.from({ length: points }, noOutcomes),
  };
  series.set(name, known);
  addOutcomes(known.total, row);
  const count = known.counts[number - first];
  if (count) addOutcomes(count, row);
}

/** A window of many days can have more names than one day. */
function limited(series: readonly UsageSeries[]): UsageSeries[] {
  const byRequests = (a: UsageSeries, b: UsageSeries) =>
    sizeOf(b.total) - sizeOf(a.total) || (a.name < b.name ? -1 : 1);
  const named = series.filter(({ name }) => name !== OTHER).sort(byRequests);
  const others = series.filter(({ name }) => name === OTHER);
  const rest = [...others, ...named.slice(MAX_NAMES)];
  const [first, ...further] = rest;
  if (!first) return named;
  const other = { ...first, name: OTHER };
  for (const { total, counts } of further) {
    addOutcomes(other.total, total);
    for (const [at, count] of counts.entries()) addOutcomes(other.counts[at] as Outcomes, count);
  }
  return [...named.slice(0, MAX_NAMES), other];
}

const sizeOf = ({ admitted, refused }: Outcomes) => admitted + refused;
