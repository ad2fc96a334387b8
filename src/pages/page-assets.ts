import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { KeptBody } from '../http/kept-body.js';

/** Under which the files of the pages are served. */
export const ASSETS_PATH = '/pages/';

const TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

type Manifest = Record<string, { file: string; css?: string[] }>;

/** The files that the pages load, as the bundler left them: each name contains a digest of what is in the file. */
export class PageAssets {
  private constructor(
    private readonly manifest: Manifest,
    private readonly files: ReadonlyMap<string, KeptBody>,
  ) {}

  /** Reads them all, some 2 MB. Throws when they have not been built. */
  static async read(): Promise<PageAssets> {
    const folder = join(packageRoot(import.meta.dirname), 'dist/browser/pages');
    const manifest = await readFile(join(folder, 'manifest.json'), 'utf8').catch((cause) => {
      throw new Error('The pages for browsers are not built. Run: npm run build', { cause });
    });
    const names = (await readdir(folder)).filter((name) => extname(name) in TYPES);
    const files = await Promise.all(
      names.map(async (name) => [name, await readAsset(folder, name)] as const),
    );
    return new PageAssets(JSON.parse(manifest), new Map(files));
  }

  find(name: string): KeptBody | null {
    return this.files.get(name) ?? null;
  }

  /** The address of what an entry of `pages/` became. */
  urlOf(entry: string): string {
    return ASSETS_PATH + this.entry(entry).file;
  }

  stylesOf(entry: string): string[] {
    const { file, css = [] } = this.entry(entry);
    return [...(file.endsWith('.css') ? [file] : []), ...css].map((name) => ASSETS_PATH + name);
  }

  private entry(name: string) {
    const found = this.manifest[name];
    if (!found) throw new Error(`The pages for browsers were built without ${name}. Run: npm run build`);
    return found;
  }
}

async function readAsset(folder: string, name: string): Promise<KeptBody> {
  const read = (suffix: string) => readFile(join(folder, name + suffix));
  const [identity, br, gzip] = await Promise.all([read(''), read('.br'), read('.gz')]);
  return new KeptBody(TYPES[extname(name)] ?? '', { identity, br, gzip });
}

/** The same folder, whether this file runs as it is or compiled. */
function packageRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : packageRoot(dirname(folder));
}
