import type { AnsweredRequest } from '../kernel/answered-request.js';
import type { LoggedDoor, LoggedRequest } from './logged-request.entity.js';

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
