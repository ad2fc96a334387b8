import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Gateway } from '../app/gateway.js';
import { ConfigError } from '../ground/config/config.js';
import { jsonIn } from '../ground/kernel/json.js';
import { importOwn } from '../ground/own-files/own-file.js';

const USUAL_FILES = ['gateway.ts', 'gateway.js'];

export const NO_GATEWAY =
  'There is no gateway here: name its file in package.json as "petstore": { "gateway": "<file>" }, or put gateway.ts or gateway.js beside package.json.';

/**
 * The gateway of the nearest package.json, in this folder or above it; null = there is none. Throws `ConfigError` for a file
 * that is no gateway.
 */
export async function nearestGateway(folder: string): Promise<Gateway | null> {
  const file = gatewayFile(folder);
  if (file === null) return null;
  const { default: exported } = await importOwn('The gateway', file);
  const gateway = exported as Gateway | undefined;
  if (gateway === undefined || !Array.isArray(gateway.nouns)) {
    throw new ConfigError(
      `${file} has no gateway. Its last line must be: export default createGateway({ … })`,
    );
  }
  return gateway;
}

/** Its file; null = there is none. */
export function gatewayFile(from: string): string | null {
  const folder = resolve(from);
  const manifest = join(folder, 'package.json');
  if (!existsSync(manifest)) return dirname(folder) === folder ? null : gatewayFile(dirname(folder));
  const stated = jsonIn(readFileSync(manifest, 'utf8')) as { petstore?: { gateway?: unknown } } | undefined;
  const named = stated?.petstore?.gateway;
  if (typeof named === 'string') return resolve(folder, named);
  const usual = USUAL_FILES.find((name) => existsSync(join(folder, name)));
  return usual === undefined ? null : join(folder, usual);
}
