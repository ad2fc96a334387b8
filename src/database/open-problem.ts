import { dirname, resolve } from 'node:path';
import type { DatabaseTarget } from '../config.js';

const UNWRITABLE = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST']);

/** The reason why a database did not open or answer, in one line without its password. */
export function openProblem(target: DatabaseTarget, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (target.kind !== 'sqlite') return `${new URL(target.url).host}: ${message || code}`;
  const isUnwritable =
    UNWRITABLE.has(code ?? '') || /unable to open database file|readonly database/.test(message);
  if (!isUnwritable) return `${target.path}: ${message || code}`;
  return `${target.path}: the folder ${dirname(resolve(target.path))} can not be written by this user`;
}
