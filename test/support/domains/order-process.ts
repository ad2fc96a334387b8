import { OrderLog, type PlannedOrder } from '../../../src/domains/certificates/orders/order-log.js';
import { loadConfig } from '../../../src/ground/config/config.js';
import { Database } from '../../../src/ground/database/database.js';
import { IdGenerator } from '../../../src/ground/kernel/ids.js';
import { DATABASE_SCHEMA } from '../gateway/tested-gateway.js';

/** A process that shares a database: it places orders at once and answers how many were within the limits. */
export interface SpendingOrder {
  planned: Pick<PlannedOrder, 'hostname' | 'registrableDomain'>;
  orders: number;
}

const db = await Database.open(loadConfig({ DATABASE_URL: process.argv[2] ?? '' }).database, DATABASE_SCHEMA);
const log = new OrderLog(db, new IdGenerator(Date.now), JSON.parse(process.argv[3] ?? ''), Date.now);

process.on('message', async ({ planned, orders }: SpendingOrder) => {
  const order: PlannedOrder = {
    ...planned,
    domainId: BigInt(process.pid),
    projectId: BigInt(process.pid),
    isRenewal: false,
    isCertified: false,
    sealedKey: null,
  };
  const ends = await Promise.allSettled(Array.from({ length: orders }, () => log.logOrder(order)));
  const faults = ends.flatMap((end) =>
    end.status === 'rejected' && end.reason.failure?.code !== 'CA_RATE_LIMITED' ? [String(end.reason)] : [],
  );
  process.send?.({ spent: ends.filter(({ status }) => status === 'fulfilled').length, faults });
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
