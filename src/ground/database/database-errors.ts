import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseTarget } from '../config/config.js';
import { AppError, MAY_BE_STORED } from '../kernel/errors.js';

const DUPLICATE = new Set(['ER_DUP_ENTRY', 'SQLITE_CONSTRAINT_PRIMARYKEY', 'SQLITE_CONSTRAINT_UNIQUE']);
const LOCKED = new Set(['ER_LOCK_DEADLOCK', 'ER_LOCK_WAIT_TIMEOUT', 'SQLITE_BUSY']);
/** `ER_ERROR_DURING_COMMIT` of Group Replication, in the server's language: the other member's change took the row. */
const LOST_ROW = /\b149\b/;
/** 3101, also by a member that leaves its group: the other members may still commit the transaction. D-281. */
export const ROLLED_BACK_BY_GROUP = 'ER_TRANSACTION_ROLLBACK_DURING_COMMIT';
const UNWRITABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST']);

/** Classes of SQLSTATE: the statement, its values or a trigger is wrong. All others are a state of the server. */
const OF_STATEMENT = /^(0A|21|22|23|42|45)/;
/** Faults of a statement or its values with the general state HY000. */
const OF_STATEMENT_CODES = new Set([
  'ER_CANT_AGGREGATE_2COLLATIONS',
  'ER_CHECK_CONSTRAINT_VIOLATED',
  'ER_NO_DEFAULT_FOR_FIELD',
  'ER_TRUNCATED_WRONG_VALUE_FOR_FIELD',
  'ER_WRONG_ARGUMENTS',
]);
/** Limits of the server, which share class 42 with wrong statements. */
const OF_SERVER = new Set([
  'ER_TOO_MANY_USER_CONNECTIONS',
  'ER_USER_LIMIT_REACHED',
  'ER_MAX_PREPARED_STMT_COUNT_REACHED',
]);
/**
 * With all subcodes, such as `SQLITE_IOERR_WRITE`: the file can't be opened or is locked, or its disk is full, over quota,
 * broken or read-only.
 */
const OF_FILE = /^SQLITE_(BUSY|CANTOPEN|FULL|IOERR|LOCKED|PROTOCOL|READONLY)/;

/** Why the database stores nothing, by the error of a write. The first that fits counts. */
const UNSTORED: readonly (readonly [code: RegExp, why: string])[] = [
  [/^(SQLITE_FULL|ER_DISK_FULL|ER_RECORD_FILE_FULL)/, 'its disk is full'],
  [/^(SQLITE_IOERR|ER_ERROR_ON_WRITE)/, 'its disk reports errors, or a quota is used up'],
  [/^SQLITE_READONLY_DBMOVED/, 'its file was moved, deleted or replaced'],
  [/^(SQLITE_READONLY|ER_OPTION_PREVENTS_STATEMENT|ER_READ_ONLY_MODE)/, 'it is read-only'],
  [/^ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION/, 'it is read-only'],
  [/^SQLITE_CANTOPEN/, 'its file can not be opened'],
  [/^SQLITE_(CORRUPT|NOTADB)/, 'its file is damaged'],
];

/** The error of a driver. mysql2 sets `sqlState` on what the server has answered, SQLite never. */
interface DriverError {
  code?: string;
  message?: string;
  sqlState?: string;
  /** There was no connection, or it is lost: see `bounded-mysql.ts`. */
  fatal?: boolean;
  /** The statement or COMMIT was sent, and its answer never came: its change may be stored. */
  isUnanswered?: boolean;
  /** Set beside `ROLLED_BACK_BY_GROUP`: the member is in its group, so no member commits the transaction. */
  isRolledBack?: boolean;
  /** None of several servers serves: why, of each. */
  nowhere?: string;
}

/** The same error as mysql2's for a pool with too many waiting callers. */
export function tooManyWaiting(): Error {
  return Object.assign(new Error('Queue limit reached.'), { fatal: true });
}

export function isQueueFull(error: unknown): boolean {
  return messageOf(error).startsWith('Queue limit reached');
}

export function noConnection(withinMs: number): NodeJS.ErrnoException {
  const error = new Error(`no database connection within ${withinMs} ms`);
  return Object.assign(error, { code: 'POOL_TIMEOUT', fatal: true });
}

