import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const BUILT = join(ROOT, 'dist/dashboard');
const STAMP = join(ROOT, 'dist/.dashboard-inputs');

/** Builds `dist/dashboard`, unless what is there was made from the same inputs: `npm start` builds each time. */
const inputs = await digestOfInputs();
const isBuilt =
  existsSync(join(BUILT, 'index.html')) && (await readFile(STAMP, 'utf8').catch(() => '')) === inputs;
if (!isBuilt) {
  // Only now: loading them takes longer than all the rest.
  const { generateTypes } = await import('./generate-types.js');
  const { build } = await import('vite');
  await generateTypes();
  const types = spawnSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', 'dashboard'], {
    cwd: ROOT,
    stdio: 'inherit',
  });
  if (types.status !== 0) process.exit(types.status ?? 1);
  await build({ configFile: join(import.meta.dirname, 'vite.config.js'), logLevel: 'warn' });
  await writeFile(STAMP, inputs);
}

async function digestOfInputs() {
  const names = await readdir(import.meta.dirname, { recursive: true, withFileTypes: true });
  const sources = names
    .filter((entry) => entry.isFile() && entry.name !== 'generated.ts')
    .map((entry) => join(entry.parentPath, entry.name));
  const hash = createHash('sha256');
  for (const file of [
    ...sources.sort(),
    join(ROOT, 'schema/schema.graphql'),
    join(ROOT, 'package-lock.json'),
  ]) {
    hash.update(file).update(await readFile(file));
  }
  return hash.digest('hex');
}
