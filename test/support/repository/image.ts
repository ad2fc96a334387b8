import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { packageRoot } from '../../../src/ground/kernel/package.js';

const execute = promisify(execFile);

/** The file tree that the Dockerfile adds to its base image, made without a container engine. */
export interface Image {
  /** The folder that is `/app` in the image. Nothing in it can be written, except `var`. */
  app: string;
  /** Arguments of Node: the last `CMD`. */
  command: string[];
  remove(): Promise<void>;
}

interface Instruction {
  name: string;
  text: string;
}

/** Follows the Dockerfile's steps in an empty folder for each stage. Rejects for a step that it does not know. */
export async function buildImage(): Promise<Image> {
  const home = await mkdtemp(join(tmpdir(), 'petstore-image-'));
  const stages = new Map<string, string>();
  let [stage, workdir] = ['', ''];
  let command: string[] = [];
  const inStage = (path: string) => join(home, stage, path.startsWith('/') ? path : join(workdir, path));
  for (const { name, text } of instructions()) {
    const words = text.split(/\s+/);
    if (name === 'FROM') {
      stage = String(stages.size);
      stages.set(words[2] ?? stage, stage);
      await mkdir(join(home, stage));
    } else if (name === 'WORKDIR') {
      workdir = text;
      await mkdir(inStage('.'), { recursive: true });
    } else if (name === 'COPY') {
      const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
      const paths = words.filter((word) => !word.startsWith('--'));
      const target = inStage(String(paths.pop()));
      const sourceOf = (path: string) =>
        from ? join(home, String(stages.get(from)), path) : join(packageRoot(), inContext(path));
      for (const path of paths) await copy(sourceOf(path), target);
    } else if (name === 'RUN') {
      const step = text === 'npm ci' && (await isInstalled()) ? COPY_OF_PACKAGES : text;
      if (text.startsWith('npm run build')) await copyBuild(inStage('dist'));
      await execute('/bin/sh', ['-c', step], { cwd: inStage('.'), maxBuffer: 16 * 1024 * 1024 });
    } else if (name === 'CMD') {
      command = JSON.parse(text);
    } else if (!['ENV', 'EXPOSE', 'HEALTHCHECK'].includes(name)) {
      throw new Error(`The Dockerfile has an unknown step: ${name} ${text}`);
    }
  }
  const app = inStage('.');
  await makeReadOnly(app, 'var');
  return { app, command, remove: () => rm(home, { recursive: true, force: true }) };
}

/** Hard links, apart from the file that npm writes again in place. Only a copy of these files becomes read-only. */
const LOCK = 'node_modules/.package-lock.json';
const PACKAGES = join(packageRoot(), 'node_modules');
const COPY_OF_PACKAGES = `cp -al '${PACKAGES}' . && cp --remove-destination '${PACKAGES}/.package-lock.json' ${LOCK} || npm ci`;

/** Whether `node_modules` here is what `npm ci` would install, which takes half of a minute. */
async function isInstalled(): Promise<boolean> {
  const packagesOf = async (file: string) =>
    JSON.parse(await readFile(join(packageRoot(), file), 'utf8')).packages;
  const { '': _, ...wanted } = await packagesOf('package-lock.json');
  const installed = await packagesOf(LOCK).catch(() => ({}));
  return Object.keys({ ...wanted, ...installed }).every((path) =>
    installed[path] ? isDeepStrictEqual(installed[path], wanted[path]) : wanted[path].optional,
  );
}

/** The build here, which the stage keeps only if its sources are the same: `npm run build` compares them. */
async function copyBuild(target: string): Promise<void> {
  const parts = (await readdir(join(packageRoot(), 'dist'))).filter((name) =>
    /^(src|schema|client|public|ormconfig.*)$/.test(name),
  );
  for (const part of parts) await copy(join(packageRoot(), 'dist', part), join(target, part));
}

/** Bytes of all files. */
export async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { recursive: true }))
    bytes += (await lstat(join(folder, entry))).size;
  return bytes;
}

function instructions(): Instruction[] {
  const lines = readFileSync(join(packageRoot(), 'Dockerfile'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .join('\n')
    .replaceAll('\\\n', ' ')
    .split('\n');
  return lines.map((line) => {
    const [, name = '', text = ''] = /^(\S+) +(.*)$/.exec(line) ?? [];
    return { name, text: text.trim() };
  });
}

const ignored = () => readFileSync(join(packageRoot(), '.dockerignore'), 'utf8').split('\n');

/** Throws for a file that `.dockerignore` keeps out of the build. */
function inContext(path: string): string {
  if (!ignored().includes(`!${path}`)) throw new Error(`.dockerignore excludes ${path}`);
  return path;
}

/** Copies a file, or what is in a folder. The program does it four times as fast as Node. */
async function copy(source: string, target: string): Promise<void> {
  const isFolder = (await lstat(source)).isDirectory();
  const paths = isFolder ? (await readdir(source)).map((name) => join(source, name)) : [source];
  const wanted = paths.filter((path) => !ignored().includes(relative(packageRoot(), path)));
  await mkdir(isFolder ? target : dirname(target), { recursive: true });
  if (wanted.length > 0) await execute('cp', ['-RP', ...wanted, target]);
}

async function makeReadOnly(folder: string, except: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const isExcepted = relative(folder, path).split('/')[0] === except;
    if (!entry.isSymbolicLink()) await chmod(path, isExcepted ? 0o777 : entry.isDirectory() ? 0o555 : 0o444);
  }
  await chmod(folder, 0o555);
}
