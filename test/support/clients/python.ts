import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Program } from '../servers/daemon.js';
import { unpackDebianPackages } from '../servers/programs/debian-packages.js';
import { firstWorking } from '../servers/programs/first-working.js';
import { executableOnPath } from '../servers/programs/programs.js';

interface Python extends Program {
  env: Record<string, string>;
}

let found: Promise<Python> | undefined;

/** A Python that has the package `requests`, the machine's own or one of Debian. */
export function pythonWithRequests(): Promise<Python> {
  found ??= firstWorking('Python with requests', [
    {
      name: 'installed python3',
      advice: 'install python3-requests',
      find: async () => checked({ file: executableOnPath('python3'), args: [], env: {} }),
    },
    {
      name: 'packages of Debian or Ubuntu',
      advice: 'run on Debian or Ubuntu with a mirror that apt reaches',
      find: async () => {
        const root = await unpackDebianPackages({
          name: 'python-packages',
          suite: 'own',
          packages: ['python3', 'python3-requests'],
          unneeded: ['usr/share/doc', 'usr/share/locale', 'usr/share/perl'],
        });
        const env = {
          PYTHONHOME: join(root.path, 'usr'),
          PYTHONPATH: join(root.path, 'usr/lib/python3/dist-packages'),
        };
        return checked({ ...root.program('usr/bin/python3'), env });
      },
    },
  ]);
  return found;
}

/** Rejects if it cannot import the package. */
async function checked(python: Python): Promise<Python> {
  const { file, args, env } = python;
  await promisify(execFile)(file, [...args, '-c', 'import requests'], { env: { ...process.env, ...env } });
  return python;
}
