import { readdir, readFile } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { KeptBody } from '../http/kept-body.js';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export interface Asset {
  /** Its name changes with its content. */
  readonly isHashed: boolean;
  readonly body: KeptBody;
}

/** Every file of the built dashboard by its path below `folder`, such as `assets/index-1a2b.js`; null = it is not built. */
export async function loadAssets(folder: string): Promise<ReadonlyMap<string, Asset> | null> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile() && extname(entry.name) in TYPES);
  const assets = new Map<string, Asset>();
  for (const { parentPath, name } of files) {
    const file = join(parentPath, name);
    const path = file.slice(folder.length + 1).replaceAll(sep, '/');
    const body = await KeptBody.of(TYPES[extname(file)] ?? '', await readFile(file));
    assets.set(path, { isHashed: path.startsWith('assets/'), body });
  }
  return assets.has('index.html') ? assets : null;
}
