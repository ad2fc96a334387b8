import { In, LessThan } from 'typeorm';
import type { Database } from '../../database/database.js';
import { AcmeChallenge } from './acme-challenge.entity.js';

/** Far longer than a validation takes, so that another process can resume the order. */
const KEPT_MS = 3_600_000;
const BATCH_ROWS = 1_000;

interface OpenChallenge {
  token: string;
  hostname: string;
  keyAuthorization: string;
}

/** Opens and closes challenges; any process can answer them. */
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

  /** Deletes some of the expired rows and returns how many. */
  async deleteExpired(): Promise<number> {
    const expired = await this.table.find({
      select: { token: true },
      where: { expiresAtMs: LessThan(this.now()) },
      take: BATCH_ROWS,
    });
    await this.close(expired.map(({ token }) => token));
    return expired.length;
  }

  private get table() {
    return this.db.repository(AcmeChallenge);
  }
}
