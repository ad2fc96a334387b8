import { createHash } from 'node:crypto';
import { AppError } from '../kernel/errors.js';
import {
  type BackupContent,
  type BackupHeader,
  type BackupRow,
  type BackupTable,
  type BackupTrailer,
  FORMAT,
  FORMAT_VERSION,
} from './backup-format.js';
import { readLines } from './read-lines.js';

export interface ReadOptions {
  /** Ends the reading with an `AbortError`. */
  signal: AbortSignal;
  /** Called with the number of rows and of the file's bytes that were read so far. */
  onProgress(rows: number, bytes: number): void;
}

/** Some rows of a table, in the order of the file. */
export interface BackupRows {
  table: BackupTable;
  rows: BackupRow[];
}

/** Reads the whole file. Throws `AppError invalid_request` unless it is a complete, undamaged backup. */
export async function verifyBackup(path: string, options: ReadOptions): Promise<BackupContent> {
  const rows = readBackup(path, options);
  for (;;) {
    const step = await rows.next();
    if (step.done) return step.value;
  }
}

/** As `verifyBackup`, with the rows. A damage can be found after some of them, at the latest before the end. */
export async function* readBackup(
  path: string,
  { signal, onProgress }: ReadOptions,
): AsyncGenerator<BackupRows, BackupContent> {
  const parts = new Parts(path);
  const onBytes = (bytes: number) => onProgress(parts.rows, bytes);
  for await (const lines of readLines(path, { signal, onBytes })) yield* parts.take(lines);
  return parts.end();
}

/** The checks, line by line. The last line is checked at the end, because the checksum does not include it. */
class Parts {
  private readonly hash = createHash('sha256');
  private readonly tables: BackupTable[] = [];
  private readonly counts: Record<string, number> = {};
  /** The number of all rows so far. */
  rows = 0;
  private header: BackupHeader | undefined;
  private last: string | undefined;

  constructor(private readonly path: string) {}

  *take(lines: readonly string[]): Generator<BackupRows> {
    const complete = this.last === undefined ? [...lines] : [this.last, ...lines];
    this.last = complete.pop();
    if (complete.length > 0) this.hash.update(`${complete.join('\n')}\n`);
    let rows: BackupRow[] = [];
    for (const line of complete) {
      const value = this.parse(line);
      if (Array.isArray(value) && this.isRow(value)) {
        rows.push(value);
        continue;
      }
      yield* this.batch(rows);
      rows = [];
      this.begin(value);
    }
    yield* this.batch(rows);
  }

  end(): BackupContent {
    const { header, tables, counts } = this;
    if (this.last === undefined) throw this.damaged('is empty');
    const { end, rows, sha256 } = Object(this.parse(this.last)) as Partial<BackupTrailer>;
    if (header === undefined) throw this.damaged('is not a backup of the Petstore Gateway');
    if (end !== true) throw this.damaged('is truncated: its last line is missing');
    if (sha256 !== this.hash.digest('hex')) throw this.damaged('is damaged: its checksum is wrong');
    const told: Record<string, number> = Object(rows);
    if ([...Object.keys(counts), ...Object.keys(told)].some((name) => counts[name] !== told[name])) {
      throw this.damaged('is damaged: its numbers of rows are wrong');
    }
    return { header, tables, rows: counts };
  }

  private *batch(rows: BackupRow[]): Generator<BackupRows> {
    const table = this.tables.at(-1);
    if (rows.length === 0 || !table) return;
    this.counts[table.table] = (this.counts[table.table] ?? 0) + rows.length;
    this.rows += rows.length;
    yield { table, rows };
  }

  /** A line that is not a row: the header, or the start of a table. */
  private begin(value: unknown): void {
    if (this.header === undefined) {
      this.header = this.headerOf(value);
      return;
    }
    const { table, columns } = (value ?? {}) as Partial<BackupTable>;
    const names = Array.isArray(columns) ? [table, ...columns] : [];
    const isNew = typeof table === 'string' && this.counts[table] === undefined;
    if (!isNew || names.length < 2 || !names.every(isName)) {
      throw this.damaged('is damaged: it has a line that belongs to no table');
    }
    this.tables.push({ table, columns: names.slice(1) as string[] });
    this.counts[table] = 0;
  }

  private headerOf(value: unknown): BackupHeader {
    const header = (value ?? {}) as BackupHeader;
    if (header.format !== FORMAT || typeof header.schema !== 'string')
      throw this.damaged('is not a backup of the Petstore Gateway');
    if (header.formatVersion !== FORMAT_VERSION) {
      throw new AppError(
        'invalid_request',
        `${this.path} has format ${header.formatVersion}, but this release reads format ${FORMAT_VERSION}. Use the release ${header.version} that wrote it.`,
      );
    }
    return header;
  }

  private isRow(values: unknown[]): values is BackupRow {
    const { columns } = this.tables.at(-1) ?? {};
    return values.length === columns?.length && values.every(isValue);
  }

  private parse(line: string): unknown {
    try {
      return JSON.parse(line);
    } catch {
      const isFirst = this.header === undefined;
      throw this.damaged(
        isFirst ? 'is not a backup of the Petstore Gateway' : 'is damaged: a line is no JSON',
      );
    }
  }

  private damaged(what: string): AppError {
    return new AppError('invalid_request', `${this.path} ${what}. Use another backup.`);
  }
}

const isValue = (value: unknown) => typeof value === 'string' || value === null;
/** Names become part of statements. */
const isName = (name: unknown) => typeof name === 'string' && /^[a-z][a-z0-9_]{0,63}$/.test(name);
