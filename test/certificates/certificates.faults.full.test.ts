import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CertificateOrderError } from '../../src/domains/certificates/orders/order-failure.js';
import type { AcmeFault } from '../support/domains/acme-proxy.js';
import { rateLimited } from '../support/domains/acme-proxy.js';
import { type AcmeRig, issue, NEVER, orderOf, startAcmeRig } from '../support/domains/acme-rig.js';
import { eventually } from '../support/eventually.js';
import { inOwnTicks } from '../support/own-time.js';

const HOUR_MS = 3_600_000;
const AT_ONCE = 7;

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';

/** Sends the piece every 20 ms, while the connection is open. */
function repeating(head: string, piece: string): AcmeFault {
  const say = (connection: Socket) => {
    connection.setNoDelay(true).write(head);
    const timer = setInterval(() => connection.write(piece), 20);
    connection.on('error', () => {}).once('close', () => clearInterval(timer));
  };
  return { kind: 'say', say };
}

describe('a CA that fails', () => {
  let rig: AcmeRig;
  beforeAll(async () => {
    rig = await startAcmeRig({ pebble: { blockedDomains: ['blocked.test'] } });
    await rig.authority().caaNames(NEVER);
  });
  afterAll(() => rig.stop());

  /** Returns the failure of an order, and how long the order took. */
  async function failureOf(hostname: string, options: Parameters<AcmeRig['authority']>[0] = {}) {
    const { result: error, tookMs } = await inOwnTicks(() =>
      issue(rig.authority(options), hostname).then(
        () => {
          throw new Error('it was issued');
        },
        (reason) => reason,
      ),
    );
    if (!error.failure) throw error;
    return { ...error.failure, tookMs };
  }

  const RESOURCES = ['newOrder', 'authz', 'challenge', 'order', 'finalize', 'certificate'];
  const HTML = { kind: 'answer', status: 502, body: '<html>Bad Gateway</html>' } as const;
  const INTERNAL = {
    kind: 'answer',
    status: 500,
    headers: { 'content-type': 'application/problem+json', 'retry-after': '30' },
    body: JSON.stringify({ type: 'urn:ietf:params:acme:error:serverInternal', detail: 'maintenance' }),
  } as const;
  const HUGE = { kind: 'answer', status: 200, body: 'x'.repeat(1_100_000) } as const;
  const FAULTS: [string, AcmeFault][] = [
    ['resets', { kind: 'reset' }],
    ['hangs', { kind: 'hang' }],
    ['answers HTML', HTML],
    ['answers serverInternal', INTERNAL],
    ['answers more than a megabyte', HUGE],
    ['answers no JSON', { kind: 'answer', status: 200, body: '{"status":' }],
    ['answers JSON of something else', { kind: 'answer', status: 200, body: '{"status":"late"}' }],
    ['answers JSON of nested arrays', { kind: 'answer', status: 200, body: '['.repeat(90_000) }],
    ['redirects', { kind: 'answer', status: 307, headers: { location: '/dir' }, body: '' }],
    ['sends a byte at a time', repeating(`${HEAD}content-length: 9000\r\n\r\n`, ' ')],
    ['sends a head without an end', repeating(HEAD, `x: ${'y'.repeat(1_000)}\r\n`)],
    ['sends interim answers only', repeating('', 'HTTP/1.1 100 Continue\r\n\r\n')],
    [
      'closes half of the connection',
      { kind: 'say', say: (connection) => connection.end(`${HEAD}content-length: 9\r\n\r\n{`) },
    ],
  ];

  test.each(RESOURCES)(
    'an order with any fault at %s fails in time, and the next order is issued',
    async (resource) => {
      // The client does not read the body of the answer to a challenge.
      const faults = FAULTS.filter(([name]) => resource !== 'challenge' || !/JSON/.test(name));
      const outcome = async ([name, fault]: [string, AcmeFault]) => {
        const hostname = `${name.replaceAll(' ', '-')}.${resource}.test`.toLowerCase();
        const stop = rig.proxy.inject(
          (call) => call.hostname === hostname && call.resource === resource,
          fault,
        );
        const { code, tookMs, remedy } = await failureOf(hostname, { requestTimeoutMs: 1_500 });
        stop();
        expect({ name, code, remedy }).toEqual({
          name,
          code: 'CA_DOWN',
          remedy: 'Nothing: we retry automatically.',
        });
        expect(tookMs).toBeLessThan(3_000);
        expect(await rig.orders(hostname)).toMatchObject([{ outcome: 'CA_DOWN' }]);
        await issue(rig.authority(), hostname);
      };
      // In two groups: more handshakes at once than that take their share of the time.
      await Promise.all(faults.slice(0, AT_ONCE).map(outcome));
      await Promise.all(faults.slice(AT_ONCE).map(outcome));
    },
  );

  test('a Retry-After of a month does not make the client poll in a tight loop', async () => {
    const hostname = 'month.retry.test';
    const body = JSON.stringify({ status: 'processing', authorizations: [], finalize: 'https://ca.test/' });
    const headers = { 'content-type': 'application/json', 'retry-after': '2592000' };
    const isPoll = (call: { hostname: string | null; resource: string }) =>
      call.hostname === hostname && call.resource === 'order';
    const stop = rig.proxy.inject(isPoll, { kind: 'answer', status: 200, headers, body });
    expect((await failureOf(hostname, { orderTimeoutMs: 2_000 })).code).toBe('CA_DOWN');
    stop();
    expect(rig.proxy.calls.filter(isPoll).length).toBeLessThan(5);
  });

  test('Attack-61: an order that never becomes ready, and nonces that are always wrong, cost a bounded number of requests', async () => {
    const never = (type: string): AcmeFault => ({
      kind: 'answer',
      status: 403,
      headers: { 'content-type': 'application/problem+json', 'replay-nonce': 'wrong' },
      body: JSON.stringify({ type: `urn:ietf:params:acme:error:${type}` }),
    });
    const requests = async (hostname: string, resource: string, fault: AcmeFault) => {
      const isHostile = (call: { hostname: string | null; resource: string }) =>
        call.hostname === hostname && call.resource === resource;
      const stop = rig.proxy.inject(isHostile, fault);
      expect((await failureOf(hostname, { orderTimeoutMs: 3_000 })).code).toBe('CA_DOWN');
      stop();
      return rig.proxy.calls.filter(isHostile).length;
    };
    expect(await requests('never.ready.test', 'finalize', never('orderNotReady'))).toBeLessThan(8);
    expect(await requests('never.right.test', 'newOrder', never('badNonce'))).toBeLessThanOrEqual(25);
  });

  test('any fault of the directory or of the renewal advice is reported in time', async () => {
    const insecure = {
      newNonce: 'http://ca.test/',
      newAccount: 'http://ca.test/',
      newOrder: 'http://ca.test/',
    };
    const faults: AcmeFault[] = [
      ...FAULTS.map(([, fault]) => fault),
      { kind: 'answer', status: 200, body: '[]' },
      { kind: 'answer', status: 302, headers: { location: 'https://127.0.0.1/' }, body: '' },
    ];
    for (const fault of faults) {
      const authority = rig.authority({ requestTimeoutMs: 1_000 });
      const stop = rig.proxy.inject((call) => call.resource === 'dir', fault);
      await expect(authority.caaNames(NEVER)).rejects.toMatchObject({ failure: { code: 'CA_DOWN' } });
      stop();
      expect((await authority.caaNames(NEVER)).identities).toEqual(['pebble.letsencrypt.org']);
      const advice = rig.proxy.inject((call) => call.path.includes('renewalInfo'), fault);
      const life = { notBeforeMs: rig.now(), notAfterMs: rig.now() + HOUR_MS };
      const certificate = { hostname: 'x.test', renewalId: 'AA.AA', ...life };
      await expect(authority.renewalTime(certificate, null, NEVER)).rejects.toMatchObject({
        failure: { code: 'CA_DOWN' },
      });
      advice();
    }
    const stop = rig.proxy.inject((call) => call.resource === 'dir', {
      kind: 'answer',
      status: 200,
      body: JSON.stringify(insecure),
    });
    expect(await failureOf('insecure.test')).toMatchObject({
      code: 'CA_DOWN',
      cause: expect.stringContaining('https'),
    });
    stop();
  });

  test.each(RESOURCES)('429 at %s is reported at once, with the time to retry', async (resource) => {
    const hostname = `limited.${resource}.test`.toLowerCase();
    const stop = rig.proxy.inject(
      (call) => call.hostname === hostname && call.resource === resource,
      rateLimited(3_600, 'too many certificates already issued'),
    );
    const failure = await failureOf(hostname);
    stop();
    expect(failure).toMatchObject({ code: 'CA_RATE_LIMITED', actor: 'NOBODY' });
    expect(failure.cause).toContain('too many certificates already issued');
    expect(failure.tookMs).toBeLessThan(1_000);
    expect(Math.abs(failure.retryAtMs - rig.now() - HOUR_MS)).toBeLessThan(5_000);
  });

  test('a name that the CA has paused is a problem for the platform', async () => {
    const stop = rig.proxy.inject(
      (call) => call.resource === 'newOrder',
      rateLimited(null, 'Your account is temporarily prevented from requesting certificates: paused'),
    );
    expect(await failureOf('paused.test')).toMatchObject({
      code: 'CA_PAUSED',
      actor: 'PLATFORM',
      retryAtMs: null,
    });
    stop();
  });

  test('a CA that is away is reported as down, and used again once it is back', async () => {
    const authority = rig.authority();
    await issue(authority, 'before.away.test');
    await rig.proxy.leave();
    await expect(issue(authority, 'shop.away.test')).rejects.toMatchObject({ failure: { code: 'CA_DOWN' } });
    await expect(rig.authority().caaNames(NEVER)).rejects.toMatchObject({
      failure: { code: 'CA_DOWN' },
    });
    await rig.proxy.comeBack();
    await issue(authority, 'shop.away.test');
  });

  test('a connection that is lost while the order is polled does not fail the order', async () => {
    for (const resource of ['authz', 'order', 'certificate']) {
      let left = 1;
      const hostname = `lost.${resource}.test`;
      const stop = rig.proxy.inject(
        (call) => call.hostname === hostname && call.resource === resource && left-- > 0,
        { kind: 'lose-answer' },
      );
      await issue(rig.authority(), hostname);
      stop();
      expect(left).toBeLessThan(1);
    }
  });

  test('an order whose answer is lost is not placed a second time automatically', async () => {
    const stop = rig.proxy.inject((call) => call.resource === 'newOrder', { kind: 'lose-answer' });
    try {
      const authority = rig.authority();
      await authority.caaNames(NEVER);
      expect(await failureOf('lost-order.test')).toMatchObject({ code: 'CA_DOWN' });
      expect(rig.proxy.newOrders('lost-order.test')).toBe(1);
    } finally {
      stop();
    }
  });

  test('a certificate for another host or another key is not installed', async () => {
    const other = await issue(rig.authority(), 'other.swapped.test');
    const hostname = 'shop.swapped.test';
    const earlier = await issue(rig.authority(), hostname);
    const chains = { 'not for shop.swapped.test': other.chainPem, 'for another key': earlier.chainPem };
    for (const [reason, body] of Object.entries(chains)) {
      const stop = rig.proxy.inject(({ resource }) => resource === 'certificate', {
        kind: 'answer',
        status: 200,
        body,
      });
      const failure = await failureOf(hostname);
      stop();
      expect(failure).toMatchObject({ code: 'CA_DOWN', cause: expect.stringContaining(reason) });
    }
  });

  test('an order at a CA that freezes ends at its deadline', async () => {
    const hostname = 'frozen.test';
    const authority = rig.authority({ orderTimeoutMs: 700 });
    const { tookMs } = await inOwnTicks(async () => {
      const hooks = { signal: NEVER, onOrdered: () => rig.pebble.freeze() };
      const order = authority.order(orderOf(hostname), hooks);
      await expect(order).rejects.toMatchObject({ failure: { code: 'CA_DOWN' } });
    });
    expect(tookMs).toBeLessThan(1_500);
    await rig.pebble.thaw();
    // The order stays open, so another process may continue it.
    expect(await rig.orders(hostname)).toMatchObject([{ outcome: null }]);
  });

  test('aborting an order takes effect at once', async () => {
    const isPoll = (call: { hostname: string | null; resource: string }) =>
      call.hostname === 'stopped.test' && call.resource === 'order';
    const stop = rig.proxy.inject(isPoll, { kind: 'hang' });
    const stopping = new AbortController();
    const hooks = { signal: stopping.signal, onOrdered: async () => {} };
    const order = rig.authority().order(orderOf('stopped.test'), hooks);
    const reason = new Error('the process ends');
    await eventually('the poll', () => rig.proxy.calls.some(isPoll));
    const { tookMs } = await inOwnTicks(() => {
      stopping.abort(reason);
      return expect(order).rejects.toBe(reason);
    });
    expect(tookMs).toBeLessThan(100);
    stop();
    await expect(rig.authority().order(orderOf('stopped.test'), hooks)).rejects.toBe(reason);
    // The CA may be about to validate, so the challenge can still be answered.
    expect(await rig.orders('stopped.test')).toMatchObject([{ challengeEndsAtMs: expect.any(Number) }]);
  });

  test('a problem that the owner can fix is reported in the words of the CA', async () => {
    expect(await failureOf('caa-shop.own.test')).toMatchObject({
      code: 'CAA_BLOCKS_CA',
      actor: 'OWNER',
      cause: expect.stringContaining('CAA record for caa-shop.own.test prevents issuance'),
      remedy: 'Add the record: caa-shop.own.test CAA 0 issue "pebble.letsencrypt.org".',
      evidence: [{ question: 'certificate for caa-shop.own.test', answer: expect.stringContaining('caa') }],
    });
    // Pebble reports the same error for these two.
    expect(await failureOf('shop.missing.test')).toMatchObject({ code: 'DNS_UNREACHABLE' });
    expect(await failureOf('shop.broken.test')).toMatchObject({ code: 'DNS_UNREACHABLE' });
    expect(await failureOf('www.blocked.test')).toMatchObject({ code: 'CA_REJECTED', actor: 'PLATFORM' });
  });

  test('a wrong answer to the challenge and no answer get different codes', async () => {
    rig.challenges.answer = async () => 'parked';
    expect(await failureOf('wrong.own.test')).toMatchObject({
      code: 'CHALLENGE_WRONG_ANSWER',
      remedy: expect.stringContaining('http://wrong.own.test/.well-known/acme-challenge/'),
    });
    await rig.door.stop();
    expect(await failureOf('closed.own.test')).toMatchObject({ code: 'CHALLENGE_UNREACHABLE' });
  });
});

