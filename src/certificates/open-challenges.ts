import { setTimeout as sleep } from 'node:timers/promises';
import { MoreThan } from 'typeorm';
import type { Database } from '../database/database.js';
import { AcmeChallenge } from './acme-challenge.entity.js';

/** A CA asks within seconds of an order, and orders under way are far fewer: the newest rows are the ones it asks for. */
const MAX_ROWS = 5_000;
/** Between two reads. A flood of unknown tokens costs at most twenty small statements a second. */
const PAUSE_MS = 50;
const TOKEN = /^[A-Za-z0-9_-]{1,128}$/;

type Found = ReadonlyMap<string, AcmeChallenge>;

/**
 * The challenges that a CA may ask for now, whichever process opened them. All requests that wait share one read of every
 * open challenge: its cost does not grow with the number of requests, tokens or hosts asked for. The read begins after
 * the request has arrived, so it shows whatever was opened before the CA asked.
 */
export class OpenChallenges {
  private running: Promise<unknown> = Promise.resolve();
  private next: Promise<Found> | null = null;

  constructor(
    private readonly db: Database,
    private readonly now: () => number,
  ) {}

  /** The key authorization, for exactly this token at this host; null = there is no such open challenge. */
  async answer(token: string, hostname: string): Promise<string | null> {
    if (!TOKEN.test(token)) return null;
    this.next ??= this.readNext();
    const challenge = (await this.next).get(token);
    const isOpen = challenge?.hostname === hostname && challenge.expiresAtMs > this.now();
    return isOpen ? challenge.keyAuthorization : null;
  }

  /** Begins once the read before is over, and the pause after it. */
  private readNext(): Promise<Found> {
    const found = this.running.then(() => {
      this.next = null;
      return this.read();
    });
    this.running = found.catch(() => {}).then(() => sleep(PAUSE_MS, undefined, { ref: false }));
    return found;
  }

  private async read(): Promise<Found> {
    const rows = await this.db.repository(AcmeChallenge).find({
      where: { expiresAtMs: MoreThan(this.now()) },
      order: { expiresAtMs: 'DESC' },
      take: MAX_ROWS,
    });
    return new Map(rows.map((row) => [row.token, row]));
  }
}
