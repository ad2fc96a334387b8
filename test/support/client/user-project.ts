import { execFile } from 'node:child_process';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

/** Makes a project of a user in an empty folder, with the client and the types of Node as `npm install` puts them there. */
export async function makeUserProject(folder: string): Promise<void> {
  const installed = join(folder, 'node_modules/petstore-gateway');
  await mkdir(join(folder, 'node_modules/@types'), { recursive: true });
  const options = ['--outDir', join(installed, 'dist/client'), '--incremental', 'false'];
  await promisify(execFile)(resolve('node_modules/.bin/tsc'), ['-p', 'client', ...options]);
  await cp('package.json', join(installed, 'package.json'));
  for (const name of ['@types/node', 'undici-types'])
    await symlink(resolve('node_modules', name), join(folder, 'node_modules', name));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
}
