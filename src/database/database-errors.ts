import { AppError } from '../errors.js';

const DUPLICATE = new Set(['ER_DUP_ENTRY', 'SQLITE_CONSTRAINT_PRIMARYKEY', 'SQLITE_CONSTRAINT_UNIQUE']);
const LOCKED = new Set(['ER_LOCK_DEADLOCK', 'ER_LOCK_WAIT_TIMEOUT', 'SQLITE_BUSY']);
/** The server became a replica or a read-only one: only a new connection can find the new primary. */
const READ_ONLY = [
  'ER_OPTION_PREVENTS_STATEMENT',
  'ER_READ_ONLY_MODE',
  'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION',
];

/** After these the connection must not go back into the pool: it is dead, silent, or leads to the wrong server. */
export const FATAL_FOR_CONNECTION: ReadonlySet<unknown> = new Set([
  'PROTOCOL_SEQUENCE_TIMEOUT',
  ...READ_ONLY,
]);

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
  'ER_ACCESS_DENIED_ERROR',
  'ER_CON_COUNT_ERROR',
  'ER_CONNECTION_KILLED',
  'ER_QUERY_INTERRUPTED',
  'ER_SERVER_SHUTDOWN',
  'ER_DISK_FULL',
  'SQLITE_CANTOPEN',
  'SQLITE_FULL',
]);
/** `SQLITE_IOERR_WRITE`, `_FSYNC` and thirty more: the disk is full, has a quota, or is broken. */
const OF_DISK = /^SQLITE_IOERR/;

/** mysql2's own error for a pool that has too many waiting. */
export function tooManyWaiting(): Error {
  return new Error('Queue limit reached.');
}

export function noConnection(withinMs: number): NodeJS.ErrnoException {
  const error: NodeJS.ErrnoException = new Error(`no database connection within ${withinMs} ms`);
  error.code = 'POOL_TIMEOUT';
  return error;
}

export function isDuplicate(error: unknown): boolean {
  return DUPLICATE.has(codeOf(error));
}

/** The row's own id is taken. `isDuplicate` also holds for a name, a host or a digest that must be unique. */
export function isDuplicateId(error: unknown): boolean {
  const code = codeOf(error);
  if (code === 'SQLITE_CONSTRAINT_PRIMARYKEY') return true;
  // `… for key 'projects.PRIMARY'`, without the table on MariaDB, in the server's language.
  return code === 'ER_DUP_ENTRY' && /'(?:[^']+\.)?PRIMARY'/.test(messageOf(error));
}

/** Another writer held a lock; the statement or transaction was rolled back and may be run again. */
export function isLocked(error: unknown): boolean {
  return LOCKED.has(codeOf(error));
}

/** The statement names a table that is not there: nobody has set this database up. */
export function isTableMissing(error: unknown): boolean {
  return codeOf(error) === 'ER_NO_SUCH_TABLE' || /no such table/.test(messageOf(error));
}

/** The error as a client may see it when the database is away, full or overloaded; otherwise null. */
export function unavailableIfDatabaseAway(error: unknown): AppError | null {
  const code = codeOf(error);
  const away =
    AWAY.has(code) ||
    OF_DISK.test(code) ||
    isOfLostConnection(error) ||
    /^(Queue limit reached|Pool is closed)/.test(messageOf(error));
  if (!away) return null;
  return new AppError('unavailable', 'The database does not answer at the moment. Try again shortly.', {
    retryAfterSeconds: 1,
    cause: error,
  });
}

/** mysql2 has no code for a statement that it was given after the connection had ended. */
function isOfLostConnection(error: unknown): boolean {
  const { driverError, fatal } = (error ?? {}) as { driverError?: unknown; fatal?: unknown };
  return driverError ? isOfLostConnection(driverError) : fatal === true;
}

function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  const { driverError, code } = error as { driverError?: unknown; code?: unknown };
  return driverError ? codeOf(driverError) : String(code ?? '');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : '';
}
