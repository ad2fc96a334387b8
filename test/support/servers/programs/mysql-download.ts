import { execFile } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { createDB } from 'mysql-memory-server';

// The folder of mysql-memory-server's downloads; a program appears in it only when complete.
const DOWNLOADS = join(tmpdir(), 'mysqlmsn/binaries');
const SERIES = '8.4';
const OPTIONS: Parameters<typeof createDB>[0] = {
  version: `${SERIES}.x`,
  downloadRetries: 0,
  xEnabled: 'OFF',
};

/**
 * Returns the path of the `mysqld` that mysql-memory-server downloads once. Rejects at once when the name of the
 * download site does not resolve, and after ten seconds without a byte.
 */
export async function downloadMysqld(): Promise<string> {
  const found = findDownloadedMysqld();
  if (found !== undefined) return found;
  // A separate process, because the package has no timeout, prints its errors and installs signal handlers.
  const running = promisify(execFile)(process.execPath, ['--eval', DOWNLOAD], {
    cwd: import.meta.dirname,
    timeout: 10 * 60_000,
  });
  const stalled = setTimeout(() => hasReceivedAnything() || running.child.kill(), 10_000);
  const reason = await running.then(
    () => 'it reports success but left no program',
    (error) => error.stderr?.trim().split('\n').at(-1) || 'no answer from the download site',
  );
  clearTimeout(stalled);
  // The program may be complete although the server it started, which is not used, did not start.
  const downloaded = findDownloadedMysqld();
  if (downloaded === undefined) throw new Error(reason);
  return downloaded;
}

export function findDownloadedMysqld(): string | undefined {
  const versions = entriesOf(DOWNLOADS).filter((entry) => entry.startsWith(`${SERIES}.`));
  const programs = versions.map((version) => join(DOWNLOADS, version, 'mysql/bin/mysqld'));
  return programs.find((program) => existsSync(program));
}

// The package's only public function downloads and starts a server; it cannot only download.
const DOWNLOAD = `
require('mysql-memory-server').createDB(${JSON.stringify(OPTIONS)}).then(
  (database) => database.stop(),
  (reason) => {
    console.error(String(reason));
    process.exitCode = 1;
  },
);`;

function hasReceivedAnything(): boolean {
  const files = entriesOf(DOWNLOADS).map((entry) =>
    statSync(join(DOWNLOADS, entry), { throwIfNoEntry: false }),
  );
  return findDownloadedMysqld() !== undefined || files.some((file) => file?.isFile() && file.size > 0);
}

function entriesOf(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
