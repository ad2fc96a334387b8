import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { LoadHook } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Compiler } from './typescript.js';

/** Node calls it once, in the thread of the hooks. */
export function initialize(compiler: Compiler): void {
  Object.assign(COMPILER, compiler);
}

const COMPILER = { tsc: '', cache: '' };
/** No file of a library is checked or followed: each is compiled alone, as Node does. */
const OPTIONS = {
  target: 'es2022',
  module: 'esnext',
  moduleResolution: 'bundler',
  isolatedModules: true,
  noResolve: true,
  noCheck: true,
  noLib: true,
  types: [],
  inlineSourceMap: true,
};
/** The numbers of wrong syntax. All others are about types, and some compilers tell them with `noCheck` too. */
const SYNTAX = /^.*: error TS1\d{3}: .*$/m;

/** Compiles a TypeScript file when Node imports it. */
export const load: LoadHook = async (url, context, nextLoad) => {
  if (!/\.ts$/.test(url) || url.includes('/node_modules/')) return nextLoad(url, context);
  return { format: 'module', source: await compiled(fileURLToPath(url)), shortCircuit: true };
};

async function compiled(path: string): Promise<string> {
  const key = createHash('sha256').update(path).digest('hex').slice(0, 16);
  const cached = join(COMPILER.cache, `${basename(path, '.ts')}-${key}.js`);
  const source = await readFile(path);
  const mark = `\n// ${createHash('sha256').update(COMPILER.tsc).update(source).digest('hex')}\n`;
  const known = await readFile(cached, 'utf8').catch(() => '');
  if (known.endsWith(mark)) return known;
  const text = `${await compile(path)}${mark}`;
  // Other processes may read it at the same time. A folder that cannot be written costs only time.
  const next = `${cached}.${process.pid}`;
  await mkdir(dirname(cached), { recursive: true })
    .then(() => writeFile(next, text))
    .then(() => rename(next, cached))
    .catch(() => {});
  return text;
}

async function compile(path: string): Promise<string> {
  const outDir = await mkdtemp(join(tmpdir(), 'petstore-typescript-'));
  try {
    const project = join(outDir, 'tsconfig.json');
    // Without a root the map names the source from the folder of the output.
    const sourceRoot = `${pathToFileURL(dirname(path)).href}/`;
    const compilerOptions = { ...OPTIONS, outDir, rootDir: dirname(path), sourceRoot };
    await writeFile(project, JSON.stringify({ compilerOptions, files: [path] }));
    const printed = await new Promise<string>((resolve) => {
      execFile(process.execPath, [COMPILER.tsc, '-p', project], (_, stdout, stderr) =>
        resolve(stdout + stderr),
      );
    });
    const [problem] = SYNTAX.exec(printed) ?? [];
    if (problem !== undefined) throw new Error(problem);
    return await readFile(join(outDir, basename(path).replace(/\.ts$/, '.js')), 'utf8').catch(() => {
      throw new Error(`the TypeScript compiler wrote nothing for ${path}: ${printed.trim()}`);
    });
  } finally {
    await rm(outDir, { recursive: true });
  }
}
