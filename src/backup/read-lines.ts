import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { createGunzip } from 'node:zlib';
import { AppError } from '../kernel/errors.js';

interface LineOptions {
  signal: AbortSignal;
  /** Called with the number of bytes of the file that were read so far. */
  onBytes(bytes: number): void;
}

const PIECE_BYTES = 64 * 1024;
/** More than any row has: a file that is no backup must not fill the memory. */
const MOST_IN_LINE = 8 * 1024 * 1024;

/** The uncompressed lines of a file, some at a time. Throws `AppError invalid_request` when the file can't be read. */
export async function* readLines(path: string, { signal, onBytes }: LineOptions): AsyncGenerator<string[]> {
  const decoder = new StringDecoder('utf8');
  const pieces = pipeline(
    createReadStream(path, { signal }),
    createGunzip({ chunkSize: PIECE_BYTES }),
    // The error arrives at the loop.
    () => {},
  );
  let rest = '';
  try {
    for await (const piece of pieces) {
      const [first = '', ...others] = decoder.write(piece as Buffer).split('\n');
      const end = others.pop();
      const lines = end === undefined ? [] : [rest + first, ...others];
      rest = end ?? rest + first;
      if (rest.length > MOST_IN_LINE) throw problem(path, 'is not a backup of the Petstore Gateway');
      if (lines.length > 0) yield lines;
      onBytes(pieces.bytesWritten);
    }
  } catch (error) {
    throw signal.aborted ? error : readProblem(path, error as NodeJS.ErrnoException);
  }
  if (rest !== '') throw problem(path, 'is truncated: its last line is not complete');
}

function readProblem(path: string, error: NodeJS.ErrnoException): unknown {
  const { code = '', message } = error;
  if (code === 'Z_BUF_ERROR') return problem(path, 'is truncated: it ends too early');
  if (code.startsWith('Z_')) {
    const isOther = message === 'incorrect header check';
    return problem(path, isOther ? 'is not a backup of the Petstore Gateway' : 'is damaged');
  }
  if (error.syscall === undefined) return error;
  const [reason] = message.split(', ');
  return new AppError('invalid_request', `${path} can't be read: ${reason}`);
}

function problem(path: string, what: string): AppError {
  return new AppError('invalid_request', `${path} ${what}. Use another backup.`);
}
