import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Returns the folder of this program's `package.json`, whether this file runs as source or compiled. */
export function packageRoot(): string {
  return rootOf(import.meta.dirname);
}

function rootOf(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : rootOf(dirname(folder));
}
