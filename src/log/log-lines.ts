import { pino } from 'pino';

/** Holds the lines of some hundred requests. */
const BUFFER_BYTES = 65_536;
/** What a character takes at most; one of two UTF-16 units takes four. */
const CHARACTER_BYTES = 3;
const EVERY_MS = 100;
/** What is kept for a reader that does not read; then lines are lost, not requests. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/**
 * Writes the log to the standard output, many lines at a time, as handing each over by itself costs a tenth of an answer
 * from memory. They wait as bytes: strings would be copied by each collection. Only a signal that can't be caught loses
 * the lines of the last 100 ms.
 */
export class LogLines {
  private readonly out = pino.destination({
    sync: false,
    contentMode: 'buffer',
    maxLength: MAX_WAITING_BYTES,
    maxWrite: 2 * BUFFER_BYTES,
  });
  private readonly buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  private used = 0;

  constructor() {
    setInterval(() => this.hand(), EVERY_MS).unref();
    process.on('exit', () => {
      this.hand();
      this.out.flushSync();
    });
  }

  write(line: string): void {
    const bytes = line.length * CHARACTER_BYTES;
    if (this.used + bytes > BUFFER_BYTES) this.hand();
    if (bytes > BUFFER_BYTES) this.give(Buffer.from(line));
    else this.used += this.buffer.write(line, this.used);
  }

  private hand(): void {
    if (this.used === 0) return;
    // A copy of its size: what waits to be written may be many of them.
    this.give(Buffer.from(this.buffer.subarray(0, this.used)));
    this.used = 0;
  }

  private give(lines: Buffer): void {
    // Its types know texts only.
    this.out.write(lines as unknown as string);
  }
}
