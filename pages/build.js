import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';

/** Builds what the pages load into `dist/browser/pages`, unless what is there is newer than every source. */
const here = import.meta.dirname;
const root = join(here, '..');
const out = join(root, 'dist/browser/pages');

// Written last, and removed by the next build: half a build is none.
const stamp = join(out, 'built');
const madeAt = await newest([stamp]);
const sources = (await readdir(here, { recursive: true })).map((name) => join(here, name));
if ((await newest([...sources, join(root, 'package-lock.json')])) > madeAt) {
  const { build } = await import('vite');
  await build({ configFile: join(here, 'vite.config.ts') });
  await compress();
  await writeFile(stamp, '');
}

/** When the latest of the files was changed; a missing one never was. */
async function newest(paths) {
  const times = await Promise.all(
    paths.map((path) =>
      stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  );
  return Math.max(...times);
}

async function compress() {
  for (const name of await readdir(out)) {
    if (name === 'manifest.json') continue;
    const content = await readFile(join(out, name));
    await writeFile(join(out, `${name}.br`), await promisify(brotliCompress)(content));
    await writeFile(join(out, `${name}.gz`), await promisify(gzip)(content, { level: 9 }));
  }
}
