import { setTimeout as pause } from 'node:timers/promises';
import { KeepAliveClient } from '../keep-alive-client.js';

const EVERY_MS = 50;
const PAGES = 90;

interface Read {
  status: number | 'no answer';
  tookMs: number;
}

/** A client of another project that reads a page of pets once per 50 ms while the gateway is attacked. */
export class Neighbour {
  private reads: Read[] = [];
  private readonly client: KeepAliveClient;
  private hasLeft = false;

  constructor(url: string, token: string) {
    this.client = new KeepAliveClient(url, token);
    void this.readOn();
  }

  /** Forgets the reads so far: the measurement starts here. */
  startOver(): void {
    this.reads = [];
  }

  get readCount(): number {
    return this.reads.length;
  }

  /** Reads that were not answered with 200. */
  failures(): Read[] {
    return this.reads.filter(({ status }) => status !== 200);
  }

  /** The answer time that 99 % of the reads stayed within. */
  p99Ms(): number {
    const sorted = this.reads.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
    return sorted[Math.ceil(sorted.length * 0.99) - 1] ?? Number.NaN;
  }

  leave(): void {
    this.hasLeft = true;
    this.client.close();
  }

  /** Reads start on time and wait for each other on one connection, so a stall counts as often as it would hurt. */
  private async readOn(): Promise<void> {
    for (let turn = 0; !this.hasLeft; turn += 1) {
      void this.read(`/v1/pets?limit=${1 + (turn % PAGES)}`);
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
