import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseTarget } from '../config/config.js';
import { AppError } from '../kernel/errors.js';

const DUPLICATE = new Set(['ER_DUP_ENTRY', 'SQLITE_CONSTRAINT_PRIMARYKEY', 'SQLITE_CONSTRAINT_UNIQUE']);
const LOCKED = new Set(['ER_LOCK_DEADLOCK', 'ER_LOCK_WAIT_TIMEOUT', 'SQLITE_BUSY']);
/** The server has executed nothing, and must prepare the statement again: perhaps a proxy has changed the server. */
export const UNPREPARED: ReadonlySet<unknown> = new Set(['ER_NEED_REPREPARE', 'ER_UNKNOWN_STMT_HANDLER']);

/** After these errors the connection must not return to the pool: it is silent or out of step, or has the wrong server or rights. */
export const FATAL_FOR_CONNECTION: ReadonlySet<unknown> = new Set([
  'PROTOCOL_SEQUENCE_TIMEOUT',
  'ER_MALFORMED_PACKET',
  'ER_NET_PACKETS_OUT_OF_ORDER',
  // A node of a Galera cluster that is not in step with the others.
  'ER_UNKNOWN_COM_ERROR',
  ...UNPREPARED,
  // The server became a replica or read-only: only a new connection can find the new primary.
  'ER_OPTION_PREVENTS_STATEMENT',
  'ER_READ_ONLY_MODE',
  'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION',
  // The server checks the rights that the user had when the connection was opened.
  'ER_DBACCESS_DENIED_ERROR',
  'ER_MUST_CHANGE_PASSWORD',
  'ER_TABLEACCESS_DENIED_ERROR',
]);

const UNWRITABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST']);

/** The number of an error that mysql2 has no name for: MariaDB has ended a statement, or a proxy has no server. */
const UNNAMED = /^\d{4,}$/;

const AWAY = new Set<unknown>([
  ...LOCKED,
  ...FATAL_FOR_CONNECTION,
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'POOL_TIMEOUT',
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_ENQUEUE_AFTER_FATAL_ERROR',
  // The server has no connections, statements, memory, locks or disk left, or the user's limit is reached.
  'ER_CON_COUNT_ERROR',
  'ER_TOO_MANY_USER_CONNECTIONS',
  'ER_USER_LIMIT_REACHED',
  'ER_DISK_FULL',
  'ER_ERROR_DURING_COMMIT',
  'ER_ERROR_ON_WRITE',
  'ER_GET_ERRNO',
  'ER_INNODB_READ_ONLY',
  'ER_LOCK_TABLE_FULL',
  'ER_MAX_PREPARED_STMT_COUNT_REACHED',
  'ER_OUTOFMEMORY',
  'ER_OUT_OF_RESOURCES',
  'ER_OUT_OF_SORTMEMORY',
  'ER_RECORD_FILE_FULL',
  'ER_TEMP_FILE_WRITE_FAILURE',
  // The server ended the connection or the statement.
  'ER_CLIENT_INTERACTION_TIMEOUT',
  'ER_CONNECTION_KILLED',
  'ER_QUERY_INTERRUPTED',
  'ER_QUERY_TIMEOUT',
  'ER_SERVER_SHUTDOWN',
  'ER_SESSION_WAS_KILLED',
  // Most faults of Vitess and TiDB have only this number.
  'ER_UNKNOWN_ERROR',
]);
/**
 * With all subcodes, such as `SQLITE_IOERR_WRITE`: the file can't be opened or is locked, or its disk is full, over quota,
 * broken or read-only.
 */
const OF_FILE = /^SQLITE_(BUSY|CANTOPEN|FULL|IOERR|LOCKED|PROTOCOL|READONLY)/;

/** The same error as mysql2's for a pool with too many waiting callers. */
export function tooManyWaiting(): Error {
  return new Error('Queue limit reached.');
}

export function isQueueFull(error: unknown): boolean {
  return /^Queue limit reached/.test(messageOf(error));
}

export function noConnection(withinMs: number): NodeJS.ErrnoException {
  const error: NodeJS.ErrnoException = new Error(`no database connection within ${withinMs} ms`);
  error.code = 'POOL_TIMEOUT';
  return error;
}

export function isDuplicate(error: unknown): boolean {
  return DUPLICATE.has(codeOf(error));
}

/** The row's own id is taken. `isDuplicate` is also true for a name, a host or a digest that must be unique. */
export function isDuplicateId(error: unknown): boolean {
  const code = codeOf(error);
  if (code === 'SQLITE_CONSTRAINT_PRIMARYKEY') return true;
  // `… for key 'projects.PRIMARY'`, without the table on MariaDB, in the server's language.
  return code === 'ER_DUP_ENTRY' && /'(?:[^']+\.)?PRIMARY'/.test(messageOf(error));
}

/** Another writer had the lock. The statement or transaction was rolled back and can be retried. */
export function isLocked(error: unknown): boolean {
  const code = codeOf(error);
  return LOCKED.has(code) || code.startsWith('SQLITE_BUSY_');
}

/** The table does not exist: the database is not set up. */
export function isTableMissing(error: unknown): boolean {
  return codeOf(error) === 'ER_NO_SUCH_TABLE' || /no such table/.test(messageOf(error));
}

/** For `catch`: a missing table has no rows. */
export function emptyIfTableMissing(error: unknown): never[] {
  if (isTableMissing(error)) return [];
  throw error;
}

/** The client's error when the database is unavailable, full, overloaded or refuses access; otherwise null. */
export function unavailableIfDatabaseAway(error: unknown): AppError | null {
  const code = codeOf(error);
  const away =
    AWAY.has(code) ||
    OF_FILE.test(code) ||
    UNNAMED.test(code) ||
    isOfLostConnection(error) ||
    /^(Queue limit reached|Pool is closed)/.test(messageOf(error));
  if (!away) return null;
  return new AppError('unavailable', 'The database does not answer at the moment. Try again shortly.', {
    retryAfterSeconds: 1,
    cause: error,
  });
}

/**
 * mysql2's error has no code when a statement starts after the connection has ended; `bounded-mysql.ts` marks failed
 * openings and broken answers.
 */
function isOfLostConnection(error: unknown): boolean {
  const { driverError, fatal } = (error ?? {}) as { driverError?: unknown; fatal?: unknown };
  return driverError ? isOfLostConnection(driverError) : fatal === true;
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { driverError, code, errno } = error as { driverError?: unknown; code?: unknown; errno?: unknown };
  return driverError ? codeOf(driverError) : String(code ?? errno ?? '');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}

/** The reason why a database did not open or answer, in one line, without the password. */
export function openProblem(target: DatabaseTarget, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (target.kind !== 'sqlite') return `${new URL(target.url).host}: ${message || code}`;
  const isUnwritable =
    UNWRITABLE.has(code ?? '') || /unable to open database file|readonly database/.test(message);
  if (!isUnwritable) return `${target.path}: ${message || code}`;
  return `${target.path}: this user can't write to the folder ${dirname(resolve(target.path))}`;
}

/** How long a command retries while the database is locked or unavailable. */
const PATIENCE_MS = 60_000;
const RETRY_MS = 100;

/** Retries `work` while the database is locked or unavailable, for up to a minute. The signal ends the wait. */
export async function patiently<T>(
  work: () => Promise<T>,
  { onWait, signal }: { onWait: () => void; signal?: AbortSignal },
): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!unavailableIfDatabaseAway(error) || performance.now() > deadline) throw error;
      onWait();
      await sleep(RETRY_MS, undefined, { signal });
    }
  }
}
