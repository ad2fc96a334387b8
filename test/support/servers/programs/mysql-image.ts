import { execFile } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cachedFolder } from './cached-folder.js';
import { openUnpackedRoot, type UnpackedRoot } from './unpacked-root.js';

const execute = promisify(execFile);

/** docker-compose.yml uses the same image. */
export const MYSQL_IMAGE = 'mysql:8.4';

/**
 * Unpacks the files of the MySQL image into `.cache/<name>`. They run as plain processes, so a test can kill or stop
 * the server by signal, and no container outlives it. Rejects on other systems than Linux and without a Docker daemon.
 */
export async function unpackMysqlImage(name: string): Promise<UnpackedRoot> {
  const folder = await cachedFolder(name, async (draft) => {
    if (process.platform !== 'linux') throw new Error("the image's programs run on Linux only");
    await docker('info');
    const container = (await docker('create', '--quiet', MYSQL_IMAGE)).trim();
    const archive = join(draft, 'image.tar');
    try {
      await docker('export', '--output', archive, container);
    } finally {
      await docker('rm', container);
    }
    await mkdir(join(draft, 'root'));
    await execute('tar', ['-xf', archive, '-C', join(draft, 'root'), 'usr']);
    await rm(archive);
  });
  return openUnpackedRoot(join(folder, 'root'));
}

async function docker(...args: string[]): Promise<string> {
  const running = execute('docker', args, { timeout: args[0] === 'info' ? 10_000 : 10 * 60_000 });
  const { stdout } = await running.catch((error) => {
    throw new Error(`docker ${args.join(' ')}: ${error.stderr?.trim() || error.message}`, { cause: error });
  });
  return stdout;
}
