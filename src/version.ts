import { readFileSync } from 'node:fs';

/** The version of this program, as `package.json` beside `dist` says. */
export function version(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}