export function isDuplicate(error: unknown): boolean {
  return DUPLICATE.has(codeOf(error));
}

/** The row's own id is taken. `isDuplicate` is also true for a name, a host or a digest that must be unique. */
export function isDuplicateId(error: unknown): boolean {
  const code = codeOf(error);
  if (code === 'SQLITE_CONSTRAINT_PRIMARYKEY') return true;
  // `… for key 'projects.PRIMARY'`, without the table on MariaDB, in the server's language. The value is before it.
  return code === 'ER_DUP_ENTRY' && /'(?:[^']+\.)?PRIMARY'$/.test(messageOf(error));
}

/** For an error of COMMIT: the transaction may be stored, now or later. Clients get 503. */
export function outcomeUnknown(cause: unknown): Error {
  const error = new Error(`the outcome of a transaction is unknown: ${messageOf(cause)}`, { cause });
  // Without a duplicate's code: otherwise the write would run again with another id.
  return Object.assign(error, {
    code: isDuplicate(cause) ? '' : codeOf(cause),
    fatal: true,
    isUnanswered: true,
  });
}

/**
 * Another writer had the lock, or another node of the cluster committed first. The statement or transaction was rolled back
 * and can be retried.
 */
export function isLocked(error: unknown): boolean {
  const code = codeOf(error);
  if (code === ROLLED_BACK_BY_GROUP) return driverErrorOf(error).isRolledBack === true;
  if (code === 'ER_ERROR_DURING_COMMIT') return LOST_ROW.test(messageOf(error));
  return LOCKED.has(code) || code.startsWith('SQLITE_BUSY_');
}

/** Another writer came first, or may have: for a statement that can run again in any case. */
export function hasLost(error: unknown): boolean {
  return isLocked(error) || isDuplicate(error) || codeOf(error) === ROLLED_BACK_BY_GROUP;
}

/** A change was sent, and its answer never came. */
export function isUnanswered(error: unknown): boolean {
  return driverErrorOf(error).isUnanswered === true;
}

/** Why the database can store nothing at the moment; null = the error tells nothing about that. */
export function storageProblem(error: unknown): string | null {
  const { code = '', nowhere } = driverErrorOf(error);
  return nowhere ?? UNSTORED.find(([known]) => known.test(code))?.[1] ?? null;
}

/** The fault of each server, when no server of several serves. Throws any other error. */
export function whyNowhere(error: unknown): string {
  const { nowhere } = driverErrorOf(error);
  if (nowhere === undefined) throw error;
  return nowhere;
}

/** For a write that was not tried. */
export function notStored(why: string): Error {
  return Object.assign(new Error(`the database stores nothing: ${why}`), { fatal: true });
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
  const { code = '', sqlState, fatal, isUnanswered } = driverErrorOf(error);
  const isOfStatement =
    OF_STATEMENT_CODES.has(code) || (OF_STATEMENT.test(sqlState ?? '') && !OF_SERVER.has(code));
  const isOfServer = sqlState !== undefined && !isOfStatement;
  if (!fatal && !isOfServer && !OF_FILE.test(code)) return null;
  const message = isUnanswered
    ? `The database gave no answer. ${MAY_BE_STORED}`
    : 'The database does not answer at the moment. Try again shortly.';
  return new AppError('unavailable', message, {
    retryAfterSeconds: 1,
    cause: error,
  });
}

/** TypeORM wraps the error of a statement, and the message stays the same. */
function driverErrorOf(error: unknown): DriverError {
  const { driverError } = (error ?? {}) as { driverError?: unknown };
  return driverError ? driverErrorOf(driverError) : ((error ?? {}) as DriverError);
}

const codeOf = (error: unknown) => String(driverErrorOf(error).code ?? '');

const messageOf = (error: unknown) => driverErrorOf(error).message ?? '';

/** The reason why a database did not open or answer, in one line, without the password. */
export function openProblem(target: DatabaseTarget, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const { nowhere } = driverErrorOf(error);
  if (target.kind !== 'sqlite') return `${nowhere ?? new URL(target.url).host}: ${message || code}`;
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
