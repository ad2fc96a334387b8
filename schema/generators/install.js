import { spawnSync } from 'node:child_process';
import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Installs the packages of this folder, unless they were installed from its present lock file: they are half a gigabyte. */
const HERE = import.meta.dirname;
const LOCK = join(HERE, 'package-lock.json');
const INSTALLED = join(HERE, 'node_modules/installed-from.json');
if ((await readFile(INSTALLED, 'utf8').catch(() => '')) !== (await readFile(LOCK, 'utf8'))) {
  const options = ['--silent', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', ['--prefix', HERE, 'ci', ...options], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  await copyFile(LOCK, INSTALLED);
}
