import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Returns the folder of this program's `package.json`, whether this file runs as source or compiled. */
export function packageRoot(folder = import.meta.dirname): string {
  return existsSync(join(folder, 'package.json')) ? folder : packageRoot(dirname(folder));
}

export function version(): string {
  const manifest = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
