import { expect, test } from '@jest/globals';
import { Certificate } from '../../../src/domains/certificates/store/certificate.store.js';
import { DomainWorker } from '../../../src/domains/lifecycle/domain-worker.js';
import { Domain } from '../../../src/domains/store/domain.entity.js';
import { DAY_MS } from '../../../src/ground/kernel/duration.js';
import { startSimulatedIssuance } from '../../support/domains/simulated-issuance.js';
import { eventually } from '../../support/eventually.js';

const NEVER = new AbortController().signal;

test('Domains-Issuance-4: a process whose lease was taken over stores no certificate', async () => {
  const rig = await startSimulatedIssuance(Date.parse('2027-01-01'));
  const { id } = await rig.attach('shop.customer.test');
  const domains = rig.db.repository(Domain);
  const { chain } = rig.ca.client;
  rig.ca.client.chain = async (...request) => {
    // Another process takes the domain over while this one stands still.
    await domains.increment({ id }, 'leaseNumber', 1);
    return chain(...request);
  };
  const due = () => domains.findOneByOrFail({ id });
  await rig.issuance.run(await due(), NEVER);
  expect(rig.ca.issued).toHaveLength(1);
  expect(await rig.db.repository(Certificate).count()).toBe(0);
  expect(await due()).toMatchObject({ certificateId: null, orderState: 'ORDERING', leaseNumber: 2 });

  rig.ca.client.chain = chain;
  rig.clock.now += 15_000;
  await rig.issuance.run(await due(), NEVER);
  expect(await rig.db.repository(Certificate).count()).toBe(1);
  // The order of the first process was completed.
  expect(rig.ca.issued).toHaveLength(1);
  await rig.stop();
});

test('Domains-Issuance-61: a lease and a planned check of a clock that was a day ahead do not count', async () => {
  const rig = await startSimulatedIssuance(Date.parse('2027-01-01'));
  const { id } = await rig.attach('shop.customer.test');
  const domains = rig.db.repository(Domain);
  const due = () => domains.findOneByOrFail({ id });
  const aDayAhead = rig.clock.now + DAY_MS;
  const checked: bigint[] = [];
  const check = { run: async (domain: Domain) => checked.push(domain.id) && domain } as never;
  await domains.update({ id }, { leaseUntilMs: aDayAhead, nextCheckAtMs: aDayAhead });
  const worker = new DomainWorker({ db: rig.db, check, issuance: rig.issuance }, { warn() {} }, rig.now);
  worker.start();
  await eventually('checked and issued', () => checked.length > 0 && rig.ca.issued.length > 0);
  await worker.stop();
  expect((await due()).nextCheckAtMs).toBeLessThan(aDayAhead);
  await rig.stop();
});
