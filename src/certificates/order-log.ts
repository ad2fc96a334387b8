import { type EntityManager, In, IsNull, LessThan } from 'typeorm';
import type { Database } from '../database/database.js';
import { withDrawnId } from '../database/drawn-id.js';
import type { IdGenerator } from '../ids.js';
import { AcmeOrder } from './acme-order.entity.js';
import type { OrderFailureCode } from './order-failure.js';
import type { ISSUED, PlannedOrder } from './order-limits.js';

/** A day longer than the longest window of a budget. */
const KEPT_MS = 8 * 86_400_000;
const SWEEP_ROWS = 1_000;

/** The orders sent to the CA, from which budgets are counted. */
export class OrderLog {
  constructor(
    private readonly db: Database,
    private readonly ids: IdGenerator,
    private readonly now: () => number,
  ) {}

  /** Notes an order that is about to be sent, in the transaction that checked its budget, and returns its id. */
  begin(domainId: bigint, planned: PlannedOrder, manager = this.table.manager): Promise<bigint> {
    const { hostname, registrableDomain, projectId, isRenewal } = planned;
    const order = {
      domainId,
      projectId,
      hostname,
      registrableDomain,
      isRenewal: isRenewal ? 1 : 0,
      startedAtMs: this.now(),
      outcome: null,
    } as const;
    return withDrawnId(this.ids, async (id) => {
      await manager.insert(AcmeOrder, { id, ...order });
      return id;
    });
  }

  /** The newest order for the host that nobody brought to an end; null = it was noted too long ago. */
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

  async end(id: bigint, outcome: typeof ISSUED | OrderFailureCode): Promise<void> {
    await this.db.write(() => this.table.update({ id }, { outcome }));
  }

  /** The order counts as a first one after all. Joins the caller's transaction. */
  async countFully(id: bigint, manager: EntityManager): Promise<void> {
    await manager.update(AcmeOrder, { id }, { isRenewal: 0 });
  }

  /** Deletes some of what no budget counts any more and returns how many. */
  async sweep(): Promise<number> {
    const old = await this.table.find({
      select: { id: true },
      where: { startedAtMs: LessThan(this.now() - KEPT_MS) },
      take: SWEEP_ROWS,
    });
    if (old.length > 0) await this.db.write(() => this.table.delete({ id: In(old.map(({ id }) => id)) }));
    return old.length;
  }

  private get table() {
    return this.db.repository(AcmeOrder);
  }
}
