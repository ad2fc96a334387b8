import {
  accessSync,
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { type AppError, invalidRequest } from '../errors.js';
import type { RefusedRow } from '../pets/pet-import-batch.js';

/** The file with all refused rows, one JSON object a line. It is made when there is a first one. */
export class RefusedReport {
  private file: number | null = null;

  private constructor(
    private readonly path: string,
    private sizeBytes: number,
  ) {}

  /**
   * `sizeBytes`: what of an interrupted import's report is about committed rows; the rows after that come again. 0 = a new
   * report, which replaces one of that name. Throws `AppError invalid_request` when nothing can be written there.
   */
  static open(path: string, sizeBytes: number): RefusedReport {
    try {
      accessSync(dirname(path), constants.W_OK);
    } catch (error) {
      throw refusal(error);
    }
    return new RefusedReport(path, sizeBytes);
  }

  /** Writes the rows to the disk and returns the size of the whole report in bytes. */
  append(rows: readonly RefusedRow[]): number {
    const file = this.opened();
    const lines = rows.map(({ line, errors, json }) => {
      return `{"line":${line},"errors":${JSON.stringify(errors)},"row":${json}}\n`;
    });
    this.sizeBytes += writeAll(file, Buffer.from(lines.join('')), this.sizeBytes);
    fdatasyncSync(file);
    return this.sizeBytes;
  }

  /** Leaves the file as it must be: without leftovers of a killed run, and not there at all when no row was refused. */
  close(): void {
    if (this.sizeBytes === 0) rmSync(this.path, { force: true });
    else this.opened();
    if (this.file !== null) closeSync(this.file);
  }

  private opened(): number {
    if (this.file !== null) return this.file;
    try {
      this.file = openSync(this.path, constants.O_RDWR | constants.O_CREAT);
    } catch (error) {
      throw refusal(error);
    }
    // Someone may have taken the beginning away; a gap of zeros in its place would help nobody.
    this.sizeBytes = Math.min(this.sizeBytes, fstatSync(this.file).size);
    ftruncateSync(this.file, this.sizeBytes);
    return this.file;
  }
}

function refusal(error: unknown): AppError {
  const message = `can't be written: ${(error as Error).message}`;
  return invalidRequest([{ field: '--refused', message }]);
}

function writeAll(file: number, bytes: Buffer, position: number): number {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(file, bytes, done, bytes.length - done, position + done);
  }
  return bytes.length;
}
