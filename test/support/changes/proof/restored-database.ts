import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { petstoreHere } from '../../command-line.js';
import type { DatabaseKind } from '../../databases.js';
import { putSqlClient } from '../../servers/sql-client.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** A backup of a database, made and put back as `docs/operations.md` says. */
export class RestoredDatabase {
  private constructor(
    private readonly kind: DatabaseKind,
    private readonly databaseUrl: string,
    private readonly folder: string,
  ) {}

  static async of(kind: DatabaseKind, databaseUrl: string): Promise<RestoredDatabase> {
    const folder = await mkdtemp(join(tmpdir(), 'petstore-restored-'));
    if (kind !== 'sqlite') await putSqlClient(kind, folder);
    return new RestoredDatabase(kind, databaseUrl, folder);
  }

  /** Makes the backup while others write. */
  async backUp(): Promise<void> {
    const { databaseUrl } = this;
    const { stdout } = await petstoreHere(['backup', this.file], { databaseUrl });
    // On a server's database the command prints the line that makes the backup.
    if (this.kind !== 'sqlite') await this.shell(stdout);
  }

  /** Nothing may use the database meanwhile. */
  async putBack(): Promise<void> {
    if (this.kind !== 'sqlite') {
      const { hostname, port, pathname } = new URL(this.databaseUrl);
      const load = `${this.kind} --protocol=TCP --host=${hostname} --port=${port} --user=root`;
      return this.shell(`${load} ${pathname.slice(1)} < '${this.file}'`);
    }
    const path = this.databaseUrl.slice('sqlite:'.length);
    // libsql keeps the files of a closed connection until its statements are collected. The last one to leave a file deletes
    // the -wal with its name, which may then be that of the restored file.
    collectGarbage();
    await turn();
    // The old file goes with its -wal, which a restored file must never meet.
    for (const name of await readdir(dirname(path))) {
      if (name.startsWith(basename(path)))
        await rename(join(dirname(path), name), join(this.folder, `old-${name}`));
    }
    await copyFile(this.file, path);
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true });
  }

  private get file(): string {
    return join(this.folder, 'backup');
  }

  private async shell(line: string): Promise<void> {
    const env = { ...process.env, PATH: `${this.folder}${delimiter}${process.env.PATH}` };
    await promisify(execFile)('sh', ['-c', line], { env });
  }
}