test('100 of 100 certificates are issued by a CA that refuses every second nonce', async () => {
  const rig = await startAcmeRig({ pebble: { nonceRejectPercent: 50 } });
  const authority = rig.authority({ directoryUrl: rig.pebble.directoryUrl });
  const hosts = Array.from({ length: 100 }, (_, index) => `shop${index}.nonce${index % 10}.test`);
  const issued = new Set<string>();
  // A lookup that timed out on a busy machine says nothing about nonces.
  const isLookup = (error: unknown) =>
    error instanceof CertificateOrderError && error.failure.code === 'DNS_UNREACHABLE';
  const issueOne = (host: string): ReturnType<typeof issue> =>
    issue(authority, host).catch((error) => {
      if (isLookup(error)) return issueOne(host);
      throw error;
    });
  const work = async () => {
    for (let host = hosts.pop(); host; host = hosts.pop()) issued.add((await issueOne(host)).serialNumber);
  };
  try {
    await Promise.all(Array.from({ length: 6 }, work));
    expect(issued.size).toBe(100);
  } finally {
    await rig.stop();
  }
});

describe('a CA with short certificates', () => {
  let rig: AcmeRig;
  beforeAll(async () => {
    const profiles = {
      shortlived: { description: '6 days', validityPeriod: 6 * 86_400 },
      blink: { description: '20 seconds', validityPeriod: 20 },
    };
    rig = await startAcmeRig({ pebble: { profiles, authorizationReusePercent: 100 } });
  });
  afterAll(() => rig.stop());

  test('the configured profile is ordered, and a short certificate is renewed at half its lifetime', async () => {
    const authority = rig.authority({ settings: { profile: 'shortlived' }, random: () => 0 });
    const { notBeforeMs, notAfterMs, renewAtMs } = await issue(authority, 'six.days.test');
    expect(Math.round((notAfterMs - notBeforeMs) / 86_400_000)).toBe(6);
    expect(renewAtMs).toBe((notBeforeMs + notAfterMs) / 2);
  });

  test('the CA advises when to renew, and each certificate gets its own moment', async () => {
    const early = rig.authority({ settings: { profile: 'shortlived' }, random: () => 0 });
    const late = rig.authority({ random: () => 0.999 });
    const certificate = await issue(early, 'advised.days.test');
    const [first, last] = [
      await early.renewalTime(certificate, null, NEVER),
      await late.renewalTime(certificate, null, NEVER),
    ];
    expect(first).toBeGreaterThan(rig.now());
    expect(last).toBeGreaterThan(Number(first));
    expect(last).toBeLessThan(certificate.notAfterMs);
    expect(await early.renewalTime({ ...certificate, renewalId: null }, null, NEVER)).toBeNull();
  });

  test('a host that the CA has already validated is not validated again', async () => {
    const hostname = 'known.days.test';
    await issue(rig.authority({ settings: { profile: 'shortlived' } }), hostname);
    const asked = rig.door.asked.length;
    await issue(rig.authority({ settings: { profile: 'shortlived' } }), hostname);
    expect(rig.door.asked).toHaveLength(asked);
  });

  test('a profile that the CA does not have is a problem for the platform', async () => {
    const authority = rig.authority({ settings: { profile: 'eternal' } });
    await expect(issue(authority, 'eternal.days.test')).rejects.toMatchObject({
      failure: { code: 'CA_REJECTED', actor: 'PLATFORM', cause: expect.stringContaining('eternal') },
    });
  });

  test('an order whose certificate expired before it was fetched is placed again', async () => {
    const hostname = 'blink.days.test';
    const first = await issue(rig.authority({ settings: { profile: 'blink' } }), hostname);
    // The process died before it stored the certificate.
    rig.clock.aheadMs = 60_000;
    const longer = rig.authority({ settings: { profile: 'shortlived' } });
    const { domainId } = first;
    const certificate = await issue(longer, hostname, { domainId });
    expect(certificate.sealedKey).not.toBe(first.sealedKey);
    expect(rig.proxy.newOrders(hostname)).toBe(2);
    rig.clock.aheadMs = 0;
  });
});
