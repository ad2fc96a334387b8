import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import type { Program } from './daemon.js';

const execute = promisify(execFile);

/** The path of an executable file. Also looks where servers are installed but people's PATH does not lead. */
export function executableOnPath(name: string): string {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/local/sbin', '/usr/sbin'];
  const found = folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
  if (found === undefined) throw new Error(`no \`${name}\` on PATH`);
  return found;
}

/** What the program prints for the arguments on standard output. Rejects when it fails. */
export async function printedBy({ file, args }: Program, ...wanted: string[]): Promise<string> {
  return (await execute(file, [...args, ...wanted], { timeout: 30_000 })).stdout;
}

/** The path of the program itself, also of one that another system's loader runs. */
export function pathOf({ file, args }: Program): string {
  return args.at(-1) ?? file;
}
