import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Certificate } from '../../../src/domains/certificates/store/certificate.store.js';
import { Domain } from '../../../src/domains/store/domain.entity.js';
import { databaseKinds } from '../../support/databases.js';
import { rateLimited } from '../../support/domains/acme-proxy.js';
import {
  type DomainRig,
  ownerOf,
  PLATFORM_HOST,
  publishedTenant,
  startDomainRig,
} from '../../support/domains/domain-rig.js';
import { visit } from '../../support/domains/served-domain.js';
import { eventually } from '../../support/eventually.js';
import { TEST_ACTOR } from '../../support/start-app.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

interface Found {
  code: string;
  severity: string;
  retryAt: string | null;
}

const codesOf = ({ diagnoses }: { diagnoses: Found[] }) => diagnoses.map(({ code }) => code);
const namesOf = ({ timeline }: { timeline: { name: string }[] }) => timeline.map(({ name }) => name);

describe.each(databaseKinds())('from verified to served on %s', (kind) => {
  let rig: DomainRig;
  let names = 0;
  beforeAll(async () => {
    rig = await startDomainRig(kind);
  });
  afterAll(() => rig?.stop());

  /** Adds a domain in a zone of its owner, whose CNAME points here. */
  async function attached() {
    names += 1;
    const zone = `owner-${names}.test`;
    const hostname = `shop.${zone}`;
    const tenant = await publishedTenant(rig);
    const owner = ownerOf(rig, tenant);
    rig.dns.zone(zone);
    const { id } = await owner.add(hostname);
    rig.dns.set(hostname, 'CNAME', PLATFORM_HOST);
    return { zone, hostname, tenant, owner, id };
  }

  async function served() {
    const domain = await attached();
    await domain.owner.verify(domain.id);
    await domain.owner.become(domain.id, 'ACTIVE');
    return domain;
  }

  test('Domains-Issuance-1: DNS is checked automatically 30 s after the domain was added, and issuance follows', async () => {
    const { owner, id } = await attached();
    rig.clock.now += 29 * SECOND_MS;
    expect((await owner.read(id)).status).toBe('PENDING_DNS');
    rig.clock.now += 2 * SECOND_MS;
    await owner.become(id, 'ACTIVE');
  });

  test('CAA is checked before every order: a forbidding record is reported, and the CA is not asked', async () => {
    const { owner, id, zone, hostname } = await attached();
    rig.dns.set(zone, 'CAA', '0 issue "other.test"');
    await owner.verify(id);
    const failed = await owner.become(id, 'ISSUE_FAILED');
    expect(failed.diagnoses[0]).toMatchObject({
      code: 'CAA_BLOCKS_CA',
      severity: 'ERROR',
      actor: 'OWNER',
      cause: expect.stringContaining('other.test'),
      remedy: expect.stringContaining('ca.test'),
      evidence: [expect.objectContaining({ question: `${zone} CAA` })],
    });
    expect(rig.ca.newOrders(hostname)).toBe(0);
    rig.dns.set(zone, 'CAA', ['0 issue "other.test"', '0 issue "ca.test"']);
    await owner.reverify(id);
    expect(codesOf(await owner.become(id, 'ACTIVE'))).toEqual([]);
  });

  test('a CAA record that names another account or another method gets its own code', async () => {
    for (const [value, code] of [
      ['0 issue "ca.test; accounturi=https://ca.test/acct/1"', 'CAA_ACCOUNT'],
      ['0 issue "ca.test; validationmethods=dns-01"', 'CAA_METHOD'],
      ['128 unheardof "x"', 'CAA_UNKNOWN_CRITICAL'],
    ] as const) {
      const { owner, id, zone } = await attached();
      rig.dns.set(zone, 'CAA', value);
      await owner.verify(id);
      expect(codesOf(await owner.become(id, 'ISSUE_FAILED'))).toEqual([code]);
    }
    const { owner, id, zone } = await attached();
    rig.dns.fault('servfail', { name: zone, type: 'CAA' });
    await owner.verify(id);
    expect(codesOf(await owner.become(id, 'ISSUE_FAILED'))).toEqual(['CAA_LOOKUP_FAILED']);
    rig.dns.heal();
  });

  test('Domains-9: after 30 minutes without a certificate DNS, CAA and a new order are tried automatically, and the result is shown', async () => {
    const { owner, id, hostname } = await attached();
    const heal = rig.ca.inject((call) => call.hostname === hostname, {
      kind: 'answer',
      status: 500,
      body: '<html>',
    });
    await owner.verify(id);
    for (const waitMs of [0, MINUTE_MS, 10 * MINUTE_MS]) {
      rig.clock.now += waitMs;
      await owner.become(id, 'ISSUE_FAILED');
      await eventually('the next attempt is planned', async () => {
        const { nextOrderAt } = await owner.read(id);
        return Date.parse(nextOrderAt) > rig.clock.now;
      });
    }
    const before = await owner.read(id);
    expect(codesOf(before)).toEqual(['CA_DOWN']);
    const due = Date.parse(
      before.timeline.find(({ name }: { name: string }) => name === 'domain.verified').at,
    );
    expect(Date.parse(before.nextOrderAt)).toBe(due + 30 * MINUTE_MS);
    rig.clock.now = due + 30 * MINUTE_MS;
    const overdue = await eventually('the overdue event', async () => {
      const domain = await owner.read(id);
      return namesOf(domain).includes('certificate.overdue') && domain;
    });
    expect(codesOf(overdue)).toEqual(['CA_DOWN', 'CERTIFICATE_DELAYED']);
    expect(Date.parse(overdue.checkedAt)).toBe(rig.clock.now);
    heal();
    await owner.reverify(id);
    await owner.become(id, 'ACTIVE');
  });

  test('a rate limit of the authority delays the next order, and Re-verify says until when', async () => {
    const { owner, id, hostname } = await attached();
    const heal = rig.ca.inject(
      (call) => call.hostname === hostname && call.resource === 'newOrder',
      rateLimited(3_600),
    );
    await owner.verify(id);
    await owner.become(id, 'ISSUE_FAILED');
    heal();
    const placed = rig.ca.newOrders(hostname);
    const told = await owner.reverify(id);
    const limit = told.diagnoses.find(({ code }: Found) => code === 'CA_RATE_LIMITED');
    expect(Date.parse(limit.retryAt)).toBeGreaterThanOrEqual(rig.clock.now + HOUR_MS);
    expect(told.nextOrderAt).toBe(limit.retryAt);
    rig.clock.now += 50 * MINUTE_MS;
    expect(rig.ca.newOrders(hostname)).toBe(placed);
    rig.clock.now = Date.parse(limit.retryAt);
    await owner.become(id, 'ACTIVE');
  });

  test('Domains-Issuance-2: a domain that is removed during its order gets no certificate', async () => {
    const { owner, id, hostname, tenant } = await attached();
    const release = rig.ca.inject((call) => call.hostname === hostname && call.resource === 'finalize', {
      kind: 'hang',
    });
    await owner.verify(id);
    await eventually('the order to be finalized', () =>
      rig.ca.calls.some((call) => call.hostname === hostname && call.resource === 'finalize'),
    );
    await owner.remove(id);
    release();
    const finalized = rig.ca.calls.filter((call) => call.hostname === hostname).length;
    const again = await owner.add(hostname);
    const proof = again.instructions.find(({ type }: { type: string }) => type === 'TXT');
    rig.dns.set(proof.name, 'TXT', proof.value);
    await owner.verify(again.id);
    await owner.become(again.id, 'ACTIVE');
    const certificates = await rig.db.repository(Certificate).findBy({ hostname });
    expect(certificates.map(({ domainId }) => String(domainId))).toEqual([again.id]);
    expect(rig.ca.calls.filter((call) => call.hostname === hostname).length).toBeGreaterThan(finalized);
    expect((await visit(rig, hostname, '/v1/toys', { token: tenant.token })).status).toBe(200);
  });

  test('Domains-Issuance-3: a lower plan suspends the domain and keeps the claim; a higher plan resumes it', async () => {
    const { owner, id, hostname, tenant } = await served();
    const { projects } = rig.app.services;
    await projects.change(TEST_ACTOR, tenant.slug, { plan: 'FREE' });
    const refused = () =>
      visit(rig, hostname, '/v1/toys', { token: tenant.token }).then(
        ({ status }) => status === 421,
        () => true,
      );
    await eventually('no service', refused);
    // The gateway may cache the key with its old plan for almost a second.
    rig.clock.now += SECOND_MS;
    await owner.become(id, 'SUSPENDED');
    await expect(owner.verify(id)).rejects.toMatchObject({ code: 'PLAN_REQUIRED' });
    const other = ownerOf(rig, await publishedTenant(rig));
    await expect(other.add(hostname)).rejects.toMatchObject({ code: 'CONFLICT' });
    const orders = rig.ca.newOrders(hostname);
    await projects.change(TEST_ACTOR, tenant.slug, { plan: 'PRO' });
    rig.clock.now += SECOND_MS;
    const active = await owner.become(id, 'ACTIVE');
    expect(namesOf(active).slice(0, 2)).toEqual(['domain.resumed', 'domain.suspended']);
    await eventually('service', async () => {
      const { status } = await visit(rig, hostname, '/v1/toys', { token: tenant.token });
      return status === 200;
    });
    expect(rig.ca.newOrders(hostname)).toBe(orders);
  });

  test('a domain that may not be ordered for is not retried in a loop', async () => {
    const { owner, id, tenant, hostname } = await attached();
    rig.dns.set(hostname, 'CNAME', 'elsewhere.test');
    await owner.verify(id);
    const { projects } = rig.app.services;
    await projects.change(TEST_ACTOR, tenant.slug, { plan: 'FREE' });
    rig.clock.now += SECOND_MS;
    await owner.become(id, 'SUSPENDED');
    await rig.db.repository(Domain).update({ id: BigInt(id) }, { nextOrderAtMs: 0, orderState: 'FAILED' });
    await projects.change(TEST_ACTOR, tenant.slug, { plan: 'PRO' });
    rig.clock.now += SECOND_MS;
    await eventually('its order plan is cleared', async () => {
      const row = await rig.db.repository(Domain).findOneByOrFail({ id: BigInt(id) });
      return row.suspendedAtMs === null && row.nextOrderAtMs === null;
    });
    const { leaseNumber } = await rig.db.repository(Domain).findOneByOrFail({ id: BigInt(id) });
    expect(leaseNumber).toBeLessThan(5);
    expect(rig.ca.newOrders(hostname)).toBe(0);
  });

  test('a domain whose DNS points elsewhere stays served, is reported after a second check, and recovers automatically', async () => {
    const { owner, id, hostname, tenant } = await served();
    rig.dns.set(hostname, 'CNAME', 'elsewhere.test');
    await owner.verify(id);
    expect((await owner.read(id)).status).toBe('ACTIVE');
    rig.clock.now += 10 * MINUTE_MS;
    const drifted = await owner.become(id, 'DRIFTED');
    expect(codesOf(drifted)).toContain('CNAME_WRONG_VALUE');
    expect((await visit(rig, hostname, '/v1/toys', { token: tenant.token })).status).toBe(200);
    rig.dns.set(hostname, 'CNAME', PLATFORM_HOST);
    rig.clock.now += 10 * MINUTE_MS;
    expect(namesOf(await owner.become(id, 'ACTIVE'))[0]).toBe('domain.recovered');
  });
});
