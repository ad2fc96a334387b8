import { type EntityManager, In, IsNull, LessThan } from 'typeorm';
import type { Database } from '../../database/database.js';
import { withDrawnId } from '../../database/drawn-id.js';
import type { IdGenerator } from '../../kernel/ids.js';
import { AcmeOrder } from './acme-order.entity.js';
import type { OrderFailureCode } from './order-failure.js';
import type { ISSUED, PlannedOrder } from './order-limits.js';

/** A day longer than the longest window of a budget. */
const KEPT_MS = 8 * 86_400_000;
const BATCH_ROWS = 1_000;

/** Logs the orders sent to the CA; budgets count them. */
export class OrderLog {
  constructor(
    private readonly db: Database,
    private readonly ids: IdGenerator,
    private readonly now: () => number,
  ) {}

  /** Logs an order before it is sent, in the transaction that checked its budget, and returns its id. */
  logOrder(domainId: bigint, planned: PlannedOrder, manager = this.table.manager): Promise<bigint> {
    const { hostname, registrableDomain, projectId, isRenewal } = planned;
    const order = {
      domainId,
      projectId,
      hostname,
      registrableDomain,
      isRenewal,
      startedAtMs: this.now(),
      outcome: null,
    };
    return withDrawnId(this.ids, async (id) => {
      await manager.insert(AcmeOrder, { id, ...order });
      return id;
    });
  }

  /** The id of the host's newest unfinished order; null = it was logged too long ago. */
  async unfinished(domainId: bigint, hostname: string): Promise<bigint | null> {
    const row = await this.table.findOne({
      select: { id: true },
      where: [
        { domainId, hostname, outcome: IsNull() },
        { domainId, hostname, outcome: 'CA_DOWN' },
      ],
      order: { startedAtMs: 'DESC' },
    });
    return row?.id ?? null;
  }

  async logOutcome(id: bigint, outcome: typeof ISSUED | OrderFailureCode): Promise<void> {
    await this.db.write(() => this.table.update({ id }, { outcome }));
  }

  /** Makes the order count as a first order, not a renewal. Joins the caller's transaction. */
  async countFully(id: bigint, manager: EntityManager): Promise<void> {
    await manager.update(AcmeOrder, { id }, { isRenewal: false });
  }

  /** Deletes some of the rows that no budget counts any more and returns how many. */
  async deleteOldOrders(): Promise<number> {
    const old = await this.table.find({
      select: { id: true },
      where: { startedAtMs: LessThan(this.now() - KEPT_MS) },
      take: BATCH_ROWS,
    });
    if (old.length > 0) await this.db.write(() => this.table.delete({ id: In(old.map(({ id }) => id)) }));
    return old.length;
  }

  private get table() {
    return this.db.repository(AcmeOrder);
  }
}
