import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { petstore } from '../command-line.js';

/** Writes a folder that depends on this repository, and perhaps on the compiler. */
export async function linkedFolder(
  folder: string,
  files: Record<string, string>,
  hasCompiler = false,
): Promise<string> {
  const all = { 'package.json': '{ "name": "shop", "type": "module" }', ...files };
  for (const [name, text] of Object.entries(all)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  await mkdir(join(folder, 'node_modules'));
  await symlink(resolve('.'), join(folder, 'node_modules/petstore-gateway'));
  if (hasCompiler) await symlink(resolve('node_modules/typescript'), join(folder, 'node_modules/typescript'));
  return folder;
}

/** Runs `petstore` in this folder, with an SQLite file in it. */
export function petstoreIn(cwd: string, ...args: string[]) {
  return petstore(args, { cwd, databaseUrl: 'sqlite:var/shop.sqlite', env: { PORT: '0' } });
}

/** A gateway in TypeScript, and a file that it imports. */
export const GATEWAY = `import { createGateway, defineNoun, text } from 'petstore-gateway';
import { TITLE, type Unused } from './title.EXT';

interface Options { max: number }
const options: Options = { max: 20 };
const books = defineNoun({ name: 'book', fields: { [TITLE]: text(options) } });
export default createGateway({ name: 'Shop', nouns: [books], migrations: new URL('./migrations/', import.meta.url) });
`;
