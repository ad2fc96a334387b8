import { closeSync, existsSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { AppError } from '../../kernel/errors.js';

/** Offsets in SQLite's header: https://sqlite.org/fileformat2.html#the_database_header */
const JOURNAL_VERSION_AT = 18;
const USER_VERSION_AT = 60;
const HEADER_BYTES = 100;
/** The journal version of a file with a `-wal`. That of a backup is 1. */
const WITH_WAL = 2;
/** The `user_version` of a file that a gateway serves, or served until it crashed. */
export const IN_USE = 1;

/**
 * By real path. To close any descriptor of a file ends all locks that the process has on it (POSIX), and with them the
 * protection of SQLite. So a file is never read here after SQLite has opened it.
 */
const openedFiles = new Set<string>();

/**
 * Looks at the files before SQLite does, which deletes or applies the `-wal` of another database without an error. Throws
 * `AppError conflict` when the `-wal` is not of the file. Returns a line for the operator when it seems to be missing;
 * otherwise null.
 */
export function examineSqliteFile(path: string): string | null {
  const file = realPath(path);
  if (openedFiles.has(file)) return null;
  const header = headerOf(file);
  const hasWal = header?.[JOURNAL_VERSION_AT] === WITH_WAL;
  if (walBytes(file) > 0 && !hasWal) {
    throw new AppError(
      'conflict',
      header
        ? `${file}-wal is not of ${file}, which is a backup. Move the -wal and the -shm away, and start again.`
        : `${file}-wal has changes of a database, and ${file} is missing or empty. Put that file back, or move the -wal and the -shm away to begin with an empty database.`,
    );
  }
  const isExpected = hasWal && header.readUInt32BE(USER_VERSION_AT) === IN_USE;
  if (!isExpected || existsSync(`${file}-wal`)) return null;
  return `${file}-wal is missing. If the file was copied without it, the newest changes are lost: stop the gateway, and copy both files again, or use \`petstore backup\`. If another program has used the file since a crash, nothing is lost.`;
}

/**
 * To be called before SQLite opens the file. SQLite itself gives its files the mode of the database, but creates that as
 * 0644. An existing file keeps its mode.
 */
export function createPrivate(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // It exists, or SQLite will say why it cannot be created.
  }
  openedFiles.add(realPath(path));
}

export function walBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

/** Null = there is no database in the file. */
function headerOf(file: string): Buffer | null {
  const header = Buffer.alloc(HEADER_BYTES);
  try {
    const descriptor = openSync(file, 'r');
    const length = readSync(descriptor, header, 0, HEADER_BYTES, 0);
    closeSync(descriptor);
    return length === HEADER_BYTES ? header : null;
  } catch {
    return null;
  }
}
