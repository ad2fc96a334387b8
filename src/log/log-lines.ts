import { write, writeSync } from 'node:fs';

/** Holds the lines of some hundred requests. */
const BUFFER_BYTES = 65_536;
/** What a character takes at most; one of two UTF-16 units takes four. */
const CHARACTER_BYTES = 3;
const EVERY_MS = 100;
/** Kept while the reader of stdout stalls or its disk is full. Beyond it lines are lost; requests are not. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
const RETRY_MS = 1_000;
/** A pipe without room says so at once, and has room again when its reader has read. */
const RETRY_PIPE_MS = 20;
/** How long the end of the process waits for the reader. */
const END_MS = 500;
const STDOUT = 1;

/**
 * Writes the log to the standard output, many lines at a time, as handing each over by itself costs a tenth of an answer
 * from memory. They wait as bytes: strings would be copied by each collection. Only a signal that can't be caught loses
 * the lines of the last 100 ms. No failure to write ends the process, nor keeps it from its end: pino's own destination
 * does both when the disk is full (sonic-boom 5: `error` without a listener, and `flushSync` without an end).
 */
export class LogLines {
  private readonly buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  private used = 0;
  /** Oldest first. */
  private waiting: Buffer[] = [];
  private waitingBytes = 0;
  private isWriting = false;
  /** Of the oldest: the system has it, and is likely to write it. */
  private isUnderWay = false;

  constructor(private readonly descriptor = STDOUT) {
    setInterval(() => this.hand(), EVERY_MS).unref();
    process.on('exit', () => this.end());
  }

  write(line: string): void {
    const bytes = line.length * CHARACTER_BYTES;
    if (this.used + bytes > BUFFER_BYTES) this.hand();
    if (bytes <= BUFFER_BYTES) this.used += this.buffer.write(line, this.used);
    else if (this.hasRoom(bytes)) this.give(Buffer.from(line));
  }

  private hand(): void {
    if (this.used === 0) return;
    // A copy of its size: what waits to be written may be many of them.
    if (this.hasRoom(this.used)) this.give(Buffer.from(this.buffer.subarray(0, this.used)));
    this.used = 0;
  }

  private hasRoom(bytes: number): boolean {
    return this.waitingBytes + bytes <= MAX_WAITING_BYTES;
  }

  private give(lines: Buffer): void {
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
        this.take(written);
        this.writeNext();
      } else {
        const retryMs = error.code === 'EAGAIN' ? RETRY_PIPE_MS : RETRY_MS;
        setTimeout(() => this.writeNext(), retryMs).unref();
      }
    });
  }

  /** Takes what was written from the beginning of what waits. */
  private take(written: number): void {
    this.waitingBytes -= written;
    const rest = this.waiting[0]?.subarray(written);
    if (rest?.length) this.waiting[0] = rest;
    else this.waiting.shift();
  }

  /** Writes the waiting lines before the process ends, within `END_MS`. */
  private end(): void {
    this.hand();
    if (this.isUnderWay) this.waiting.shift();
    const deadline = performance.now() + END_MS;
    while (this.waiting[0] && performance.now() < deadline) {
      try {
        this.take(writeSync(this.descriptor, this.waiting[0]));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_PIPE_MS);
      }
    }
  }
}
