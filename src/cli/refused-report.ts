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
import { AppError, invalidRequest } from '../errors.js';
import type { PetImport } from '../pets/pet-import.entity.js';
import type { RefusedRow } from '../pets/pet-import-batch.js';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR, W_OK } = constants;
/** How each report begins. */
const HEAD = '{"line":';

/** The file with all refused rows, one JSON object a line. It is made when there is a first one. */
export class RefusedReport {
  private file: number | null = null;

  private constructor(
    private readonly path: string,
    private sizeBytes: number,
  ) {}

  /**
   * Refuses a path at which a report would replace what an import of the file did not write: `known` is what is stored of
   * the file's import, null = nothing. Throws `AppError conflict`, and `invalid_request` when nothing can be written there.
   */
  static check(path: string, known: PetImport | null): void {
    try {
      accessSync(dirname(path), W_OK);
    } catch (error) {
      throw refusal(error);
    }
    if (isThere(path) && !isReportOf(known, path)) {
      throw new AppError(
        'conflict',
        `${path} is there already, and is not the report of an import of this file. Move it away, or name another file with --refused.`,
      );
    }
  }

  /**
   * For a path that `check` has passed. `sizeBytes`: what of an interrupted import's report is about committed rows; the
   * rows after that come again. 0 = a new report.
   */
  static open(path: string, sizeBytes: number): RefusedReport {
    const report = new RefusedReport(path, sizeBytes);
    if (isThere(path)) report.take(O_RDWR | O_NOFOLLOW);
    return report;
  }

  /** Writes the rows to the disk and returns the size of the whole report in bytes. */
  append(rows: readonly RefusedRow[]): number {
    // Nothing was there when the import began: what is there now is not of this import.
    const file = this.file ?? this.take(O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
    const lines = rows.map(({ line, errors, json }) => {
      return `${HEAD}${line},"errors":${JSON.stringify(errors)},"row":${json}}\n`;
    });
    this.sizeBytes += writeAll(file, Buffer.from(lines.join('')), this.sizeBytes);
    fdatasyncSync(file);
    return this.sizeBytes;
  }

  /** Leaves no file of its own when no row was refused. */
  close(): void {
    if (this.file === null) return;
    closeSync(this.file);
    if (this.sizeBytes === 0) rmSync(this.path, { force: true });
  }

  /** Opens the file, and cuts off what a killed run left behind the committed rows. */
  private take(flags: number): number {
    try {
      this.file = openSync(this.path, flags);
    } catch (error) {
      throw refusal(error);
    }
    // Someone may have taken the beginning away; a gap of zeros in its place would help nobody.
    this.sizeBytes = Math.min(this.sizeBytes, fstatSync(this.file).size);
    ftruncateSync(this.file, this.sizeBytes);
    return this.file;
  }
}

/** A link that leads nowhere is there, too. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** An import claims its report's path while nothing is there, so a report at that path is its own. */
function isReportOf(known: PetImport | null, path: string): boolean {
  const found = lstatSync(path);
  if (known?.reportPath !== path || !found.isFile()) return false;
  // Changed since, or made since by somebody else.
  if (known.finishedAtMs !== null && found.size !== known.reportBytes) return false;
  const file = openSync(path, constants.O_RDONLY | O_NOFOLLOW);
  try {
    const head = Buffer.alloc(HEAD.length);
    readSync(file, head, 0, head.length, 0);
    return head.toString('latin1') === HEAD;
  } finally {
    closeSync(file);
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
