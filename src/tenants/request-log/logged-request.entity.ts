import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { ID, INTEGER, TIME_MS, text } from '../../ground/database/columns.js';
import type { CountedRequest, RequestOutcome } from '../../ground/kernel/answered-request.js';
import { HOUR_MS, SECOND_MS } from '../../ground/kernel/duration.js';
import { INT32_MAX } from '../../ground/kernel/int64.js';

export type LoggedDoor = CountedRequest['door'];

/** An answered request of a project's key. Without its body, document, variables, address and token. */
@Entity('logged_requests', { withoutRowid: true })
@Index('logged_requests_age', ['id', 'projectId'])
export class LoggedRequest {
  @PrimaryColumn({ ...ID, name: 'project_id' })
  projectId!: bigint;

  /** Has the time of the answer in its upper bits, so that ids are in the order of time. */
  @PrimaryColumn(ID)
  id!: bigint;

  @Column({ ...TIME_MS, name: 'at_ms' })
  atMs!: number;

  @Column({ ...ID, name: 'key_id' })
  keyId!: bigint;

  @Column(text(8))
  door!: LoggedDoor;

  @Column(text(100))
  operation!: string;

  @Column(INTEGER)
  status!: number;

  /** In upper case, from both doors; null = no error. */
  @Column({ ...text(64), nullable: true })
  code!: string | null;

  @Column(text(8))
  outcome!: RequestOutcome;

  @Column({ ...INTEGER, name: 'duration_us' })
  durationUs!: number;

  @Column(INTEGER)
  units!: number;

  @Column({ ...text(64), name: 'request_id' })
  requestId!: string;
}

/** A row whose id is drawn when it is stored. */
export type NewRow = Omit<LoggedRequest, 'id'>;

export function rowOf(request: CountedRequest): NewRow {
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

/** The log of a project has its last 10,000 requests of the last 48 hours. */
export const REQUEST_RETENTION = { keptMs: 48 * HOUR_MS, maxOfProject: 10_000 };
/** Of each process. */
export const MAX_PER_SECOND = 50;

/** Numbered from 1970. */
export function secondOf(atMs: number): number {
  return Math.floor(atMs / SECOND_MS);
}
