import { In, LessThan } from 'typeorm';
import type { Database } from '../database/database.js';
import { AcmeChallenge } from './acme-challenge.entity.js';

/** Far longer than a CA takes to ask, so that an order can be taken up by another process. */
const KEPT_MS = 3_600_000;
const SWEEP_ROWS = 1_000;

interface OpenChallenge {
  token: string;
  hostname: string;
  keyAuthorization: string;
}

/** Opens and closes the challenges that the CA may ask for, at whichever process. */
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
