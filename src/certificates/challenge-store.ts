import { In, LessThan } from 'typeorm';
import type { Database } from '../database/database.js';
import { AcmeChallenge } from './acme-challenge.entity.js';

/** Far longer than a CA takes to ask, so that an order can be taken up by another process. */
const KEPT_MS = 3_600_000;
const TOKEN = /^[A-Za-z0-9_-]{1,128}$/;
const SWEEP_ROWS = 1_000;

interface OpenChallenge {
  token: string;
  hostname: string;
  keyAuthorization: string;
}

/** Challenges that the CA may ask for, at whichever process. */
export class ChallengeStore {
  constructor(
    private readonly db: Database,
    private readonly now: () => number,
  ) {}

  async open(challenge: OpenChallenge): Promise<void> {
    const row = { ...challenge, expiresAtMs: this.now() + KEPT_MS };
    await this.db.write(() => this.table.upsert(row, ['token']));
  }

  async close(tokens: readonly string[]): Promise<void> {
    if (tokens.length === 0) return;
    await this.db.write(() => this.table.delete({ token: In([...tokens]) }));
  }

  /** The key authorization, for exactly this token at this host; null = nothing is known of it. */
  async answer(token: string, hostname: string): Promise<string | null> {
    if (!TOKEN.test(token)) return null;
    const row = await this.table.findOneBy({ token });
    // MySQL compares without case.
    const isIt = row?.token === token && row.hostname === hostname && row.expiresAtMs > this.now();
    return isIt ? row.keyAuthorization : null;
  }

  /** Deletes some of what has expired and returns how many. */
  async sweep(): Promise<number> {
    const expired = await this.table.find({
      select: { token: true },
      where: { expiresAtMs: LessThan(this.now()) },
      take: SWEEP_ROWS,
    });
    await this.close(expired.map(({ token }) => token));
    return expired.length;
  }

  private get table() {
    return this.db.repository(AcmeChallenge);
  }
}
