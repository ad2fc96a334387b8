import type { CountedRequest } from '../../ground/kernel/answered-request.js';
import { SECOND_MS } from '../../ground/kernel/duration.js';
import { INT32_MAX } from '../../ground/kernel/int64.js';
import type { LoggedRequest } from './logged-request.entity.js';

/** A row whose id is drawn when it is stored. */
export type NewRow = Omit<LoggedRequest, 'id'>;

/** The rows of a project in the current second. */
interface CurrentRows {
  errors: NewRow[];
  others: NewRow[];
}

/** Of each process. */
const MAX_PER_SECOND = 50;
/** So many rows of a project without an error wait in memory, and as many errors besides. */
const MAX_OF_PROJECT = 500;
/** The same for all projects together: 20,000 rows are about 8 MB. */
const MAX_IN_ALL = 10_000;

/**
 * Collects the rows of the request log in memory. Of each second it keeps 50 rows of a project, errors first: when the
 * second has ended, its errors replace the newest other rows. Drained rows count until they are released, so memory stays
 * bounded while the database is away.
 */
export class UnstoredRequests {
  /** The current second, numbered from 1970. */
  private second = 0;
  private readonly current = new Map<bigint, CurrentRows>();
  /** The rows of past seconds. */
  private decided: NewRow[] = [];
  /** Unreleased rows by project. */
  private readonly held = new Map<bigint, number>();
  private heldInAll = 0;

  /** The number of rows of a project that are kept and not released. */
  countOf(projectId: bigint): number {
    const current = this.current.get(projectId);
    const total = current ? current.errors.length + current.others.length : 0;
    return this.heldOf(projectId) - Math.max(0, total - MAX_PER_SECOND);
  }

  note(request: CountedRequest): void {
    const { projectId, atMs, outcome } = request;
    this.beginSecond(secondOf(atMs));
    const { errors, others } = this.currentOf(projectId);
    const isError = outcome !== 'ok';
    const rows = isError ? errors : others;
    if (rows.length >= MAX_PER_SECOND || !this.hasRoom(projectId, isError)) return;
    rows.push(rowOf(request));
    this.hold(projectId, 1);
  }

  /** Removes and returns the rows of other seconds than `second`, oldest first. */
  drain(second: number): NewRow[] {
    this.beginSecond(second);
    const drained = this.decided;
    this.decided = [];
    return drained.sort((a, b) => a.atMs - b.atMs);
  }

  /** Frees the room of rows, which are stored or given up. */
  release(rows: readonly NewRow[]): void {
    for (const { projectId } of rows) this.hold(projectId, -1);
  }

  private beginSecond(second: number): void {
    if (second === this.second) return;
    for (const { errors, others } of this.current.values()) {
      this.release(others.splice(MAX_PER_SECOND - errors.length));
      this.decided.push(...errors, ...others);
    }
    this.current.clear();
    this.second = second;
  }

  private currentOf(projectId: bigint): CurrentRows {
    const known = this.current.get(projectId);
    if (known) return known;
    const rows = { errors: [], others: [] };
    this.current.set(projectId, rows);
    return rows;
  }

  private hasRoom(projectId: bigint, isError: boolean): boolean {
    const share = isError ? 2 : 1;
    return this.heldOf(projectId) < share * MAX_OF_PROJECT && this.heldInAll < share * MAX_IN_ALL;
  }

  private heldOf(projectId: bigint): number {
    return this.held.get(projectId) ?? 0;
  }

  private hold(projectId: bigint, count: number): void {
    const held = this.heldOf(projectId) + count;
    if (held > 0) this.held.set(projectId, held);
    else this.held.delete(projectId);
    this.heldInAll += count;
  }
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
