import { grouped, printable } from './output.js';

const REDRAW_MS = 100;
const BAR_WIDTH = 24;

export interface Progress {
  rows: number;
  /** The processed part of `total`, in the same unit. */
  done: number;
  /** Null = unknown, as the size of a stream is. */
  total: number | null;
}

/** A progress line on a terminal; prints no line elsewhere. */
export class ProgressBar {
  private readonly startedAtMs = performance.now();
  private drawnAtMs = Number.NEGATIVE_INFINITY;
  private line = '';

  constructor(
    private readonly stream: NodeJS.WriteStream,
    /** The progress of earlier runs, which does not count for the speed. */
    private readonly before: { rows: number; done: number },
    private readonly isShown: boolean,
  ) {}

  update(progress: Progress): void {
    if (!this.isShown || performance.now() - this.drawnAtMs < REDRAW_MS) return;
    this.drawnAtMs = performance.now();
    this.line = this.text(progress);
    this.draw();
  }

  /** Prints a line of text above the bar. */
  print(text: string): void {
    this.clear();
    this.stream.write(`${printable(text)}\n`);
    this.draw();
  }

  clear(): void {
    if (this.line !== '') this.stream.write('\r\x1b[K');
  }

  private draw(): void {
    if (this.line !== '') this.stream.write(`\r\x1b[K${this.line.slice(0, (this.stream.columns || 80) - 1)}`);
  }

  private text({ rows, done, total }: Progress): string {
    const seconds = (performance.now() - this.startedAtMs) / 1000;
    const speed = `${grouped(rows)} rows, ${grouped((rows - this.before.rows) / seconds)}/s`;
    if (total === null) return speed;
    const share = total === 0 ? 1 : Math.min(1, done / total);
    const filled = Math.round(share * BAR_WIDTH);
    const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
    const leftSeconds = (Math.max(0, total - done) * seconds) / Math.max(1, done - this.before.done);
    return `${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${speed}, ${clock(leftSeconds)} left`;
  }
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

/**
 * A signal that aborts at the first SIGINT (Ctrl-C) or SIGTERM; a second one ends the process at once. `release` ends the
 * listening.
 */
export function stopSignal(onStop: () => void = () => {}): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController();
  const stop = () => {
    controller.abort();
    onStop();
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  const release = () => {
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  };
  return { signal: controller.signal, release };
}
