import {
  accessSync,
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { AppError, invalidField } from '../../ground/kernel/errors.js';
import type { FileImport } from '../../tenants/files/import.entity.js';
import type { RecordFile } from '../../tenants/files/record-file.js';
import type { RefusedRow } from '../../tenants/files/row-batch.js';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR, W_OK } = constants;

/** The file with all refused rows, in the format of the imported file. The first refused row creates it: people correct such a file, so another one there is refused. */
export class RefusedFile {
  private file: number | null = null;

  /**
   * The path is one that `check` accepted. `sizeBytes` = the part of the file about committed rows of an interrupted import;
   * later rows are imported again. 0 = a new file.
   */
  constructor(
    private readonly path: string,
    private readonly source: RecordFile,
    private sizeBytes: number,
  ) {
    if (isThere(path)) this.openTruncated(O_RDWR | O_NOFOLLOW);
  }

  /**
   * Throws `AppError conflict` when refused rows would overwrite a file that no import of `source` wrote, and
   * `invalid_request` when the path is not writable. `known` is the stored state of the import of `source`, null = none.
   */
  static check(path: string, source: RecordFile, known: FileImport | null): void {
    try {
      accessSync(dirname(path), W_OK);
    } catch (error) {
      throw refusal(error);
    }
    if (isThere(path) && !isUnchangedFileOf(known, path, source.refusedStart)) {
      throw new AppError(
        'conflict',
        `${path} already exists, and no import of this file wrote it, or it was changed since. Move it away, or choose another file with --refused.`,
      );
    }
  }

  /** Writes the rows to disk and returns the size of the whole file in bytes. */
  append(rows: readonly RefusedRow[]): number {
    // The file did not exist at the start of the import, so a file that exists now is not ours.
    const file = this.file ?? this.openTruncated(O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
    const lines = rows.map(({ text }) => `${text}\n`);
    if (this.sizeBytes === 0) lines.unshift(this.source.refusedHeader);
    this.sizeBytes += writeAll(file, Buffer.from(lines.join('')), this.sizeBytes);
    fdatasyncSync(file);
    return this.sizeBytes;
  }

  /** Closes the file, and deletes it when no row was refused. */
  close(): void {
    if (this.file === null) return;
    closeSync(this.file);
    if (this.sizeBytes === 0) rmSync(this.path, { force: true });
  }

  /** Opens the file, and truncates rows that a killed run wrote but did not commit. */
  private openTruncated(flags: number): number {
    try {
      this.file = openSync(this.path, flags);
    } catch (error) {
      throw refusal(error);
    }
    // The file may be shorter than recorded; writing behind its end would leave a gap of zeros.
    this.sizeBytes = Math.min(this.sizeBytes, fstatSync(this.file).size);
    ftruncateSync(this.file, this.sizeBytes);
    return this.file;
  }
}

/** Whether the path exists; a dangling link counts. */
const isThere = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/** Whether an import wrote the file, and nobody changed it since: an import claims its path only while no file is there. */
function isUnchangedFileOf(known: FileImport | null, path: string, start: string): boolean {
  const found = lstatSync(path);
  if (known?.reportPath !== path || !found.isFile()) return false;
  const { finishedAtMs, reportBytes } = known;
  // A person may have corrected the refused rows without changing their size.
  if (finishedAtMs !== null && (found.size !== reportBytes || Math.floor(found.mtimeMs) > finishedAtMs))
    return false;
  const file = openSync(path, constants.O_RDONLY | O_NOFOLLOW);
  try {
    const head = Buffer.alloc(Buffer.byteLength(start));
    readSync(file, head, 0, head.length, 0);
    return head.toString() === start;
  } finally {
    closeSync(file);
  }
}

function refusal(error: unknown): AppError {
  return invalidField('--refused', `can't be written: ${(error as Error).message}`);
}

/** At its position, and not at the end: a process that has lost the import may still write the same rows there. */
function writeAll(file: number, bytes: Buffer, position: number): number {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(file, bytes, done, bytes.length - done, position + done);
  }
  return bytes.length;
}
