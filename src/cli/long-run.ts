import { grouped, printable } from './output.js';

const REDRAW_MS = 100;
const BAR_WIDTH = 24;

/** A command that takes long: its time, its stop by a signal, and its progress as a line on a terminal. */
export class LongRun {
  private readonly startedAtMs = performance.now();
  private readonly stopping = new AbortController();
  /** Aborts at the first SIGINT (Ctrl-C) or SIGTERM; a second one ends the process at once. */
  readonly signal: AbortSignal = this.stopping.signal;
  private drawnAtMs = Number.NEGATIVE_INFINITY;
  private line = '';

  constructor(private readonly isShown: boolean) {
    process.once('SIGINT', this.stop);
    process.once('SIGTERM', this.stop);
  }

  /** The time since the start, in whole milliseconds. */
  get seconds(): number {
    return Math.round(performance.now() - this.startedAtMs) / 1000;
  }

  /** How fast these rows were processed since the start. */
  pace(rows: number) {
    const { seconds } = this;
    return { seconds, rowsPerSecond: Math.round(rows / Math.max(seconds, 0.001)) };
  }

  /** Shows the progress. `done` is the processed part of `total`, in the same unit; null = unknown, as a stream's size is. */
  update(rows: number, done: number, total: number | null): void {
    if (!this.isShown || performance.now() - this.drawnAtMs < REDRAW_MS) return;
    this.drawnAtMs = performance.now();
    this.line = this.text(rows, done, total);
    this.draw();
  }

  /** Prints a line of text above the progress. */
  print(text: string): void {
    this.clear();
    process.stderr.write(`${printable(text)}\n`);
    this.draw();
  }

  /** Removes the progress from the terminal, and listens to no signal any more. */
  end(): void {
    this.clear();
    process.off('SIGINT', this.stop);
    process.off('SIGTERM', this.stop);
  }

  private readonly stop = (): void => this.stopping.abort();

  private clear(): void {
    if (this.line !== '') process.stderr.write('\r\x1b[K');
  }

  private draw(): void {
    const width = (process.stderr.columns || 80) - 1;
    if (this.line !== '') process.stderr.write(`\r\x1b[K${this.line.slice(0, width)}`);
  }

  private text(rows: number, done: number, total: number | null): string {
    const { seconds, rowsPerSecond } = this.pace(rows);
    const speed = `${grouped(rows)} rows, ${grouped(rowsPerSecond)}/s`;
    if (total === null) return speed;
    const share = total === 0 ? 1 : Math.min(1, done / total);
    const filled = Math.round(share * BAR_WIDTH);
    const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
    const leftSeconds = (Math.max(0, total - done) * seconds) / Math.max(1, done);
    return `${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${speed}, ${clock(leftSeconds)} left`;
  }
}

export function paceText({ seconds, rowsPerSecond }: ReturnType<LongRun['pace']>): string {
  return `${seconds.toFixed(1)} s (${grouped(rowsPerSecond)} rows/s)`;
}

function clock(seconds: number): string {
  const whole = Math.ceil(seconds);
  const minutes = Math.floor(whole / 60);
  const hours = Math.floor(minutes / 60);
  const last = String(whole % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes % 60).padStart(2, '0')}:${last}` : `${minutes}:${last}`;
}

/** Returns a function that explains once, on standard error, why a command waits. */
export function sayWaiting(): () => void {
  let isSaid = false;
  return () => {
    if (!isSaid) process.stderr.write('The database is locked or unavailable. Waiting for up to a minute.\n');
    isSaid = true;
  };
}
