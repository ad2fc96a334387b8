import { type EntityManager, In, IsNull, MoreThan } from 'typeorm';
import { ChangeSequence } from '../../database/change-sequence.entity.js';
import type { Database } from '../../database/database.js';
import { AcmeOrder } from './acme-order.entity.js';
import { CertificateOrderError } from './order-failure.js';
import { IN_FLIGHT_MS, type Limit, ORDER_LIMITS, type PlannedOrder } from './order-limits.js';

/** The row that a process locks while it counts orders. */
const TURN = { name: 'orders' };

/** Limits orders so that no rate limit of the CA is reached. */
export class OrderBudget {
  private lastTurn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly db: Database,
    private readonly now: () => number,
  ) {}

  /**
   * Checks and logs the order in one atomic step for all processes. `note` runs in the transaction, perhaps more than once.
   * Throws as `check`.
   */
  spend<T>(planned: PlannedOrder, note: (manager: EntityManager) => Promise<T>): Promise<T> {
    // Waiting orders of this process hold no connection: only the first one waits for the row.
    const turn = this.lastTurn.then(() =>
      this.db.transaction(async (manager) => {
        // The lock comes first, so that the transaction reads the newest rows.
        await manager.increment(ChangeSequence, TURN, 'value', 1);
        await this.check(planned, manager);
        return note(manager);
      }),
    );
    this.lastTurn = turn.catch(() => {});
    return turn;
  }

  /** Throws `CertificateOrderError CA_RATE_LIMITED` when the order is over budget; `retryAtMs` is the time when it fits. */
  async check(planned: PlannedOrder, manager = this.db.repository(AcmeOrder).manager): Promise<void> {
    const limits = ORDER_LIMITS.filter(({ exempts }) => !exempts(planned));
    // In parallel, because all processes wait for the row meanwhile.
    const free = await Promise.all(limits.map((limit) => this.freeAtMs(limit, planned, manager)));
    for (const [index, limit] of limits.entries()) {
      const freeAtMs = free[index] ?? null;
      if (freeAtMs !== null) throw refusal(limit, planned, { freeAtMs, nowMs: this.now() });
    }
  }

  /** Null = the order fits now. */
  private async freeAtMs(
    limit: Limit,
    planned: PlannedOrder,
    manager: EntityManager,
  ): Promise<number | null> {
    const nowMs = this.now();
    const scope = limit.counts(planned);
    const ended = {
      ...scope,
      outcome: In([...limit.outcomes]),
      startedAtMs: MoreThan(nowMs - limit.windowMs),
    };
    const inFlight = { ...scope, outcome: IsNull(), startedAtMs: MoreThan(nowMs - IN_FLIGHT_MS) };
    const counted = await manager.find(AcmeOrder, {
      select: { id: true, startedAtMs: true, outcome: true },
      where: limit.countsInFlight ? [ended, inFlight] : [ended],
      order: { startedAtMs: 'DESC' },
      take: limit.most,
    });
    if (counted.length < limit.most) return null;
    const ends = counted.map(
      ({ startedAtMs, outcome }) => startedAtMs + (outcome === null ? IN_FLIGHT_MS : limit.windowMs),
    );
    return Math.min(...ends);
  }
}

function refusal(
  { what, most, mostOfCa }: Limit,
  { hostname }: PlannedOrder,
  { freeAtMs, nowMs }: { freeAtMs: number; nowMs: number },
): CertificateOrderError {
  return new CertificateOrderError({
    code: 'CA_RATE_LIMITED',
    actor: 'NOBODY',
    cause: `There were ${most} ${what}, and the certificate authority allows ${mostOfCa}.`,
    remedy: 'Nothing: we retry automatically.',
    retryAtMs: freeAtMs,
    evidence: [
      {
        server: 'order budget',
        question: `${what} (${hostname})`,
        answer: `${most} of ${most}`,
        ttlSeconds: null,
        atMs: nowMs,
      },
    ],
  });
}
