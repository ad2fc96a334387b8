import { existsSync } from 'node:fs';
import { lstat, mkdir, readdir, readlink, rename, rm, symlink, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { packageRoot } from '../../../../src/ground/kernel/package.js';

// Jest's global setup runs this file as built, from below `dist`; both copies must find the same cache.
const CACHE = join(packageRoot(), '.cache');
const LONGEST_FILL_MILLISECONDS = 15 * 60_000;

/**
 * Returns the path of `.cache/<name>`, which `fill` fills the first time. `fill` works in another folder, which is
 * renamed when it is complete, so an interrupted run leaves nothing that looks complete. If several processes ask at
 * once, one of them fills and the others wait. Rejects when `fill` does; the next caller tries again.
 */
export async function cachedFolder(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(CACHE, name);
  const lock = `${folder}.lock`;
  await mkdir(CACHE, { recursive: true });
  while (!existsSync(folder)) {
    if (await tryLock(lock)) {
      try {
        if (!existsSync(folder)) await fillAndPublish(name, fill);
      } finally {
        await unlink(lock).catch(ignoreMissing);
      }
    } else {
      await pause(100);
    }
  }
  return folder;
}

/** Returns whether `cachedFolder(name)` would return without filling. */
export function isCached(name: string): boolean {
  return existsSync(join(CACHE, name));
}

async function fillAndPublish(name: string, fill: (folder: string) => Promise<void>): Promise<void> {
  const folder = join(CACHE, name);
  const draft = `${folder}.draft-${process.pid}`;
  const leftovers = (await readdir(CACHE)).filter((entry) => entry.startsWith(`${name}.draft-`));
  for (const entry of leftovers) {
    if (!isAlive(entry.slice(`${name}.draft-`.length)))
      await rm(join(CACHE, entry), { recursive: true, force: true });
  }
  await mkdir(draft);
  try {
    await fill(draft);
    await rename(draft, folder);
  } catch (error) {
    // Two processes that broke the same abandoned lock may both have filled; the first result counts.
    if (!existsSync(folder)) throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

// A symbolic link appears together with its content, the owner's process id; a lock file would be empty for a moment.
async function tryLock(lock: string): Promise<boolean> {
  try {
    await symlink(String(process.pid), lock);
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  if (await isAbandoned(lock)) await unlink(lock).catch(ignoreMissing);
  return false;
}

async function isAbandoned(lock: string): Promise<boolean> {
  try {
    const { mtimeMs } = await lstat(lock);
    return !isAlive(await readlink(lock)) || Date.now() - mtimeMs > LONGEST_FILL_MILLISECONDS;
  } catch (error) {
    ignoreMissing(error);
    return false;
  }
}

function isAlive(processId: string): boolean {
  try {
    process.kill(Number(processId), 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

function ignoreMissing(error: unknown): void {
  if (codeOf(error) !== 'ENOENT') throw error;
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
