import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
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
  'tsconfig.json',
  'vite.config.js',
  '../package-lock.json',
];
const TEXTS = /\.(js|css|svg|html)$/;

/** Builds `dist/public/<name>`, unless it was built from the same inputs: `npm start` and `npm test` build each time. */
for (const [name, config] of Object.entries(BUILDS)) {
  const inputs = await digestOfInputs(name);
  const stamp = join(OUT, name, 'built-from');
  if ((await readFile(stamp, 'utf8').catch(() => '')) !== inputs) await build(name, config, inputs);
}

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
  for (const file of (await filesBelow(folder)).filter((path) => TEXTS.test(path))) {
    const content = await readFile(file);
    await writeFile(`${file}.br`, await promisify(brotliCompress)(content));
    await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }));
  }
}

async function digestOfInputs(name) {
  const own = (await filesBelow(join(HERE, name))).filter((file) => !file.endsWith('generated.ts'));
  const sources = [...own, ...(await filesBelow(join(HERE, 'design')))];
  const contract = name === 'dashboard' ? [join(ROOT, 'schema/schema.graphql')] : [];
  const hash = createHash('sha256');
  for (const file of [...sources.sort(), ...SHARED.map((path) => join(HERE, path)), ...contract]) {
    hash.update(relative(ROOT, file)).update(await readFile(file));
  }
  return hash.digest('hex');
}

async function filesBelow(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}
