/** The doors, and under `manage` the part of `graphql` that spent nothing of the plan. */
export const SERIES = ['graphql', 'rest', 'manage'] as const;
export type Series = (typeof SERIES)[number];

export interface Outcomes {
  admitted: number;
  refused: number;
}

/** What one project asked for in one UTC minute. */
export interface Tally extends Record<Series, Outcomes> {
  readonly projectId: bigint;
  /** Numbered from 1970. */
  readonly minute: number;
}

/**
 * Counts in memory what is not stored yet. Bounded: when there are too many tallies, the oldest of the project that was
 * counted first goes, which only happens while the database is away.
 */
export class UsageCounters {
  /** By project, oldest minute first. */
  private tallies = new Map<bigint, Tally[]>();
  private held = 0;

  constructor(private readonly maxTallies: number) {}

  /** How many tallies are held. */
  get size(): number {
    return this.held;
  }

  count(request: { projectId: bigint; minute: number; door: Series; decision: keyof Outcomes }): void {
    this.tallyOf(request.projectId, request.minute)[request.door][request.decision] += 1;
  }

  /** What is held of a project. */
  of(projectId: bigint): readonly Tally[] {
    return this.tallies.get(projectId) ?? [];
  }

  /** Hands out everything, and begins anew. */
  take(): Tally[] {
    const taken = [...this.tallies.values()].flat();
    this.tallies = new Map();
    this.held = 0;
    return taken;
  }

  /** Takes back what could not be stored. */
  putBack(tallies: readonly Tally[]): void {
    for (const tally of tallies) {
      const held = this.tallyOf(tally.projectId, tally.minute);
      for (const door of SERIES) {
        held[door].admitted += tally[door].admitted;
        held[door].refused += tally[door].refused;
      }
    }
  }

  private tallyOf(projectId: bigint, minute: number): Tally {
    const ofProject = this.tallies.get(projectId);
    const newest = ofProject?.at(-1);
    if (newest?.minute === minute) return newest;
    const known = ofProject?.find((tally) => tally.minute === minute);
    if (known) return known;
    if (this.held >= this.maxTallies) this.dropOldest();
    const tally = { projectId, minute, graphql: zero(), rest: zero(), manage: zero() };
    this.add(tally);
    return tally;
  }

  private add(tally: Tally): void {
    const ofProject = this.tallies.get(tally.projectId);
    if (!ofProject) this.tallies.set(tally.projectId, [tally]);
    else {
      const later = ofProject.findIndex(({ minute }) => minute > tally.minute);
      ofProject.splice(later === -1 ? ofProject.length : later, 0, tally);
    }
    this.held += 1;
  }

  private dropOldest(): void {
    const [first] = this.tallies;
    if (!first) return;
    const [projectId, ofProject] = first;
    ofProject.shift();
    this.held -= 1;
    if (ofProject.length === 0) this.tallies.delete(projectId);
  }
}

function zero(): Outcomes {
  return { admitted: 0, refused: 0 };
}
