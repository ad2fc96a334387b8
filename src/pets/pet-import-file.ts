import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { AppError, invalidRequest } from '../errors.js';
import { readCsv, readHeader } from './pet-import-csv.js';
import { BEGINNING, type Line, type Position, readLines } from './pet-import-lines.js';
import { readNdjson } from './pet-import-ndjson.js';
import type { ReadRow } from './pet-import-row.js';

const FINGERPRINT_BYTES = 1_024;

/** By what an interrupted import finds its file again, and notices that it has changed. */
interface FileIdentity {
  pathDigest: string;
  fingerprint: string;
}

export interface PetFile {
  name: string;
  /** null = a stream, which can be read once only: its import can't be resumed. */
  identity: FileIdentity | null;
  sizeBytes: number | null;
  rows(from: Position): AsyncGenerator<ReadRow[]>;
  /** Ends the reading of a stream that may never say more. */
  stop(): void;
}

/**
 * Opens a CSV or NDJSON file (`-` = standard input) and reads as far as its first line. What it is tells the name, otherwise
 * the first character. Throws `AppError not_found`, `AppError invalid_request`.
 */
export async function openPetFile(path: string): Promise<PetFile> {
  const found = path === '-' ? null : await stat(path).catch((error) => refuseUnreadable(path, error));
  if (found?.isDirectory()) throw invalidRequest([{ field: 'file', message: `${path} is a folder` }]);
  const isRegular = found?.isFile() === true;

  const stream = path === '-' ? process.stdin : createReadStream(path);
  const lines = readLines(stream, BEGINNING);
  const { head, header } = await readHead(path, lines).catch((error) => {
    // A producer that is still writing would keep the process alive.
    stream.destroy();
    return refuseUnreadable(path, error);
  });
  const read = (source: Lines) => (header ? readCsv(source, header) : readNdjson(source));
  return {
    name: path === '-' ? 'standard input' : basename(path),
    identity: isRegular ? await identify(resolve(path), found.size) : null,
    sizeBytes: isRegular ? found.size : null,
    rows: (from) => {
      if (from.line === 0) return read(chain(head, lines));
      stream.destroy();
      return read(readLines(createReadStream(path, { start: from.positionBytes }), from));
    },
    stop: () => stream.destroy(),
  };
}

type Lines = AsyncIterable<Line[]>;

async function readHead(path: string, lines: AsyncGenerator<Line[]>) {
  const head = await firstLines(lines);
  const header = formatOf(path, head) === 'csv' ? readHeader(head.shift()) : null;
  return { head, header };
}

/** The first lines that arrive together and are not all blank, from the first that is not. */
async function firstLines(lines: AsyncGenerator<Line[]>): Promise<Line[]> {
  for (;;) {
    const { value, done } = await lines.next();
    if (done) return [];
    const start = value.findIndex(({ bytes }) => bytes === null || bytes.toString().trim() !== '');
    if (start !== -1) return value.slice(start);
  }
}

async function* chain(head: Line[], lines: Lines): AsyncGenerator<Line[]> {
  yield head;
  yield* lines;
}

function formatOf(path: string, [first]: Line[]): 'csv' | 'ndjson' {
  if (/\.csv$/i.test(path)) return 'csv';
  if (/\.(ndjson|jsonl)$/i.test(path)) return 'ndjson';
  return first?.bytes?.toString().trimStart().startsWith('{') ? 'ndjson' : 'csv';
}

async function identify(path: string, sizeBytes: number): Promise<FileIdentity> {
  const file = await open(path);
  try {
    const first = await readAt(file, 0);
    const last = await readAt(file, Math.max(0, sizeBytes - FINGERPRINT_BYTES));
    const content = createHash('sha256').update(`${sizeBytes}:`).update(first).update(last);
    return {
      pathDigest: createHash('sha256').update(path).digest('hex'),
      fingerprint: content.digest('hex'),
    };
  } finally {
    await file.close();
  }
}

async function readAt(file: FileHandle, position: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(
    Buffer.alloc(FINGERPRINT_BYTES),
    0,
    FINGERPRINT_BYTES,
    position,
  );
  return buffer.subarray(0, bytesRead);
}

function refuseUnreadable(path: string, error: NodeJS.ErrnoException): never {
  if (error instanceof AppError) throw error;
  if (error.code === 'ENOENT') throw new AppError('not_found', `There is no file ${path}.`);
  throw invalidRequest([{ field: 'file', message: `${path} can't be read: ${error.message}` }]);
}
