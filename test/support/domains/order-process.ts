import { DATABASE_SCHEMA } from '../../../src/app/database-schema.js';
import { OrderBudget } from '../../../src/certificates/orders/order-budget.js';
import type { PlannedOrder } from '../../../src/certificates/orders/order-limits.js';
import { OrderLog } from '../../../src/certificates/orders/order-log.js';
import { loadConfig } from '../../../src/config/config.js';
import { Database } from '../../../src/database/database.js';
import { IdGenerator } from '../../../src/kernel/ids.js';

/** A process that shares a database: it places orders at once and answers how many fitted into the budget. */
export interface SpendingOrder {
  planned: Pick<PlannedOrder, 'hostname' | 'registrableDomain'>;
  orders: number;
}

const db = await Database.open(loadConfig({ DATABASE_URL: process.argv[2] ?? '' }).database, DATABASE_SCHEMA);
const budget = new OrderBudget(db, Date.now);
const log = new OrderLog(db, new IdGenerator(Date.now), Date.now);

process.on('message', async ({ planned, orders }: SpendingOrder) => {
  const order: PlannedOrder = {
    ...planned,
    projectId: BigInt(process.pid),
    isRenewal: false,
    isCertified: false,
  };
  const ends = await Promise.allSettled(
    Array.from({ length: orders }, () =>
      budget.spend(order, (manager) => log.logOrder(BigInt(process.pid), order, manager)),
    ),
  );
  const faults = ends.flatMap((end) =>
    end.status === 'rejected' && end.reason.failure?.code !== 'CA_RATE_LIMITED' ? [String(end.reason)] : [],
  );
  process.send?.({ spent: ends.filter(({ status }) => status === 'fulfilled').length, faults });
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
