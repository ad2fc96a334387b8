import { dirname, resolve } from 'node:path';
import type { DatabaseTarget } from '../config.js';

const UNWRITABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST']);

/** What went wrong with a database, in one line without its password. */
export function openProblem(target: DatabaseTarget, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (target.kind !== 'sqlite') return `${new URL(target.url).host}: ${message || code}`;
  const isUnwritable =
    UNWRITABLE.has(code ?? '') || /unable to open database file|readonly database/.test(message);
  if (!isUnwritable) return `${target.path}: ${message || code}`;
  return `${target.path}: the folder ${dirname(resolve(target.path))} can not be written by this user`;
}
