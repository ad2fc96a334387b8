import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Program } from './daemon.js';
import { isUbuntu, unpackDebianPackages } from './programs/debian-packages.js';
import { firstWorking } from './programs/first-working.js';
import { executableOnPath, printedBy } from './programs/programs.js';

const CLIENTS = {
  mysql: {
    programs: ['mysqldump', 'mysql'],
    // Debian's releases carry MariaDB only.
    packages: isUbuntu()
      ? { suite: 'own', packages: ['default-mysql-client-core'] }
      : { suite: 'sid', packages: ['mysql-client-core'] },
  },
  mariadb: {
    programs: ['mariadb-dump', 'mariadb'],
    // Debian 12's core package has no `mariadb-dump`.
    packages: { suite: 'own', packages: ['mariadb-client'] },
  },
};

/** Puts the programs for dumping and loading a database into the folder, under their usual names. */
export async function putSqlClient(kind: keyof typeof CLIENTS, folder: string): Promise<void> {
  const { programs, packages } = CLIENTS[kind];
  for (const name of programs) {
    const { file, args } = await firstWorking(`${kind} client`, [
      {
        name: `installed ${name}`,
        advice: `install ${name}`,
        find: async () => {
          const program: Program = { file: executableOnPath(name), args: [] };
          const version = await printedBy(program, '--version');
          // Debian's MariaDB also installs a `mysqldump`.
          if (/MariaDB/.test(version) === (kind === 'mariadb')) return program;
          throw new Error(`it is ${version.trim()}`);
        },
      },
      {
        name: 'packages of Debian or Ubuntu',
        advice: 'run on Debian or Ubuntu with a mirror that apt reaches',
        find: async () => {
          const root = await unpackDebianPackages({ name: `${kind}-client-packages`, ...packages });
          return root.program(`usr/bin/${name}`);
        },
      },
    ]);
    const path = join(folder, name);
    await writeFile(path, `#!/bin/sh\nexec ${[file, ...args].map((word) => `'${word}'`).join(' ')} "$@"\n`);
    await chmod(path, 0o755);
  }
}
