import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Returns the folder of this program's `package.json`, whether this file runs as source or compiled. */
export function packageRoot(): string {
  return rootOf(import.meta.dirname);
}

function rootOf(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : rootOf(dirname(folder));
}

/** The version of this program, from its `package.json`. */
export function version(): string {
  const manifest = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
