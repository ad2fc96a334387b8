import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
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
  'generate-types.js',
  'nouns.ts',
  'result-stream.ts',
  'site-links.ts',
  'tsconfig.json',
  'vite.config.js',
  '../package-lock.json',
  '../src/csv.ts',
  '../src/nouns.ts',
];
/** The files of `schema/` that a build is made from. */
const CONTRACTS = {
  pages: ['schema/openapi.json', 'schema/postman.json'],
  dashboard: ['schema/schema.graphql'],
};
/** What `src/nouns.ts` reads. */
const DESCRIPTION = /\.description\.ts$/;
const GUIDES = join(HERE, 'pages/reference/guides');
/** The recipes of the page about clients: a document, and the files beside its examples. */
const RECIPES = join(ROOT, 'docs/clients.md');
const FILES = join(ROOT, 'docs/clients');
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
  if (name === 'pages') await writePages(draft);
  await compress(draft);
  await writeFile(join(draft, 'built-from'), inputs);
  await rm(join(OUT, name), { recursive: true, force: true });
  await rename(draft, join(OUT, name));
}

/** The HTML pages, made from the contract and the guides. */
async function writePages(folder) {
  const { runnerImport } = await import('vite');
  const read = (file) => readFile(file, 'utf8');
  const guides = (await filesBelow(GUIDES)).map(async (file) => [basename(file, '.md'), await read(file)]);
  const files = (await filesBelow(FILES)).map(async (file) => [basename(file), await read(file)]);
  const { module } = await runnerImport(join(HERE, 'pages/render/pages.ts'), { configFile: false });
  const [contract, postman] = await Promise.all(CONTRACTS.pages.map((path) => read(join(ROOT, path))));
  const pages = module.renderPages({
    manifest: JSON.parse(await read(join(folder, 'manifest.json'))),
    contract,
    postman,
    guides: Object.fromEntries(await Promise.all(guides)),
    recipes: { document: await read(RECIPES), files: Object.fromEntries(await Promise.all(files)) },
  });
  for (const [path, text] of Object.entries(pages)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
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
  const own = (await filesBelow(join(HERE, name))).filter((file) => !file.endsWith('generated.ts'));
  const descriptions = (await filesBelow(join(ROOT, 'src'))).filter((file) => DESCRIPTION.test(file));
  const recipes = name === 'pages' ? [RECIPES, ...(await filesBelow(FILES))] : [];
  const shared = [...SHARED, ...CONTRACTS[name].map((path) => join('..', path))].map((path) =>
    join(HERE, path),
  );
  return digestOf([
    ...own,
    ...(await filesBelow(join(HERE, 'design'))),
    ...descriptions,
    ...shared,
    ...recipes,
  ]);
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
