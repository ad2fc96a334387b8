import {
  type LoggableRequest,
  MAX_PER_SECOND,
  minuteOf,
  type NewRow,
  rowOf,
  secondOf,
} from './logged-request.entity.js';

/** Rows of a project until they are drained. */
interface Collected {
  rows: NewRow[];
  /** The second of the newest request, and how many of its rows are kept. */
  second: number;
  ok: number;
  errors: number;
}

/** So many rows of a project without an error wait in memory, and as many errors besides. */
const MAX_OF_PROJECT = 500;
/** The same for all projects together: 20,000 rows are about 8 MB. */
const MAX_IN_ALL = 10_000;

/**
 * Collects the rows of the request log in memory. Of each second it keeps 50 rows of a project, errors first, and reports
 * every other request to `leaveOut`. Drained rows count until they are released, so memory stays bounded while the
 * database is away.
 */
export class UnstoredRequests {
  private readonly projects = new Map<bigint, Collected>();
  /** Unreleased rows by project. */
  private readonly held = new Map<bigint, number>();
  private heldInAll = 0;

  constructor(private readonly leaveOut: (projectId: bigint, minute: number) => void) {}

  note(request: LoggableRequest): void {
    const { projectId, atMs } = request;
    const isError = request.outcome !== 'ok';
    const collected = this.collectedAt(projectId, secondOf(atMs));
    const isFull = collected.ok + collected.errors >= MAX_PER_SECOND;
    if (isFull || !this.hasRoom(projectId, isError)) {
      // Either this request is left out, or the one that it replaces.
      this.leaveOut(projectId, minuteOf(atMs));
      if (!isError || collected.ok === 0) return;
      collected.rows[newestOk(collected.rows)] = rowOf(request);
      collected.ok -= 1;
    } else {
      collected.rows.push(rowOf(request));
      this.hold(projectId, 1);
    }
    collected[isError ? 'errors' : 'ok'] += 1;
  }

  /** Removes and returns the rows, oldest first; rows of the current second stay, because an error may replace them. */
  drain(currentSecond: number | null): NewRow[] {
    const drained: NewRow[] = [];
    for (const [projectId, collected] of this.projects) {
      const isCurrent = collected.second === currentSecond;
      const stays = (row: NewRow) => isCurrent && secondOf(row.atMs) === currentSecond;
      drained.push(...collected.rows.filter((row) => !stays(row)));
      if (isCurrent) collected.rows = collected.rows.filter(stays);
      else this.projects.delete(projectId);
    }
    return drained.sort((a, b) => a.atMs - b.atMs);
  }

  /** Frees the room of drained rows, which are stored or given up. */
  release(rows: readonly NewRow[]): void {
    for (const { projectId } of rows) this.hold(projectId, -1);
  }

  private collectedAt(projectId: bigint, second: number): Collected {
    const known = this.projects.get(projectId);
    if (known?.second === second) return known;
    const collected = { rows: known?.rows ?? [], second, ok: 0, errors: 0 };
    this.projects.set(projectId, collected);
    return collected;
  }

  private hasRoom(projectId: bigint, isError: boolean): boolean {
    const share = isError ? 2 : 1;
    const held = this.held.get(projectId) ?? 0;
    return held < share * MAX_OF_PROJECT && this.heldInAll < share * MAX_IN_ALL;
  }

  private hold(projectId: bigint, count: number): void {
    const held = (this.held.get(projectId) ?? 0) + count;
    if (held > 0) this.held.set(projectId, held);
    else this.held.delete(projectId);
    this.heldInAll += count;
  }
}

/** The position of the newest row without an error. */
function newestOk(rows: readonly NewRow[]): number {
  return rows.findLastIndex(({ outcome }) => outcome === 'ok');
}
