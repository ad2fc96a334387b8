import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../../kernel/errors.js';

/** The path below which the files of the pages are served. */
export const ASSETS_PATH = '/pages/';

type Manifest = Record<string, { file: string; css?: string[] }>;

/** The URLs of the files that the pages load. Each name contains a digest of the content. */
export class PageAssets {
  private constructor(private readonly manifest: Manifest) {}

  /** Reads the manifest of the build. Throws `AppError internal` if there is no build. */
  static async read(folder: string): Promise<PageAssets> {
    const manifest = await readFile(join(folder, 'manifest.json'), 'utf8').catch((cause) => {
      throw new AppError('internal', 'The pages for browsers are not built. Run: npm run build', { cause });
    });
    return new PageAssets(JSON.parse(manifest));
  }

  /** The URL of the file that was built from an entry of `browser/pages/`. */
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
