import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { lstatSync } from 'node:fs';
import { type FileHandle, link, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { AppError, invalidField } from '../ground/kernel/errors.js';
import { printable } from './output.js';

interface FileTarget {
  write(data: string | Uint8Array): Promise<void>;
  keep(): Promise<void>;
  /** Discards what was written, if that is possible. */
  discard(): Promise<void>;
}

/** Standard output. It waits for a slow reader. A terminal gets no control characters. */
export function standardOutput(signal: AbortSignal): FileTarget {
  const { stdout } = process;
  return {
    write: async (data) => {
      const shown = stdout.isTTY && typeof data === 'string' ? printable(data) : data;
      if (!stdout.write(shown)) await once(stdout, 'drain', { signal });
    },
    keep: async () => {},
    discard: async () => {},
  };
}

/**
 * A file that appears at `path` only when it is complete; until then it is at `partial`, in a hidden folder beside it. With `isForced`
 * it replaces a regular file. `mode` = its permissions, less the process's umask. Throws `AppError conflict` when anything
 * else is at `path`, and `AppError invalid_request` when the file can't be written.
 */
export async function newFile(path: string, isForced: boolean, mode = 0o666) {
  requireFree(path, isForced);
  const folder = join(dirname(path), `.petstore-${randomBytes(8).toString('hex')}.part`);
  const partial = join(folder, 'file');
  // A library that opens the file later finds no folder. Until then it may create files there: hence the retries.
  const removeFolder = () => rm(folder, { recursive: true, force: true, maxRetries: 10 });
  const create = async () => {
    await mkdir(folder, { mode: 0o700 });
    return open(partial, 'wx', mode);
  };
  const file = await create().catch(async (error) => {
    await removeFolder();
    return unwritable(path, error);
  });
  const discard = async () => {
    await file.close();
    await removeFolder();
  };
  return {
    partial,
    write: (data: string | Uint8Array) => file.appendFile(data).catch((error) => unwritable(path, error)),
    keep: async () => {
      try {
        await place(file, partial, path, isForced);
      } catch (error) {
        unwritable(path, error as Error);
      } finally {
        await discard();
      }
    },
    discard,
  };
}

async function place(file: FileHandle, partial: string, path: string, isForced: boolean): Promise<void> {
  await file.sync();
  if (!isForced) {
    try {
      // Unlike a rename, a link never replaces a file that appeared meanwhile.
      return await link(partial, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') requireFree(path, isForced);
      // Some file systems have no links.
    }
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
