import { pino } from 'pino';

/** The lines of some hundred requests. */
const MAX_CHARACTERS = 65_536;
const EVERY_MS = 100;
/** What is kept for a reader that does not read; then lines are lost, not requests. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/**
 * Writes the log to the standard output, many lines at a time: handing each over by itself costs a tenth of an answer
 * from memory. Only a signal that can't be caught loses the lines of the last 100 ms.
 */
export class LogLines {
  private readonly out = pino.destination({
    sync: false,
    maxLength: MAX_WAITING_BYTES,
    maxWrite: 2 * MAX_CHARACTERS,
  });
  private lines = '';

  constructor() {
    setInterval(() => this.hand(), EVERY_MS).unref();
    process.on('exit', () => {
      this.hand();
      this.out.flushSync();
    });
  }

  write(line: string): void {
    this.lines += line;
    if (this.lines.length >= MAX_CHARACTERS) this.hand();
  }

  private hand(): void {
    if (this.lines === '') return;
    this.out.write(this.lines);
    this.lines = '';
  }
}
