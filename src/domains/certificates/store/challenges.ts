import { setTimeout as sleep } from 'node:timers/promises';
import { Column, Entity, In, Index, LessThan, MoreThan, PrimaryColumn } from 'typeorm';
import { TIME_MS, text } from '../../../ground/database/columns.js';
import type { Database } from '../../../ground/database/database.js';

/** An HTTP-01 challenge. It is in the database, so that any process can answer the CA. RFC 8555 §8.3. */
@Entity('acme_challenges')
export class AcmeChallenge {
  @PrimaryColumn(text(128))
  token!: string;

  /** The only host for which the token is answered. */
  @Column(text(253))
  hostname!: string;

  @Column({ ...text(255), name: 'key_authorization' })
  keyAuthorization!: string;

  @Index('acme_challenges_end')
  @Column({ ...TIME_MS, name: 'expires_at_ms' })
  expiresAtMs!: number;
}

/** Far longer than a validation takes, so that another process can resume the order. */
const KEPT_MS = 3_600_000;
/** Far more than in-flight orders. A CA asks within seconds of an order, so it asks for one of the newest rows. */
const MAX_ROWS = 5_000;
/** The pause between two reads: a flood of unknown tokens costs at most 20 small statements a second. */
const PAUSE_MS = 50;
const TOKEN = /^[A-Za-z0-9_-]{1,128}$/;

type Found = ReadonlyMap<string, AcmeChallenge>;

/**
 * Opens and closes challenges, and answers those of all processes. All waiting requests share one read of every open
 * challenge, so its cost does not grow with the number of requests, tokens or hosts. A read begins after its requests have
 * arrived, so it finds every challenge that was opened before the CA asked.
 */
export class Challenges {
  private running: Promise<unknown> = Promise.resolve();
  private next: Promise<Found> | null = null;

  constructor(
    private readonly db: Database,
    private readonly now: () => number,
  ) {}

  async open(challenge: Omit<AcmeChallenge, 'expiresAtMs'>): Promise<void> {
    const row = { ...challenge, expiresAtMs: this.now() + KEPT_MS };
    await this.db.write(() => this.table.upsert(row, ['token']));
  }

  async close(tokens: readonly string[]): Promise<void> {
    if (tokens.length === 0) return;
    await this.db.write(() => this.table.delete({ token: In([...tokens]) }));
  }

  /** The key authorization for exactly this token at this host; null = no such open challenge. */
  async answer(token: string, hostname: string): Promise<string | null> {
    if (!TOKEN.test(token)) return null;
    this.next ??= this.readNext();
    const challenge = (await this.next).get(token);
    const isOpen = challenge?.hostname === hostname && challenge.expiresAtMs > this.now();
    return isOpen ? challenge.keyAuthorization : null;
  }

  /** Deletes the expired rows and returns how many. */
  deleteExpired(): Promise<number> {
    return this.db.deleteInSteps(AcmeChallenge, { expiresAtMs: LessThan(this.now()) }, 'expiresAtMs');
  }

  /** Starts a read after the previous read and its pause have ended. */
  private readNext(): Promise<Found> {
    const found = this.running.then(() => {
      this.next = null;
      return this.read();
    });
    this.running = found.catch(() => {}).then(() => sleep(PAUSE_MS, undefined, { ref: false }));
    return found;
  }

  private async read(): Promise<Found> {
    const rows = await this.table.find({
      where: { expiresAtMs: MoreThan(this.now()) },
      order: { expiresAtMs: 'DESC' },
      take: MAX_ROWS,
    });
    return new Map(rows.map((row) => [row.token, row]));
  }

  private get table() {
    return this.db.repository(AcmeChallenge);
  }
}
