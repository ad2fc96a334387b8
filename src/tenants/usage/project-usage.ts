import { requireScope, type ServiceCall } from '../../ground/kernel/caller.js';
import { parseInt64 } from '../../ground/kernel/int64.js';
import type { KeyNames } from '../api-keys/key-names.js';
import { numberOf, USAGE_WINDOWS, type UsageWindow } from './buckets.js';
import type { StoredCount, UsageRange, UsageService } from './usage.service.js';
import type { Dimension } from './usage-counters.js';
import { type UsageReport, type UsageSeries, usageReport } from './usage-report.js';

const DIMENSION_OF = {
  DOOR: 'door',
  KEY: 'key',
  OPERATION: 'operation',
  STATUS: 'status',
} as const satisfies Record<string, Dimension>;
export type UsageDimension = keyof typeof DIMENSION_OF;
export const USAGE_DIMENSIONS = Object.keys(DIMENSION_OF) as UsageDimension[];

/** The parts of a report that need rows, with their dimensions; `series` needs that of the question. */
const NEEDED = { points: ['door', 'payer'], total: ['door'], latency: ['latency'] } as const;

export interface UsageQuestion {
  window: UsageWindow;
  by: UsageDimension;
  /** Whether the successful reads of dashboards count. */
  dashboards: boolean;
  /** The parts of the report that are wanted; the others come out empty. */
  parts: ReadonlySet<string>;
}

export interface LabelledReport extends UsageReport {
  series: (UsageSeries & { label: string })[];
}

export class ProjectUsage {
  constructor(
    private readonly usage: UsageService,
    private readonly keyNames: KeyNames,
    private readonly now: () => number,
  ) {}

  /** Throws `AppError forbidden` if the question is by key, and the caller lacks the scope. */
  requireAllowed({ caller }: Pick<ServiceCall, 'caller'>, { by }: UsageQuestion): void {
    if (by === 'KEY') requireScope(caller, 'keys');
  }

  /**
   * A report for each question, in their order. One statement for each window, and one for the names of keys. Throws what
   * `requireAllowed` throws.
   */
  async read({ caller }: ServiceCall, questions: readonly UsageQuestion[]): Promise<LabelledReport[]> {
    for (const question of questions) this.requireAllowed({ caller }, question);
    const { projectId } = caller;
    const nowMs = this.now();
    const rows = new Map<UsageWindow, Promise<StoredCount[]>>();
    for (const { window } of questions) {
      const range = rangeOf(window, questions, nowMs);
      rows.set(window, rows.get(window) ?? this.usage.read(projectId, range));
    }
    const reports = await Promise.all(
      questions.map(async ({ window, by, dashboards }) => {
        const { numbers } = rangeOf(window, [], nowMs);
        const read = (await rows.get(window)) ?? [];
        const asked = { window, first: numbers[0], by: DIMENSION_OF[by], dashboards };
        return { by, ...usageReport(read, asked) };
      }),
    );
    const ofKeys = reports.filter(({ by }) => by === 'KEY').flatMap(({ series }) => series);
    const names = await this.keyNames.of(projectId, ofKeys.flatMap(keyIdOf));
    return reports.map(({ by, ...report }) => ({
      ...report,
      series: report.series.map((series) => ({
        ...series,
        label: (by === 'KEY' ? keyIdOf(series).map((id) => names.get(id)?.name)[0] : null) ?? series.name,
      })),
    }));
  }
}

/** Empty for `other`. */
function keyIdOf({ name }: UsageSeries): bigint[] {
  const id = parseInt64(name);
  return id === null ? [] : [id];
}

/** The buckets and dimensions that the questions about a window need. */
function rangeOf(window: UsageWindow, questions: readonly UsageQuestion[], nowMs: number): UsageRange {
  const { bucket, points } = USAGE_WINDOWS[window];
  const last = numberOf(bucket, nowMs);
  const needed = questions
    .filter((asked) => asked.window === window)
    .flatMap(({ by, parts }) => [
      ...(parts.has('series') ? [DIMENSION_OF[by]] : []),
      ...Object.entries(NEEDED).flatMap(([part, dimensions]) => (parts.has(part) ? dimensions : [])),
    ]);
  return { bucket, numbers: [last - points + 1, last], dimensions: [...new Set(needed)] };
}
