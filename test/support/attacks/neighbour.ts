import { setTimeout as pause } from 'node:timers/promises';
import { KeepAliveClient } from '../http/keep-alive-client.js';

const EVERY_MS = 50;
const PAGES = 90;

interface Read {
  status: number | 'no answer';
  tookMs: number;
}

/** A client of another project that reads a page of toys once per 50 ms while the gateway is attacked. */
export class Neighbour {
  private reads: Read[] = [];
  private readonly client: KeepAliveClient;
  private hasLeft = false;

  constructor(url: string, token: string) {
    this.client = new KeepAliveClient(url, token);
    void this.readOn();
  }

  /** Forgets the reads so far, to start a measurement. */
  startOver(): void {
    this.reads = [];
  }

  get readCount(): number {
    return this.reads.length;
  }

  /** Returns the reads that were not answered with 200. */
  failures(): Read[] {
    return this.reads.filter(({ status }) => status !== 200);
  }

  /** Returns the 99th percentile of the answer times. */
  p99Ms(): number {
    const sorted = this.reads.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
    return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN;
  }

  leave(): void {
    this.hasLeft = true;
    this.client.close();
  }

  /** Starts each read on time even if earlier reads wait on the same connection, so a stall delays several reads. */
  private async readOn(): Promise<void> {
    for (let turn = 0; !this.hasLeft; turn += 1) {
      void this.read(`/v1/toys?limit=${1 + (turn % PAGES)}`);
      await pause(EVERY_MS);
    }
  }

  private async read(path: string): Promise<void> {
    const startedAt = performance.now();
    const status = await this.client.send(path).then(
      (answer) => answer.status,
      () => 'no answer' as const,
    );
    if (!this.hasLeft) this.reads.push({ status, tookMs: performance.now() - startedAt });
  }
}
