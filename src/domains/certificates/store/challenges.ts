import { MoreThan } from 'typeorm';
import type { Database } from '../../../ground/database/database.js';
import { SharedRuns } from '../../../ground/scheduling/shared-runs.js';
import { AcmeOrder } from './acme-order.entity.js';

/** Far more than in-flight orders. A CA asks within seconds of an order, so it asks for one of the newest rows. */
const MAX_ROWS = 5_000;
/** The pause between two reads: a flood of unknown tokens costs at most 20 small statements a second. */
const PAUSE_MS = 50;

/**
 * Answers the HTTP-01 challenges of all processes (RFC 8555 §8.3). All waiting requests share one read of every open
 * challenge, so its cost does not grow with the number of requests, tokens or hosts. A read begins after its requests have
 * arrived, so it finds every challenge that was opened before the CA asked. D-75.
 */
export class Challenges {
  private readonly reads = new SharedRuns(() => this.read(), PAUSE_MS);

  constructor(
    private readonly db: Database,
    private readonly now: () => number,
  ) {}

  /** The key authorization for exactly this token at this host; null = no such open challenge. */
  async answer(token: string, hostname: string): Promise<string | null> {
    const order = (await this.reads.run()).get(token);
    return order?.hostname === hostname ? order.keyAuthorization : null;
  }

  /** By token. */
  private async read(): Promise<ReadonlyMap<string | undefined, AcmeOrder>> {
    const rows = await this.db.repository(AcmeOrder).find({
      select: { id: true, hostname: true, keyAuthorization: true },
      where: { challengeEndsAtMs: MoreThan(this.now()) },
      order: { challengeEndsAtMs: 'DESC' },
      take: MAX_ROWS,
    });
    return new Map(rows.map((row) => [row.keyAuthorization?.split('.')[0], row]));
  }
}
