import { write, writeSync } from 'node:fs';

/** Enough for the lines of several hundred requests. */
const BUFFER_BYTES = 65_536;
/** Most bytes of a UTF-16 unit: a character of two units takes four. */
const CHARACTER_BYTES = 3;
const EVERY_MS = 100;
/** Most bytes that wait while the reader of stdout stalls or the disk is full. Further lines are lost; requests are not. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
const RETRY_MS = 1_000;
/** A full pipe refuses at once, and has room as soon as its reader reads. */
const RETRY_PIPE_MS = 20;
/** How long the end of the process waits for the reader, in milliseconds. */
const END_MS = 500;
const STDOUT = 1;

const MAX_LINE_CHARACTERS = 4_096;
const MAX_TEXT_CHARACTERS = 1_500;

/** Tokens from `api-keys/token.ts`, also if cut short or too long, and with any character percent-encoded, even twice. */
const TOKEN = /(?:p|%(?:25)*70)(?:k|%(?:25)*6b)(?:_|%(?:25)*5f)(?:[0-9a-z]|%(?:25)*[3-7][0-9a-f]){16,}/gi;

/**
 * Writes the log to standard output, many lines at a time: writing each line alone costs a tenth of a cached response.
 * Lines wait as bytes, because garbage collection would copy strings. Only a signal that can't be caught loses lines,
 * those of the last 100 ms. A failed write neither ends the process nor blocks its end. pino's own destination does both
 * when the disk is full (sonic-boom 5: `error` without a listener, and `flushSync` without an end). D-92.
 */
export class LogLines {
  private readonly buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  private used = 0;
  private linesInBuffer = 0;
  /** Oldest first. */
  private waiting: Buffer[] = [];
  private waitingBytes = 0;
  private isWriting = false;
  /** The oldest buffer is in a system call, which will probably write it. */
  private isUnderWay = false;
  /** Lines that were not written, because the reader of the log was too slow. */
  lostLines = 0;

  constructor(private readonly descriptor = STDOUT) {
    setInterval(() => this.queueBuffer(), EVERY_MS).unref();
    process.on('exit', () => this.flushAtExit());
  }

  write(line: string): void {
    const bytes = line.length * CHARACTER_BYTES;
    if (this.used + bytes > BUFFER_BYTES) this.queueBuffer();
    if (bytes <= BUFFER_BYTES) {
      this.used += this.buffer.write(line, this.used);
      this.linesInBuffer += 1;
    } else if (this.hasRoom(bytes)) this.enqueue(Buffer.from(line));
    else this.lostLines += 1;
  }

  private queueBuffer(): void {
    if (this.used === 0) return;
    // A copy of exactly its size: many of these may wait to be written.
    if (this.hasRoom(this.used)) this.enqueue(Buffer.from(this.buffer.subarray(0, this.used)));
    else this.lostLines += this.linesInBuffer;
    this.used = 0;
    this.linesInBuffer = 0;
  }

  private hasRoom(bytes: number): boolean {
    return this.waitingBytes + bytes <= MAX_WAITING_BYTES;
  }

  private enqueue(lines: Buffer): void {
    this.waiting.push(lines);
    this.waitingBytes += lines.length;
    if (!this.isWriting) this.writeNext();
  }

  private writeNext(): void {
    const [lines] = this.waiting;
    this.isWriting = lines !== undefined;
    if (lines === undefined) return;
    this.isUnderWay = true;
    write(this.descriptor, lines, (error, written) => {
      this.isUnderWay = false;
      if (error === null) {
        this.removeWritten(written);
        this.writeNext();
      } else {
        const retryMs = error.code === 'EAGAIN' ? RETRY_PIPE_MS : RETRY_MS;
        setTimeout(() => this.writeNext(), retryMs).unref();
      }
    });
  }

  private removeWritten(written: number): void {
    this.waitingBytes -= written;
    const rest = this.waiting[0]?.subarray(written);
    if (rest?.length) this.waiting[0] = rest;
    else this.waiting.shift();
  }

  /** Writes the waiting lines before the process exits, within `END_MS`. */
  private flushAtExit(): void {
    this.queueBuffer();
    if (this.isUnderWay) this.waiting.shift();
    const deadline = performance.now() + END_MS;
    while (this.waiting[0] && performance.now() < deadline) {
      try {
        this.removeWritten(writeSync(this.descriptor, this.waiting[0]));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_PIPE_MS);
      }
    }
  }
}

/** A JSON line without tokens and with bounded length: a client chooses paths and messages of up to 16 KB. */
export function safeLine(line: string): string {
  const short = line.length > MAX_LINE_CHARACTERS ? shortened(line) : line;
  // Searching for these two takes a tenth of the time of the pattern.
  return short.includes('pk_') || short.includes('%') ? short.replace(TOKEN, 'pk_[redacted]') : short;
}

function shortened(line: string): string {
  return `${JSON.stringify(JSON.parse(line), (_, value) => (typeof value === 'string' ? cut(value) : value))}\n`;
}

function cut(text: string): string {
  const more = text.length - MAX_TEXT_CHARACTERS;
  return more > 0 ? `${text.slice(0, MAX_TEXT_CHARACTERS)}… (${more} characters more)` : text;
}
