import type { LeftOutCount } from './left-out-count.entity.js';

/** About 8 MB. A project needs one for each minute in which the database is away. */
const MAX_COUNTS = 100_000;

/** Counts in memory the requests that the log leaves out, until the counts are stored. */
export class LeftOutCounts {
  /** Oldest minute first. */
  private projects = new Map<bigint, LeftOutCount[]>();
  private size = 0;

  /** At the bound, a new minute counts as the previous one, and a new project is not counted. */
  add(projectId: bigint, minute: number, count = 1): void {
    const counts = this.projects.get(projectId);
    const newest = counts?.at(-1);
    if (newest && (newest.minute === minute || this.size >= MAX_COUNTS)) newest.leftOut += count;
    else if (this.size < MAX_COUNTS) {
      const added = { projectId, minute, leftOut: count };
      if (counts) counts.push(added);
      else this.projects.set(projectId, [added]);
      this.size += 1;
    }
  }

  /** Returns and removes all counts; a project and minute may occur twice. */
  drain(): LeftOutCount[] {
    const all = [...this.projects.values()].flat();
    this.projects = new Map();
    this.size = 0;
    return all;
  }
}

/** One row for each project and minute, sorted by primary key. */
export function summed(counts: readonly LeftOutCount[]): LeftOutCount[] {
  const rows = new Map<string, LeftOutCount>();
  for (const count of counts) {
    const key = `${count.projectId}/${count.minute}`;
    const known = rows.get(key);
    if (known) known.leftOut += count.leftOut;
    else rows.set(key, { ...count });
  }
  return [...rows.values()].sort((a, b) =>
    a.projectId === b.projectId ? a.minute - b.minute : a.projectId < b.projectId ? -1 : 1,
  );
}
