import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { lstatSync, mkdirSync, rmSync } from 'node:fs';
import { type FileHandle, link, open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError, invalidField } from '../ground/kernel/errors.js';
import { printable } from './output.js';

type Write = (data: string) => Promise<void>;

/** Writes to standard output, and waits for a slow reader. A terminal gets no control characters. */
export function standardOutput(signal: AbortSignal): Write {
  const { stdout } = process;
  return async (data) => {
    if (!stdout.write(stdout.isTTY ? printable(data) : data)) await once(stdout, 'drain', { signal });
  };
}

interface NewFile {
  path: string;
  /** Whether it may replace a regular file. */
  isForced: boolean;
  /** Its permissions, less the process's umask. */
  mode?: number;
}

/**
 * The file appears at `path` when `work` has written it. Until then it is at `partial`, in a hidden folder beside it. Nothing
 * remains of it when `work` fails or the process exits. Throws `AppError conflict` when anything else is at `path`,
 * and `AppError invalid_request` when the file can't be written.
 */
export async function writeNewFile(
  { path, isForced, mode = 0o666 }: NewFile,
  work: (write: Write, partial: string) => Promise<void>,
): Promise<void> {
  requireFree(path, isForced);
  const orUnwritable = (error: Error) => unwritable(path, error);
  const folder = join(dirname(path), `.petstore-${randomBytes(8).toString('hex')}.part`);
  const partial = join(folder, 'file');
  // A library that opens the file later finds no folder. Until then it may create files there: hence the retries.
  const removeFolder = () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  const create = async () => {
    mkdirSync(folder, { mode: 0o700 });
    return open(partial, 'wx', mode);
  };
  process.once('exit', removeFolder);
  try {
    const file = await create().catch(orUnwritable);
    try {
      await work((data) => file.appendFile(data).catch(orUnwritable), partial);
      await place(file, partial, path, isForced).catch(orUnwritable);
    } finally {
      await file.close();
    }
  } finally {
    removeFolder();
    process.off('exit', removeFolder);
  }
}

async function place(file: FileHandle, partial: string, path: string, isForced: boolean): Promise<void> {
  await file.sync();
  if (!isForced) {
    // Unlike a rename, a link never replaces a file that appeared meanwhile. Some file systems have no links.
    const isPlaced = await link(partial, path).then(
      () => true,
      () => false,
    );
    if (isPlaced) return;
  }
  requireFree(path, isForced);
  await rename(partial, path);
}

function requireFree(path: string, isForced: boolean): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found || (isForced && found.isFile())) return;
  throw new AppError(
    'conflict',
    isForced
      ? `${path} is not a regular file, so --force does not replace it. Choose another name.`
      : `${path} already exists. Choose another name, or replace it with --force.`,
  );
}

function unwritable(path: string, error: Error): never {
  if (error instanceof AppError) throw error;
  // Without the system call and the temporary name: `ENOSPC: no space left on device`.
  const [reason] = error.message.split(', ');
  throw invalidField('file', `${path} can't be written: ${reason}`);
}
