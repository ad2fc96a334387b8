import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** A built gateway. */
export interface Build {
  name: string;
  /** Its folder; the working tree is `.`. */
  folder: string;
}

export const WORKING_TREE: Build = { name: 'working tree', folder: '.' };

/**
 * Builds a commit in `.cache/builds`, unless an earlier run did. Throws if git does not know it, or if it cannot be built.
 */
export function buildOf(commit: string): Build {
  const hash = git('rev-parse', '--verify', `${commit}^{commit}`);
  const name = hash.slice(0, 7);
  const folder = resolve('.cache/builds', name);
  const done = join(folder, '.built');
  if (existsSync(done)) return { name, folder };
  console.log(`Building ${name} …`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  execFileSync('sh', ['-c', 'git archive "$1" | tar -x -C "$2"', 'sh', hash, folder]);
  if (lockOf(folder) === lockOf('.')) symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  else run(folder, ['ci', '--no-audit', '--no-fund', '--silent']);
  run(folder, ['run', '-s', 'build']);
  writeFileSync(done, '');
  return { name, folder };
}

/** The commit in short, with a `+` if the gateway of the working tree differs from it. */
export function workingCommit(): string {
  const changes = git('status', '--porcelain', '--', 'src', 'package-lock.json');
  return `${git('rev-parse', '--short', 'HEAD')}${changes === '' ? '' : '+'}`;
}

function run(folder: string, args: string[]): void {
  execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}

function lockOf(folder: string): string {
  return readFileSync(join(folder, 'package-lock.json'), 'utf8');
}

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8' }).trim();
}
