import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import type { Program } from '../daemon.js';

const execute = promisify(execFile);

/** Returns the path of an executable file. Also searches server folders that PATH often lacks. */
export function executableOnPath(name: string): string {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/local/sbin', '/usr/sbin'];
  const found = folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
  if (found === undefined) throw new Error(`no \`${name}\` on PATH`);
  return found;
}

/** Runs the program with the arguments and returns its standard output, or else its errors. Rejects when it fails. */
export async function printedBy({ file, args }: Program, ...wanted: string[]): Promise<string> {
  const { stdout, stderr } = await execute(file, [...args, ...wanted], { timeout: 30_000 });
  return stdout || stderr;
}

/** Returns the path of the program itself, also if another system's loader runs it. */
export function pathOf({ file, args }: Program): string {
  return args.at(-1) ?? file;
}
