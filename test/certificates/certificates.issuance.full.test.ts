import { createPrivateKey, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AcmeAccount } from '../../src/domains/certificates/store/acme-account.entity.js';
import { AcmeOrder } from '../../src/domains/certificates/store/acme-order.entity.js';
import { certificateKeyContext, Sealer } from '../../src/domains/certificates/store/sealer.js';
import { databaseKinds } from '../support/databases.js';
import {
  type AcmeRig,
  insertOrder,
  issue,
  NEVER,
  orderOf,
  SEALING_KEY,
  startAcmeRig,
} from '../support/domains/acme-rig.js';
import { atMachineSpeed } from '../support/own-time.js';

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

describe.each(databaseKinds())('on %s', (kind) => {
  let rig: AcmeRig;
  beforeAll(async () => {
    rig = await startAcmeRig({ kind });
  });
  afterAll(() => rig.stop());

  /** Places an order and stops before the CA is asked to validate. */
  async function leaveOrder(hostname: string, domainId: bigint) {
    const dying = new AbortController();
    const order = rig.authority().order(orderOf(hostname, { domainId }), {
      signal: dying.signal,
      onOrdered: async () => dying.abort(new Error('killed')),
    });
    await expect(order).rejects.toThrow('killed');
    return newestOrder(hostname);
  }

  async function newestOrder(hostname: string): Promise<AcmeOrder> {
    const [newest] = (await rig.orders(hostname)).slice(-1);
    if (newest) return newest;
    throw new Error('there is no order');
  }

  /** Returns for each issued order whether it counts as a renewal. The CA has refused the others. */
  async function renewalsIssued(hostname: string): Promise<boolean[]> {
    const orders = await rig.orders(hostname);
    return orders.filter(({ outcome }) => outcome === 'issued').map(({ isRenewal }) => isRenewal);
  }

  test('Domains-7: a certificate is issued within seconds, and its names, chain, key and renewal time are right', async () => {
    const authority = rig.authority();
    const hostname = 'shop.issue.test';
    const { result: certificate, tookMs } = await atMachineSpeed(() =>
      issue(authority, hostname, { domainId: 7n }),
    );
    expect(tookMs).toBeLessThan(1_500);

    const [leaf, intermediate] = (certificate.chainPem.match(PEM) ?? []).map(
      (pem) => new X509Certificate(pem),
    );
    const root = new X509Certificate(await rig.pebble.rootsPem());
    expect(leaf?.verify(intermediate?.publicKey ?? root.publicKey)).toBe(true);
    expect(intermediate?.verify(root.publicKey)).toBe(true);
    expect(leaf?.subjectAltName).toBe(`DNS:${hostname}`);
    const keyPem = new Sealer([SEALING_KEY]).open(certificate.sealedKey, certificateKeyContext(hostname));
    expect(leaf?.checkPrivateKey(createPrivateKey(keyPem))).toBe(true);
    expect(certificate.sealedKey).not.toContain('PRIVATE KEY');
    expect(certificate).toMatchObject({
      domainId: 7n,
      hostname,
      issuer: expect.stringMatching(/^Pebble Intermediate CA/),
      serialNumber: leaf?.serialNumber.toLowerCase(),
      notAfterMs: Date.parse(leaf?.validTo ?? ''),
      renewalId: expect.stringMatching(/^[\w-]+\.[\w-]+$/),
    });
    const leftShare =
      (certificate.notAfterMs - certificate.renewAtMs) / (certificate.notAfterMs - certificate.notBeforeMs);
    expect(leftShare).toBeGreaterThan(0.33);
    expect(leftShare).toBeLessThan(0.37);
    // The CA asked the host for one challenge, from several places; the challenge is deleted now.
    expect(new Set(rig.door.asked.filter((path) => path.startsWith(`${hostname}/`))).size).toBe(1);
    expect(await rig.orders(hostname)).toMatchObject([
      { outcome: 'issued', domainId: 7n, isRenewal: false, challengeEndsAtMs: null },
    ]);
  });

  test('an order outlives its process: another process completes it, and none is placed twice', async () => {
    const hostname = 'killed.issue.test';
    const { sealedKey } = await leaveOrder(hostname, 21n);
    expect(await rig.orders(hostname)).toMatchObject([{ outcome: null }]);

    const certificate = await issue(rig.authority(), hostname, { domainId: 21n });
    expect(certificate.sealedKey).toBe(sealedKey);
    expect(rig.proxy.newOrders(hostname)).toBe(1);
    expect(await rig.orders(hostname)).toMatchObject([{ outcome: 'issued' }]);
  });

  test.each(['challenge', 'finalize', 'certificate'])(
    'an order whose process died during the %s request is completed, from the same order',
    async (resource) => {
      const hostname = `died-at-${resource}.issue.test`;
      const domainId = BigInt(30 + resource.length);
      const stop = rig.proxy.inject((call) => call.hostname === hostname && call.resource === resource, {
        kind: 'lose-answer',
      });
      const first = rig.authority().order(orderOf(hostname, { domainId }), {
        signal: NEVER,
        onOrdered: async () => {},
      });
      await expect(first).rejects.toMatchObject({ failure: { code: 'CA_DOWN' } });
      stop();
      const { sealedKey } = await newestOrder(hostname);
      const certificate = await issue(rig.authority(), hostname, { domainId });
      expect(certificate.sealedKey).toBe(sealedKey);
      expect(rig.proxy.newOrders(hostname)).toBe(1);
    },
  );

  test('an order is placed again when the CA no longer knows it or its key is lost', async () => {
    const hostname = 'gone.issue.test';
    const { id, url, sealedKey } = await leaveOrder(hostname, 22n);
    const orders = rig.db.repository(AcmeOrder);
    await orders.update({ id }, { url: url?.replace(/[^/]+$/, 'unknown') ?? null });
    const anew = await issue(rig.authority(), hostname, { domainId: 22n });
    expect(anew.sealedKey).not.toBe(sealedKey);
    expect((await rig.orders(hostname)).map(({ outcome }) => outcome)).toEqual(['CA_DOWN', 'issued']);

    const other = 'lost-key.issue.test';
    const unreadable = await leaveOrder(other, 23n);
    await orders.update({ id: unreadable.id }, { sealedKey });
    await issue(rig.authority(), other, { domainId: 23n });
    expect(rig.proxy.newOrders(other)).toBe(2);
  });

  test('processes that start together share one account', async () => {
    const directoryUrl = rig.pebble.directoryUrl;
    const processes = Array.from({ length: 6 }, () => rig.authority({ directoryUrl }));
    const accounts = await Promise.all(processes.map((process) => process.caaNames(NEVER)));
    expect(new Set(accounts.map(({ accountUrl }) => accountUrl)).size).toBe(1);
    const rows = await rig.db.repository(AcmeAccount).findBy({ directoryUrl });
    expect(rows).toMatchObject([{ accountUrl: accounts[0]?.accountUrl }]);
  });

  test('a CA that fails because it creates the account for another process is asked once more', async () => {
    const { directoryUrl } = rig.proxy;
    const { accountUrl } = await rig.authority().caaNames(NEVER);
    await rig.db.repository(AcmeAccount).update({ directoryUrl }, { accountUrl: '' });
    let failures = 0;
    const body = JSON.stringify({
      type: 'urn:ietf:params:acme:error:serverInternal',
      detail: 'saving account',
    });
    const headers = { 'content-type': 'application/problem+json' };
    const stop = rig.proxy.inject(({ resource }) => resource === 'newAccount' && failures++ === 0, {
      kind: 'answer',
      status: 500,
      headers,
      body,
    });
    expect(await rig.authority().caaNames(NEVER)).toMatchObject({ accountUrl });
    stop();
    expect(failures).toBeGreaterThan(1);
  });

  test('a challenge is answered for its token and its host only, until it expires', async () => {
    const authority = rig.authority();
    const { challenges } = rig;
    const hostname = 'open.issue.test';
    const challengeEndsAtMs = rig.now() + 60_000;
    await insertOrder(rig.db, { hostname, keyAuthorization: 'Token-1_.thumb', challengeEndsAtMs });
    expect(await challenges.answer('Token-1_', hostname)).toBe('Token-1_.thumb');
    for (const [token, host] of [
      ['Token-1_', 'other.issue.test'],
      ['token-1_', hostname],
      ['Token-1_ ', hostname],
      ["' OR 1=1 --", hostname],
      ['x'.repeat(5_000), hostname],
      ['', hostname],
    ] as const) {
      expect([token, await challenges.answer(token, host)]).toEqual([token, null]);
    }
    rig.clock.aheadMs = 120_000;
    expect(await challenges.answer('Token-1_', hostname)).toBeNull();
    rig.clock.aheadMs = 9 * 86_400_000;
    expect(await authority.deleteExpiredRows()).toBeGreaterThan(1);
    expect(await authority.deleteExpiredRows()).toBe(0);
    expect(await rig.orders(hostname)).toEqual([]);
    rig.clock.aheadMs = 0;
  });

  test('a renewal names the certificate it replaces; if that one is already replaced, the order omits it', async () => {
    const authority = rig.authority();
    let hostname = 'renewed.issue.test';
    let first = await issue(authority, hostname);
    // Pebble does not find a serial number with a leading zero byte, which one of 256 has.
    while (/\.A[A-P]/.test(first.renewalId ?? '')) {
      hostname = `re-${hostname}`;
      first = await issue(authority, hostname);
    }
    const second = await issue(authority, hostname, { replaces: first.renewalId });
    const third = await issue(authority, hostname, { replaces: first.renewalId });
    expect(new Set([first, second, third].map(({ serialNumber }) => serialNumber)).size).toBe(3);
    expect(await renewalsIssued(hostname)).toEqual([false, true, false]);
    const placed = rig.proxy.calls.filter(
      (call) => call.hostname === hostname && call.resource === 'newOrder',
    );
    const named = placed.map(({ payload }) => payload?.replaces ?? null);
    expect([...new Set(named)]).toEqual([null, first.renewalId]);
    expect(named.at(-1)).toBeNull();
  });

  test('a CA that does not know the certificate to replace, or fails to look it up, still issues', async () => {
    await issue(rig.authority(), 'foreign.issue.test', { replaces: 'AAAAAAAAAAAAAAAAAAAAAAAAAAA.AQ' });
    const detail = 'could not find order resulting in the given certificate serial number';
    const body = JSON.stringify({ type: 'urn:ietf:params:acme:error:serverInternal', detail });
    const headers = { 'content-type': 'application/problem+json' };
    const fault = { kind: 'answer', status: 500, headers, body } as const;
    const stop = rig.proxy.inject(({ payload }) => payload?.replaces !== undefined, fault);
    const hostname = 'lost.issue.test';
    const { renewalId } = await issue(rig.authority(), hostname);
    await issue(rig.authority(), hostname, { replaces: renewalId });
    stop();
    expect(await renewalsIssued(hostname)).toEqual([false, false]);
  });

  test('an order above a limit is refused here, and the CA is not asked', async () => {
    const limits = { ordersIn3Hours: 300, certificatesInAWeek: 10 };
    const authority = rig.authority({ settings: { limits } });
    for (let count = 0; count < 9; count += 1) await issue(authority, `again-${count}.limit.test`);
    const asked = rig.proxy.calls.length;
    await expect(issue(authority, 'again-9.limit.test')).rejects.toMatchObject({
      failure: { code: 'CA_RATE_LIMITED', actor: 'NOBODY', retryAtMs: expect.any(Number) },
    });
    expect(rig.proxy.calls).toHaveLength(asked);
    rig.clock.aheadMs = 7 * 86_400_000 + 60_000;
    await issue(authority, 'again-9.limit.test');
    rig.clock.aheadMs = 0;
  });

  // Last, because the CA loses all state of the tests before.
  test('an account that the CA no longer knows is created again, also for an order in flight', async () => {
    await leaveOrder('forgotten.issue.test', 24n);
    await rig.pebble.restart();
    await issue(rig.authority(), 'forgotten.issue.test', { domainId: 24n });
    await issue(rig.authority(), 'after.issue.test');
    expect(await rig.db.repository(AcmeAccount).countBy({ directoryUrl: rig.proxy.directoryUrl })).toBe(1);
  });
});
