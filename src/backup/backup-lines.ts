import { createHash } from 'node:crypto';
import { type BackupHeader, type BackupTrailer, FORMAT, FORMAT_VERSION } from './backup-format.js';
import type { Snapshot } from './snapshot.js';

interface Made {
  createdAtMs: number;
  version: string;
  database: string;
  /** Called after each page with the number of rows of each table so far. */
  onRows(rows: Readonly<Record<string, number>>): void;
}

/** The uncompressed text of a backup, in pieces. */
export async function* backupLines(
  snapshot: Snapshot,
  { createdAtMs, version, database, onRows }: Made,
): AsyncGenerator<string> {
  const hash = createHash('sha256');
  const hashed = (text: string) => {
    hash.update(text);
    return text;
  };
  const header: BackupHeader = {
    format: FORMAT,
    formatVersion: FORMAT_VERSION,
    schema: snapshot.schema,
    createdAt: new Date(createdAtMs).toISOString(),
    version,
    database,
  };
  yield hashed(line(header));
  const rows: Record<string, number> = {};
  for (const table of snapshot.tables) {
    yield hashed(line(table));
    rows[table.table] = 0;
    onRows(rows);
    for await (const page of snapshot.pages(table)) {
      yield hashed(page.map(line).join(''));
      rows[table.table] = (rows[table.table] ?? 0) + page.length;
      onRows(rows);
    }
  }
  const trailer: BackupTrailer = { end: true, rows, sha256: hash.digest('hex') };
  yield line(trailer);
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
