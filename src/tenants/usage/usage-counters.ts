import { type CountedRequest, OTHER_OPERATION } from '../../ground/kernel/answered-request.js';
import { INT32_MAX } from '../../ground/kernel/int64.js';
import { numberOf } from './buckets.js';

/**
 * D-120. Each request that the limiter decided about counts once in `door`, `key`, `operation` and `status`. In `payer` only
 * those count that spend nothing of the plan, in `latency` only admitted ones, by the bucket of their duration. All other
 * requests count only in `free`: they are in the request log, and no usage.
 */
export const DIMENSIONS = ['door', 'free', 'key', 'latency', 'operation', 'payer', 'status'] as const;
export type Dimension = (typeof DIMENSIONS)[number];
const OFF_PLAN = 'management';

/** At the end of a name: the requests are reads of dashboards. No door, id, status or operation has this character. */
const MARK = '~';
const MAX_NAME_LENGTH = 100;

/** The name, and whether its requests are reads of dashboards, which a report may leave out. */
export function unmarkedName(name: string): { name: string; isOfDashboards: boolean } {
  const isOfDashboards = name.endsWith(MARK);
  return { name: isOfDashboards ? name.slice(0, -1) : name, isOfDashboards };
}

function markedName(name: Name): string {
  return String(name).slice(0, MAX_NAME_LENGTH - 1) + MARK;
}

/** A project's minute with more operations counts further ones as `other`, so that no project fills the memory. */
const MAX_OPERATIONS = 1_000;

/** Counts of requests: `failed` is a part of `admitted`, and `units` are those of the plan that they spent. */
export const OUTCOMES = ['admitted', 'refused', 'failed', 'units'] as const;
export type Outcomes = Record<(typeof OUTCOMES)[number], number>;

/** Ids and numbers become text only when they are stored or read. */
type Name = string | number | bigint;

/** The requests of a project in a UTC minute, by dimension and name. */
export interface Tally {
  readonly projectId: bigint;
  /** Numbered from 1970. */
  readonly minute: number;
  readonly counts: Readonly<Record<Dimension, Map<Name, Outcomes>>>;
}

/** Counts requests in memory until they are stored. Bounded: above `maxCounts`, the oldest tallies are evicted. */
export class UsageCounters {
  /** By project and minute, the oldest first. */
  private readonly tallies = new Map<string, Tally>();
  private held = 0;

  constructor(private readonly maxCounts: number) {}

  /** The number of counts in memory: of names, in all tallies. */
  get size(): number {
    return this.held;
  }

  get tallyCount(): number {
    return this.tallies.size;
  }

  count(request: CountedRequest): void {
    const { projectId, atMs, keyId, door, operation, status, outcome, durationMs, paidBy } = request;
    const named = (name: Name) => (request.isDashboardRead ? markedName(name) : name);
    const { counts } = this.tallyOf(projectId, numberOf('minute', atMs));
    if (paidBy === null) this.add(counts.free, door, request);
    else {
      this.add(counts.door, named(door), request);
      this.add(counts.key, named(keyId), request);
      this.add(counts.operation, heldName(counts.operation, named(operation)), request);
      this.add(counts.status, named(status), request);
      if (paidBy !== 'plan') this.add(counts.payer, named(OFF_PLAN), request);
      if (outcome !== 'refused') this.add(counts.latency, named(latencyBucket(durationMs)), request);
    }
    if (this.held > this.maxCounts) this.take(1);
  }

  /** The project's tallies in memory. */
  of(projectId: bigint): readonly Tally[] {
    return [...this.tallies.values()].filter((tally) => tally.projectId === projectId);
  }

  /** Removes and returns the oldest tallies: as many as have at most `most` counts, and at least one if there is any. */
  take(most: number): Tally[] {
    const taken: Tally[] = [];
    let counts = 0;
    for (const [key, tally] of this.tallies) {
      const size = sizeOf(tally);
      counts += size;
      if (taken.length > 0 && counts > most) break;
      taken.push(tally);
      this.tallies.delete(key);
      this.held -= size;
    }
    return taken;
  }

  private add(counts: Map<Name, Outcomes>, name: Name, { outcome, units }: CountedRequest): void {
    const known = counts.get(name);
    const outcomes = known ?? noOutcomes();
    if (!known) {
      counts.set(name, outcomes);
      this.held += 1;
    }
    if (outcome === 'refused') outcomes.refused += 1;
    else outcomes.admitted += 1;
    if (outcome === 'failed') outcomes.failed += 1;
    outcomes.units += units;
  }

  private tallyOf(projectId: bigint, minute: number): Tally {
    const key = `${projectId}/${minute}`;
    const known = this.tallies.get(key);
    if (known) return known;
    const counts = Object.fromEntries(DIMENSIONS.map((name) => [name, new Map()])) as Tally['counts'];
    const tally = { projectId, minute, counts };
    this.tallies.set(key, tally);
    return tally;
  }
}

export function noOutcomes(): Outcomes {
  return { admitted: 0, refused: 0, failed: 0, units: 0 };
}

/** Larger sums are no `Int` of GraphQL. */
export function addOutcomes(to: Outcomes, added: Outcomes): void {
  for (const name of OUTCOMES) to[name] = Math.min(to[name] + added[name], INT32_MAX);
}

function sizeOf({ counts }: Tally): number {
  return DIMENSIONS.reduce((sum, dimension) => sum + counts[dimension].size, 0);
}

function heldName(known: ReadonlyMap<Name, Outcomes>, operation: Name): Name {
  return known.size < MAX_OPERATIONS || known.has(operation) ? operation : OTHER_OPERATION;
}

/** The upper end of the first bucket. */
const FIRST_MS = 0.1;
/** The ratio of two neighbours is 2^(1/4), 1.19. */
const BUCKETS_PER_DOUBLING = 4;
/** The last bucket ends at 5.5 s: by then each request has its answer. */
const LAST_BUCKET = 63;

export interface Latency {
  /** In milliseconds, at most 10 % from the exact value; null = no requests. */
  p50Ms: number | null;
  p95Ms: number | null;
}

export function latencyBucket(durationMs: number): number {
  if (!(durationMs > FIRST_MS)) return 0;
  return Math.min(Math.ceil(Math.log2(durationMs / FIRST_MS) * BUCKETS_PER_DOUBLING), LAST_BUCKET);
}

export function latencyOf(requests: ReadonlyMap<number, number>): Latency {
  const buckets = [...requests].sort(([a], [b]) => a - b);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  const percentile = (share: number): number | null => {
    let passed = 0;
    const found = buckets.find(([, count]) => {
      passed += count;
      return passed >= total * share;
    });
    return found ? middleMs(found[0]) : null;
  };
  return { p50Ms: percentile(0.5), p95Ms: percentile(0.95) };
}

/** The geometric middle of a bucket, to three digits. */
function middleMs(bucket: number): number {
  const middle = bucket === 0 ? FIRST_MS : FIRST_MS * 2 ** ((bucket - 0.5) / BUCKETS_PER_DOUBLING);
  return Number(middle.toPrecision(3));
}
