import { readdir, readFile } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

export interface Asset {
  readonly type: string;
  /** Its name changes with its content. */
  readonly isHashed: boolean;
  readonly bodies: Readonly<Record<'br' | 'gzip' | 'identity', Buffer>>;
}

/** Every file of the built dashboard by its path below `folder`, such as `assets/index-1a2b.js`; null = it is not built. */
export async function loadAssets(folder: string): Promise<ReadonlyMap<string, Asset> | null> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile() && extname(entry.name) in TYPES);
  const assets = new Map<string, Asset>();
  for (const { parentPath, name } of files) {
    const file = join(parentPath, name);
    const path = file.slice(folder.length + 1).replaceAll(sep, '/');
    assets.set(path, await load(file, path));
  }
  return assets.has('index.html') ? assets : null;
}

async function load(file: string, path: string): Promise<Asset> {
  const identity = await readFile(file);
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(identity, QUALITY),
    promisify(gzip)(identity, { level: 9 }),
  ]);
  const type = TYPES[extname(file)] ?? 'application/octet-stream';
  return { type, isHashed: path.startsWith('assets/'), bodies: { br, gzip: gz, identity } };
}
