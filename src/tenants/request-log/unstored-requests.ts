import type { CountedRequest } from '../../ground/kernel/answered-request.js';
import { SECOND_MS } from '../../ground/kernel/duration.js';
import { INT32_MAX } from '../../ground/kernel/int64.js';
import type { LoggedRequest } from './logged-request.entity.js';

/** A row whose id is drawn when it is stored. */
export type NewRow = Omit<LoggedRequest, 'id'>;

/** Rows of a project until they are drained. */
interface Collected {
  rows: NewRow[];
  /** The second of the newest request, and how many of its requests have a row. */
  second: number;
  kept: number;
  /** Rows without an error, which an error may replace until they are drained. */
  replaceable: number;
}

/** Of each process. */
const MAX_PER_SECOND = 50;
/** So many rows of a project without an error wait in memory, and as many errors besides. */
const MAX_OF_PROJECT = 500;
/** The same for all projects together: 20,000 rows are about 8 MB. */
const MAX_IN_ALL = 10_000;

/**
 * Collects the rows of the request log in memory. Of each second it keeps 50 rows of a project, errors first. Drained rows
 * count until they are released, so memory stays bounded while the database is away.
 */
export class UnstoredRequests {
  private readonly projects = new Map<bigint, Collected>();
  /** Unreleased rows by project. */
  private readonly held = new Map<bigint, number>();
  private heldInAll = 0;

  /** The number of rows of a project that are not released. */
  countOf(projectId: bigint): number {
    return this.held.get(projectId) ?? 0;
  }

  note(request: CountedRequest): void {
    const { projectId, atMs } = request;
    const isError = request.outcome !== 'ok';
    const collected = this.collectedAt(projectId, secondOf(atMs));
    const isFull = collected.kept >= MAX_PER_SECOND;
    if (isFull || !this.hasRoom(projectId, isError)) {
      // Either this request is left out, or the one that it replaces.
      if (!isError || collected.replaceable === 0) return;
      collected.rows[newestOk(collected.rows)] = rowOf(request);
      collected.replaceable -= 1;
    } else {
      collected.rows.push(rowOf(request));
      collected.kept += 1;
      if (!isError) collected.replaceable += 1;
      this.hold(projectId, 1);
    }
  }

  /**
   * Removes and returns the rows, oldest first. Unless they are the last ones, rows of the current second stay, because an
   * error may replace them.
   */
  drain(currentSecond: number, isLast = false): NewRow[] {
    const drained: NewRow[] = [];
    for (const [projectId, collected] of this.projects) {
      const isCurrent = collected.second === currentSecond;
      const stays = (row: NewRow) => isCurrent && !isLast && secondOf(row.atMs) === currentSecond;
      drained.push(...collected.rows.filter((row) => !stays(row)));
      collected.rows = collected.rows.filter(stays);
      if (isLast) collected.replaceable = 0;
      if (!isCurrent) this.projects.delete(projectId);
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
    const collected = { rows: known?.rows ?? [], second, kept: 0, replaceable: 0 };
    this.projects.set(projectId, collected);
    return collected;
  }

  private hasRoom(projectId: bigint, isError: boolean): boolean {
    const share = isError ? 2 : 1;
    return this.countOf(projectId) < share * MAX_OF_PROJECT && this.heldInAll < share * MAX_IN_ALL;
  }

  private hold(projectId: bigint, count: number): void {
    const held = this.countOf(projectId) + count;
    if (held > 0) this.held.set(projectId, held);
    else this.held.delete(projectId);
    this.heldInAll += count;
  }
}

/** The position of the newest row without an error. */
function newestOk(rows: readonly NewRow[]): number {
  return rows.findLastIndex(({ outcome }) => outcome === 'ok');
}

function rowOf(request: CountedRequest): NewRow {
  const { projectId, keyId, atMs, door, operation, status, code, outcome, durationMs, units, requestId } =
    request;
  return {
    projectId,
    atMs,
    keyId,
    door,
    operation: copied(operation),
    status,
    // REST has the same codes in lower case.
    code: code === null ? null : copied(code.toUpperCase()),
    outcome,
    // A client may take hours to read an answer.
    durationUs: Math.min(Math.round(durationMs * 1_000), INT32_MAX),
    units,
    requestId,
  };
}

/** V8's parts of a string keep the whole string in memory: the name of an operation would keep its document of 100 KB. */
function copied(text: string): string {
  return Buffer.from(text).toString();
}

/** Numbered from 1970. */
export function secondOf(atMs: number): number {
  return Math.floor(atMs / SECOND_MS);
}
