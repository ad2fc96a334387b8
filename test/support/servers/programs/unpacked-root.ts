import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Program } from '../daemon.js';

/** A file tree of another Linux distribution whose programs run here, with its own loader and libraries. */
export interface UnpackedRoot {
  path: string;
  /** `binary` is relative to the root: `usr/sbin/mysqld`. */
  program(binary: string): Program;
}

/** Throws when the tree has no dynamic loader, so no C library. */
export function openUnpackedRoot(path: string): UnpackedRoot {
  // Distributions differ in whether /lib is a link to /usr/lib, and in the folder of the libraries below it.
  const tops = ['usr/lib', 'usr/lib64', 'lib', 'lib64'].flatMap((folder) => folderAndTriplets(path, folder));
  // Oracle's MySQL has private libraries in a folder relative to the program, which the loader does not search.
  const libraries = tops.flatMap((folder) => [folder, join(folder, 'mysql/private')]);
  const loaders = tops.flatMap((folder) => list(folder).map((entry) => join(folder, entry)));
  const loader = loaders.find((file) => /\/ld-linux[^/]*\.so\.\d+$/.test(file));
  if (loader === undefined) throw new Error(`No dynamic loader below ${path}`);
  return {
    path,
    program: (binary) => ({
      file: loader,
      args: ['--library-path', libraries.join(':'), join(path, binary)],
    }),
  };
}

function folderAndTriplets(root: string, folder: string): string[] {
  const entries = list(join(root, folder));
  const triplets = entries.filter((entry) => /-linux-gnu[a-z0-9]*$/.test(entry));
  return entries.length === 0
    ? []
    : [...triplets.map((entry) => join(root, folder, entry)), join(root, folder)];
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
