import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Program } from './daemon.js';
import { unpackDebianPackages } from './programs/debian-packages.js';
import { firstWorking } from './programs/first-working.js';
import { executableOnPath } from './programs/programs.js';

/** Runs Prometheus' `promtool`, an installed or a downloaded one. Returns its output; rejects with it when it fails. */
export async function promtool(...args: string[]): Promise<string> {
  const program = await findPromtool();
  const running = promisify(execFile)(program.file, [...program.args, ...args], { timeout: 60_000 });
  const { stdout, stderr } = await running.catch((error) => {
    throw new Error(`promtool ${args.join(' ')}:\n${error.stdout}${error.stderr}`);
  });
  return stdout + stderr;
}

function findPromtool(): Promise<Program> {
  return firstWorking('Prometheus (promtool)', [
    {
      name: 'installed promtool',
      advice: 'install Prometheus 2.42 or later',
      find: async () => ({ file: executableOnPath('promtool'), args: [] }),
    },
    {
      name: 'packages of Debian or Ubuntu',
      advice: 'run on Debian or Ubuntu with a mirror that apt reaches',
      find: async () => {
        const root = await unpackDebianPackages({
          name: 'promtool-packages',
          suite: 'own',
          packages: ['prometheus'],
          unneeded: ['usr/bin/prometheus', 'usr/share'],
        });
        return root.program('usr/bin/promtool');
      },
    },
  ]);
}
