import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError, invalidField } from '../../ground/kernel/errors.js';
import type { NounField } from '../../nouns.js';
import { readCsv, readHeader } from './csv-reader.js';
import { REFUSED_NDJSON, readNdjson } from './ndjson-rows.js';
import { RefusedCsv } from './refused-csv.js';
import {
  BEGINNING,
  type FileFormat,
  formatOfName,
  type Line,
  type Position,
  type ReadRow,
  readLines,
} from './rows.js';

/** Identifies the file of an interrupted import, and shows whether it has changed. Both are SHA-256 in hex. */
interface FileIdentity {
  pathDigest: string;
  /** Of the whole content. */
  fingerprint: string;
}

export interface RecordFile {
  name: string;
  format: FileFormat;
  /** The header line of a file with refused rows of this file; empty = none. */
  refusedHeader: string;
  /** The first bytes of a file with refused rows of this file. */
  refusedStart: string;
  /** Null = a stream, which can be read only once: its import can't be resumed. */
  identity: FileIdentity | null;
  sizeBytes: number | null;
  rows(from: Position): AsyncGenerator<ReadRow[]>;
  /** Stops reading; a stream may never end. */
  stop(): void;
}

/**
 * Opens a CSV or NDJSON file (`-` = `stdin`) with records of these fields, and reads its first line. The file name decides
 * the format, otherwise the first character. Throws `AppError not_found`, `AppError invalid_request`.
 */
export async function openRecordFile(
  path: string,
  stdin: Readable,
  fields: readonly NounField[],
): Promise<RecordFile> {
  const found = path === '-' ? null : await stat(path).catch((error) => refuseUnreadable(path, error));
  if (found?.isDirectory()) throw invalidField('file', `${path} is a folder`);
  const isRegular = found?.isFile() === true;

  const stream = path === '-' ? stdin : createReadStream(path);
  const lines = readLines(stream, BEGINNING);
  const { head, header } = await readHead(path, lines, fields).catch((error) => {
    // An open stream whose producer still writes would keep the process alive.
    stream.destroy();
    return refuseUnreadable(path, error);
  });
  const read = (source: Lines) => (header ? readCsv(source, header, fields) : readNdjson(source, fields));
  const refusedHeader = header ? `${new RefusedCsv(header, fields).header}\n` : '';
  return {
    name: path === '-' ? 'standard input' : basename(path),
    format: header ? 'csv' : 'ndjson',
    refusedHeader,
    refusedStart: refusedHeader || REFUSED_NDJSON,
    identity: isRegular ? await identify(path) : null,
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

async function readHead(path: string, lines: AsyncGenerator<Line[]>, fields: readonly NounField[]) {
  const head = await firstLines(lines);
  const header = formatOf(path, head) === 'csv' ? readHeader(head.shift(), fields) : null;
  return { head, header };
}

/** The first group of lines that is not all blank, from its first non-blank line. */
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

function formatOf(path: string, [first]: Line[]): FileFormat {
  const isObject = first?.bytes?.toString().trimStart().startsWith('{') === true;
  return formatOfName(path) ?? (isObject ? 'ndjson' : 'csv');
}

/** Reads the whole file: 1 % of the time of its import. */
async function identify(path: string): Promise<FileIdentity> {
  const content = createHash('sha256');
  await pipeline(createReadStream(path), content);
  return {
    pathDigest: createHash('sha256').update(resolve(path)).digest('hex'),
    fingerprint: content.digest('hex'),
  };
}

function refuseUnreadable(path: string, error: NodeJS.ErrnoException): never {
  if (error instanceof AppError) throw error;
  if (error.code === 'ENOENT') throw new AppError('not_found', `There is no file ${path}.`);
  throw invalidField('file', `${path} can't be read: ${error.message}`);
}
