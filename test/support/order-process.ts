import { OrderBudget } from '../../src/certificates/order-budget.js';
import type { PlannedOrder } from '../../src/certificates/order-limits.js';
import { OrderLog } from '../../src/certificates/order-log.js';
import { loadConfig } from '../../src/config.js';
import { Database } from '../../src/database/database.js';
import { IdGenerator } from '../../src/ids.js';

/** One of several processes that share a database: notes orders at once, and answers how many were within the budget. */
export interface SpendingOrder {
  planned: Omit<PlannedOrder, 'projectId' | 'isRenewal'>;
  orders: number;
}

const db = await Database.open(loadConfig({ DATABASE_URL: process.argv[2] ?? '' }).database);
const budget = new OrderBudget(db, Date.now);
const log = new OrderLog(db, new IdGenerator(Date.now), Date.now);

process.on('message', async ({ planned, orders }: SpendingOrder) => {
  const order: PlannedOrder = { ...planned, projectId: BigInt(process.pid), isRenewal: false };
  const ends = await Promise.allSettled(
    Array.from({ length: orders }, () =>
      budget.spend(order, (manager) => log.begin(BigInt(process.pid), order, manager)),
    ),
  );
  const faults = ends.flatMap((end) =>
    end.status === 'rejected' && end.reason.failure?.code !== 'CA_RATE_LIMITED' ? [String(end.reason)] : [],
  );
  process.send?.({ spent: ends.filter(({ status }) => status === 'fulfilled').length, faults });
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
