import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import { COUNT, ID, INTEGER, TIME_MS, text } from '../../ground/database/columns.js';
import type { AnsweredRequest, RequestOutcome } from '../../ground/kernel/answered-request.js';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../ground/kernel/duration.js';

export type LoggedDoor = 'graphql' | 'rest';

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

/** A request that the log shows: a key of the project sent it, and the limiter decided about it or it failed. */
export interface LoggableRequest extends AnsweredRequest {
  readonly projectId: bigint;
  readonly keyId: bigint;
  readonly door: LoggedDoor;
}

/** Free requests, such as reading the remaining quota, are shown only when they fail. */
export function isLoggable(answered: AnsweredRequest): answered is LoggableRequest {
  if (answered.keyId === null || answered.door === 'other') return false;
  return answered.paidBy !== null || answered.outcome !== 'ok';
}

/** A row whose id is drawn when it is stored. */
export type NewRow = Omit<LoggedRequest, 'id'>;

const MAX_INT = 2 ** 31 - 1;

export function rowOf(request: LoggableRequest): NewRow {
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
    durationUs: Math.min(Math.round(durationMs * 1_000), MAX_INT),
    units,
    requestId,
  };
}

/** V8's parts of a string keep the whole string in memory: the name of an operation would keep its document of 100 KB. */
function copied(text: string): string {
  return Buffer.from(text).toString();
}

/** How many requests of a project the log did not keep, or keeps no more, in a UTC minute. */
@Entity('requests_left_out', { withoutRowid: true })
@Index('requests_left_out_age', ['minute', 'projectId'])
export class LeftOutCount {
  @PrimaryColumn({ ...ID, name: 'project_id' })
  projectId!: bigint;

  /** Numbered from 1970. */
  @PrimaryColumn(INTEGER)
  minute!: number;

  @Column({ ...COUNT, name: 'left_out' })
  leftOut!: number;
}

/** The log of a project has its last 10,000 requests of the last 48 hours. */
export const MAX_LOGGED = 10_000;
export const KEPT_MS = 48 * HOUR_MS;
/** Of all processes together. */
export const MAX_PER_SECOND = 50;

/** Numbered from 1970. */
export function secondOf(atMs: number): number {
  return Math.floor(atMs / SECOND_MS);
}

/** Numbered from 1970. */
export function minuteOf(atMs: number): number {
  return Math.floor(atMs / MINUTE_MS);
}
