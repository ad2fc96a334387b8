import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { ConfigError } from '../../ground/config/config.js';
import { AppError } from '../../ground/kernel/errors.js';
import { jsonIn } from '../../ground/kernel/json.js';
import { runsTypeScript } from '../../ground/own-files/typescript.js';
import type { Output } from '../output.js';
import { MANIFEST, newFiles } from './new-files.js';

export function newCommand(program: Command, output: Output): void {
  program
    .command('new <folder>')
    .description('Write a gateway of your own, with one resource: five files, which are yours from then on.')
    .addHelpText('after', '\nExamples:\n  $ petstore new bookshop\n  $ petstore new .')
    .action(async (folder: string) => {
      const root = resolve(folder);
      const files = newFiles(basename(root), await manifestIn(root), runsTypeScript());
      const taken = files.find(({ path }) => path !== MANIFEST && existsSync(join(root, path)));
      if (taken) {
        throw new AppError('conflict', `${join(folder, taken.path)} exists already. Nothing was written.`);
      }
      for (const { path, text } of files) {
        await write(join(root, path), text).catch(({ message }: Error) => {
          throw new AppError('invalid_request', `${join(folder, path)} can't be written: ${message}.`);
        });
      }
      const paths = files.map(({ path }) => path);
      const enter =
        root === process.cwd() ? '' : `cd ${/^[\w./-]+$/.test(folder) ? folder : `"${folder}"`} && `;
      const text = `Wrote ${paths.join(', ')}.\nNext: ${enter}npm install && npm start`;
      output.result({ folder: root, files: paths }, text);
    });
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** The manifest that `npm install` of this package has written; {} = none. */
async function manifestIn(root: string): Promise<object> {
  const path = join(root, MANIFEST);
  if (!existsSync(path)) return {};
  const manifest = jsonIn(await readFile(path, 'utf8'));
  if (typeof manifest === 'object' && manifest !== null && !Array.isArray(manifest)) return manifest;
  throw new ConfigError(`${path} is no JSON object.`);
}
