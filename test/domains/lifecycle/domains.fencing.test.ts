import { expect, test } from '@jest/globals';
import { Certificate } from '../../../src/domains/certificates/store/certificate.store.js';
import { Domain } from '../../../src/domains/store/domain.entity.js';
import { startSimulatedIssuance } from '../../support/domains/simulated-issuance.js';

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
