import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { BUILDS } from './vite.config.js';

const HERE = import.meta.dirname;
const ROOT = join(HERE, '..');
/** Not `dist/browser`: there TypeScript compiles the sources that the server and the tests import. */
const OUT = join(ROOT, 'dist/public');
/** The files that both builds depend on. */
const SHARED = [
  'api-key.ts',
  'build.js',
  'gateway.ts',
  'generate-types.js',
  'nouns.ts',
  'result-stream.ts',
  'tsconfig.json',
  'vite.config.js',
  '../package-lock.json',
  '../src/csv.ts',
  '../src/noun-words.ts',
  '../src/nouns.ts',
];
/** What the server and the scripts of pages show alike. */
const SHOWN = join(ROOT, 'src/doors/web/shown');
/** The types of the dashboard are made from it. */
const SCHEMA = join(ROOT, 'schema/schema.graphql');
const TEXTS = /\.(js|css|svg|html|json)$/;
/** The highest quality, 11, takes more than twice as long, and saves 2 % of the bytes. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } };

/** The parts of `dist/public` by their names. `../build.js` builds each whose `stamp` has other `inputs`. */
export const BROWSER_PARTS = Object.fromEntries(
  Object.entries(BUILDS).map(([name, config]) => [
    name,
    {
      stamp: join(OUT, name, 'built-from'),
      inputs: () => inputsOf(name),
      build: (inputs) => build(name, config, inputs),
    },
  ]),
);

async function build(name, config, inputs) {
  // Imported only here: loading them takes longer than everything else.
  const { build: bundle } = await import('vite');
  if (name === 'dashboard') await prepareTypes();
  // In another folder first, so that a gateway never reads half of a build.
  const draft = join(OUT, `${name}.draft`);
  await bundle({
    ...config,
    configFile: false,
    build: { ...config.build, outDir: draft, emptyOutDir: true },
  });
  await compress(draft);
  await writeFile(join(draft, 'built-from'), inputs);
  await rm(join(OUT, name), { recursive: true, force: true });
  await rename(draft, join(OUT, name));
}

/** The types of the dashboard's operations. A type error ends the build. */
async function prepareTypes() {
  const { generateTypes } = await import('./generate-types.js');
  await generateTypes();
  const options = { cwd: ROOT, stdio: 'inherit' };
  const { status } = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', 'browser'], options);
  if (status !== 0) process.exit(status ?? 1);
}

/** Writes each text a second and a third time, as `.br` and `.gz`. */
async function compress(folder) {
  const texts = (await filesBelow(folder)).filter((path) => TEXTS.test(path));
  const compressOne = async (file) => {
    const content = await readFile(file);
    await writeFile(`${file}.br`, await promisify(brotliCompress)(content, BROTLI));
    await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
  };
  await Promise.all(texts.map(compressOne));
}

async function inputsOf(name) {
  const folders = [join(HERE, name), join(HERE, 'design'), SHOWN];
  const files = (await Promise.all(folders.map(filesBelow))).flat();
  // The server reads the guides, and types are made by the build.
  const own = files.filter((file) => !/(generated\.ts|\.md)$/.test(file));
  const shared = SHARED.map((path) => join(HERE, path));
  return digestOf([...own, ...shared, ...(name === 'dashboard' ? [SCHEMA] : [])]);
}

export async function digestOf(files) {
  const hash = createHash('sha256');
  for (const file of files.sort()) hash.update(relative(ROOT, file)).update(await readFile(file));
  return hash.digest('hex');
}

export async function filesBelow(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}
