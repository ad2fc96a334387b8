import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type Ended, petstoreHere } from '../command-line.js';
import { createTestDatabase, type DatabaseKind, type TestDatabase } from '../databases.js';

/** A folder for backups, and databases to write and restore them. */
export class Backups {
  private files = 0;
  private readonly databases: TestDatabase[] = [];

  private constructor(readonly folder: string) {}

  static async make(): Promise<Backups> {
    return new Backups(await mkdtemp(join(tmpdir(), 'petstore-backup-')));
  }

  async remove(): Promise<void> {
    for (const database of this.databases) await database.remove();
    await rm(this.folder, { recursive: true });
  }

  newFile(): string {
    this.files += 1;
    return join(this.folder, `backup-${this.files}.gz`);
  }

  /** The address of an empty database. */
  async newDatabase(kind: DatabaseKind): Promise<string> {
    const database = await createTestDatabase(kind);
    this.databases.push(database);
    return database.url;
  }

  async migrated(kind: DatabaseKind): Promise<string> {
    const databaseUrl = await this.newDatabase(kind);
    await petstoreHere(['migrate'], { databaseUrl });
    return databaseUrl;
  }
}

export function backup(databaseUrl: string, ...args: string[]): Promise<Ended> {
  return petstoreHere(['backup', ...args, '--json'], { databaseUrl });
}

export function restore(file: string, into: string, ...args: string[]): Promise<Ended> {
  return petstoreHere(['restore', file, '--into', into, ...args, '--json']);
}

export async function linesOf(file: string): Promise<string[]> {
  return gunzipSync(await readFile(file))
    .toString()
    .trimEnd()
    .split('\n');
}

/** Writes a file with these lines and a matching trailer. */
export function writeBackup(file: string, content: readonly object[]): Promise<void> {
  const text = content.map((line) => `${JSON.stringify(line)}\n`).join('');
  const rows: Record<string, number> = {};
  let table = '';
  for (const line of content.slice(1)) {
    if (Array.isArray(line)) rows[table] = (rows[table] ?? 0) + 1;
    else {
      ({ table } = line as { table: string });
      rows[table] = 0;
    }
  }
  const sha256 = createHash('sha256').update(text).digest('hex');
  return writeFile(file, gzipSync(`${text}${JSON.stringify({ end: true, rows, sha256 })}\n`));
}
