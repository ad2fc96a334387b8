import { afterEach, expect, test } from '@jest/globals';
import { type DnsRig, NOON_MS, PLATFORM_HOST, startDnsRig } from '../../support/dns/dns-rig.js';
import type { DnsServerDouble } from '../../support/dns/dns-server.js';
import { inOwnTicks } from '../../support/own-time.js';

const SHOP = 'shop.customer.test';
const APEX = 'customer.test';
const OURS = '192.0.2.10';
const FOREIGN = '8.8.8.8';
const rigs: DnsRig[] = [];

afterEach(async () => {
  await Promise.all(rigs.splice(0).map((rig) => rig.stop()));
});

async function start(options?: Parameters<typeof startDnsRig>[0]): Promise<DnsRig> {
  const rig = await startDnsRig(options);
  rigs.push(rig);
  return rig;
}

const codes = ({ diagnoses }: { diagnoses: readonly { code: string }[] }) =>
  diagnoses.map(({ code }) => code);

/** Each test runs with the resolver alone, and with two name servers that give the same answers. */
const servers = [0, 2];

test.each(servers)(
  'Domains-DNS-9: a subdomain is right when its CNAME is the value shown (%d name servers)',
  async (count) => {
    const { inspect, publish } = await start({ nameServers: count });
    publish(SHOP, 'CNAME', 'PetStore.Test');
    expect(await inspect(SHOP)).toEqual({
      leadsHere: true,
      isReachingUs: true,
      isOwnershipProved: null,
      proofs: [],
      isUnderWildcard: false,
      isApex: false,
      diagnoses: [],
    });
  },
);

test.each(servers)(
  "Domains-DNS-10: an apex is right when all its addresses are the platform's (%d name servers)",
  async (count) => {
    const { inspect, publish, dns } = await start({ nameServers: count });
    publish(APEX, 'A', OURS);
    expect(await inspect(APEX)).toMatchObject({ leadsHere: true, isApex: true, diagnoses: [] });
    publish(APEX, 'AAAA', '2001:db8:0:0::10');
    expect(await inspect(APEX)).toMatchObject({ leadsHere: true, diagnoses: [] });
    dns.set('sub.customer.test', 'CNAME', PLATFORM_HOST);
    expect(await inspect('sub.customer.test', { isApex: true })).toMatchObject({ isApex: false });
  },
);

test.each(servers)(
  'Domains-8: CNAME_WRONG_VALUE: the CNAME points elsewhere (%d name servers)',
  async (count) => {
    const { inspect, publish, dns } = await start({ nameServers: count });
    publish(SHOP, 'CNAME', 'old.example.net', 300);
    dns.set('old.example.net', 'A', FOREIGN);
    const { leadsHere, diagnoses } = await inspect(SHOP);
    expect(leadsHere).toBe(false);
    expect(diagnoses).toMatchObject([
      {
        code: 'CNAME_WRONG_VALUE',
        severity: 'ERROR',
        actor: 'OWNER',
        cause: 'The CNAME of shop.customer.test points to old.example.net, not to petstore.test.',
        remedy: 'Replace old.example.net with petstore.test.',
        retryAtMs: null,
      },
    ]);
    expect(diagnoses[0]?.evidence[0]).toEqual({
      server: count === 0 ? dns.hostPort : `127.0.0.2:${dns.port}`,
      question: 'shop.customer.test CNAME',
      answer: 'NOERROR: shop.customer.test. 300 CNAME old.example.net.',
      ttlSeconds: 300,
      atMs: NOON_MS,
    });
  },
);

test('Domains-DNS-11: CNAME_WRONG_VALUE: a CNAME that reaches the platform by a detour is not the value shown', async () => {
  const { inspect, dns } = await start();
  dns.set(SHOP, 'CNAME', 'detour.customer.test');
  dns.set('detour.customer.test', 'CNAME', PLATFORM_HOST);
  expect(codes(await inspect(SHOP))).toEqual(['CNAME_WRONG_VALUE']);
});

test.each(servers)('Domains-DNS-12: DNS_NO_RECORD: no name or no record (%d name servers)', async (count) => {
  const { inspect, publish } = await start({ nameServers: count });
  const missing = await inspect(SHOP);
  expect(missing).toMatchObject({ leadsHere: false });
  expect(missing.diagnoses).toMatchObject([
    {
      code: 'DNS_NO_RECORD',
      cause: 'shop.customer.test does not exist in DNS.',
      remedy: 'Add a CNAME record: name shop.customer.test, value petstore.test, TTL 3600.',
    },
  ]);
  expect(missing.diagnoses[0]?.evidence[0]?.answer).toMatch(/^NXDOMAIN/);
  expect(missing.diagnoses[0]?.evidence[0]?.ttlSeconds).toBe(300);
  publish(SHOP, 'TXT', 'hello');
  const empty = await inspect(SHOP);
  expect(codes(empty)).toEqual(['DNS_NO_RECORD']);
  expect(empty.diagnoses[0]?.cause).toMatch('exists in DNS, but has no CNAME and no address');
});

test('Domains-DNS-13: NAME_DOUBLED: the record is at a name that contains the zone twice', async () => {
  const { inspect, dns } = await start();
  dns.set(`${SHOP}.${APEX}`, 'CNAME', PLATFORM_HOST);
  expect(await inspect(SHOP)).toMatchObject({
    leadsHere: false,
    diagnoses: [
      {
        code: 'NAME_DOUBLED',
        cause:
          'The record was created as shop.customer.test.customer.test, which contains customer.test twice.',
        remedy: 'Your DNS provider appends customer.test automatically: enter only shop as the name.',
      },
    ],
  });
  dns.set(SHOP, 'CNAME', 'old.example.net');
  expect(codes(await inspect(SHOP))).toEqual(['CNAME_WRONG_VALUE', 'TARGET_GONE', 'NAME_DOUBLED']);
  dns.set(SHOP, 'CNAME', PLATFORM_HOST);
  expect(codes(await inspect(SHOP))).toEqual([]);
});

test('Domains-DNS-14: NAME_DOUBLED: also in a zone below the registrable domain, and at an apex; a wildcard is no proof', async () => {
  const { inspect, dns } = await start();
  dns.zone('sub.customer.test');
  dns.set('shop.sub.customer.test.sub.customer.test', 'A', OURS);
  dns.set('customer.test.customer.test', 'A', FOREIGN);
  expect(codes(await inspect('shop.sub.customer.test'))).toEqual(['NAME_DOUBLED']);
  expect(codes(await inspect(APEX))).toEqual(['NAME_DOUBLED']);
  dns.remove('customer.test.customer.test');
  dns.set('*.customer.test', 'A', FOREIGN);
  dns.set(SHOP, 'TXT', 'x');
  expect(codes(await inspect(SHOP))).toEqual(['DNS_NO_RECORD']);
});

test.each(servers)('Domains-DNS-15: VALUE_DOUBLED: an appended zone (%d name servers)', async (count) => {
  const { inspect, publish } = await start({ nameServers: count });
  publish(SHOP, 'CNAME', 'petstore.test.customer.test');
  expect(await inspect(SHOP)).toMatchObject({
    leadsHere: false,
    diagnoses: [{ code: 'VALUE_DOUBLED', remedy: 'End the value with a dot: petstore.test.' }],
  });
});

test.each(servers)(
  'Domains-DNS-16: CONFLICTING_RECORD: addresses instead of the CNAME (%d name servers)',
  async (count) => {
    const { inspect, publish } = await start({ nameServers: count });
    publish(SHOP, 'A', FOREIGN);
    publish(SHOP, 'AAAA', '2a00::1');
    expect(await inspect(SHOP)).toMatchObject({
      leadsHere: false,
      diagnoses: [
        {
          code: 'CONFLICTING_RECORD',
          cause: 'shop.customer.test has A and AAAA records (8.8.8.8, 2a00::1), which block the CNAME.',
          remedy:
            'Delete these records, then add a CNAME record: name shop.customer.test, value petstore.test, TTL 3600.',
        },
      ],
    });
  },
);

test.each(servers)(
  'Domains-DNS-17: CONFLICTING_RECORD: addresses beside the right CNAME (%d name servers)',
  async (count) => {
    const { inspect, publish } = await start({ nameServers: count });
    publish(SHOP, 'CNAME', PLATFORM_HOST);
    publish(SHOP, 'A', FOREIGN);
    const found = await inspect(SHOP);
    expect(codes(found)).toEqual(['CONFLICTING_RECORD']);
    expect(found).toMatchObject({
      leadsHere: false,
      diagnoses: [{ cause: expect.stringContaining('(8.8.8.8)') }],
    });
  },
);

test.each([APEX, SHOP])('Domains-DNS-18: AAAA_FOREIGN: only IPv4 points here: %s', async (hostname) => {
  const { inspect, dns } = await start();
  dns.set(hostname, 'A', OURS);
  dns.set(hostname, 'AAAA', '2a00::1');
  expect(await inspect(hostname)).toMatchObject({
    leadsHere: false,
    diagnoses: [{ code: 'AAAA_FOREIGN', remedy: 'Delete the AAAA record with 2a00::1.' }],
  });
});

test.each(servers)(
  'Domains-DNS-19: ADDRESS_MIXED, ADDRESS_ELSEWHERE: an apex points partly or only elsewhere (%d name servers)',
  async (count) => {
    const { inspect, publish } = await start({ nameServers: count });
    publish(APEX, 'A', [OURS, FOREIGN]);
    expect(await inspect(APEX)).toMatchObject({
      leadsHere: false,
      diagnoses: [
        { code: 'ADDRESS_MIXED', cause: 'customer.test points to 8.8.8.8 in addition to our 192.0.2.10.' },
      ],
    });
    publish(APEX, 'A', FOREIGN);
    expect(await inspect(APEX)).toMatchObject({
      leadsHere: false,
      diagnoses: [
        { code: 'ADDRESS_ELSEWHERE', cause: 'customer.test points to 8.8.8.8, not to petstore.test.' },
      ],
    });
    publish(APEX, 'A', '10.0.0.5');
    const [inside] = (await inspect(APEX)).diagnoses;
    expect(inside?.cause).toMatch('10.0.0.5, which nobody can reach from the Internet');
  },
);

test.each(servers)(
  'Domains-DNS-20: APEX_NEEDS_ALIAS: no address, or a CNAME at an apex (%d name servers)',
  async (count) => {
    const { inspect, publish } = await start({ nameServers: count });
    const [empty] = (await inspect(APEX)).diagnoses;
    expect(empty).toMatchObject({ code: 'APEX_NEEDS_ALIAS', actor: 'OWNER' });
    expect(empty?.remedy).toMatch(
      'Add one ALIAS or ANAME record: name customer.test, value petstore.test; if',
    );
    publish(APEX, 'CNAME', PLATFORM_HOST);
    expect(await inspect(APEX)).toMatchObject({
      leadsHere: false,
      isApex: true,
      diagnoses: [
        { code: 'APEX_NEEDS_ALIAS', cause: expect.stringContaining('there is one to petstore.test') },
      ],
    });
  },
);

test.each(servers)(
  "Domains-DNS-21: FLATTENED: no visible CNAME, but the platform's addresses (%d name servers)",
  async (count) => {
    const { inspect, publish } = await start({ nameServers: count });
    publish(SHOP, 'A', OURS);
    expect(await inspect(SHOP)).toMatchObject({
      leadsHere: true,
      diagnoses: [{ code: 'FLATTENED', severity: 'INFO', actor: 'NOBODY' }],
    });
  },
);

test.each([SHOP, APEX])(
  'Domains-DNS-22: PROXIED: foreign addresses of both families in a zone of a provider with a proxy: %s',
  async (hostname) => {
    const { inspect, dns } = await start();
    dns.set(hostname, 'A', ['104.21.0.1', '172.67.0.1']);
    dns.set(hostname, 'AAAA', '2606:4700::1');
    const isProxied = async () => codes(await inspect(hostname)).includes('PROXIED');
    expect(await isProxied()).toBe(false);
    dns.zone(APEX, { 'ada.ns.cloudflare.com': '127.0.0.2', 'bob.ns.cloudflare.com': '127.0.0.3' });
    expect(codes(await inspect(hostname))).toEqual(['PROXIED']);
    expect((await inspect(hostname)).diagnoses[0]?.remedy).toMatch('DNS only');
    // The proxy answers for both families; a single address is a record of the owner.
    dns.remove(hostname);
    dns.set(hostname, 'A', FOREIGN);
    expect(await isProxied()).toBe(false);
  },
);

test.each(servers)(
  'Domains-DNS-23: CNAME_LOOP: a chain that returns to itself, also to the name itself (%d name servers)',
  async (count) => {
    const { inspect, publish } = await start({ nameServers: count });
    publish(SHOP, 'CNAME', 'a.customer.test');
    publish('a.customer.test', 'CNAME', 'b.customer.test');
    publish('b.customer.test', 'CNAME', 'a.customer.test');
    expect(await inspect(SHOP)).toMatchObject({
      leadsHere: false,
      diagnoses: [
        {
          code: 'CNAME_LOOP',
          cause:
            'The CNAMEs of shop.customer.test form a loop: shop.customer.test → a.customer.test → b.customer.test → a.customer.test.',
        },
      ],
    });
    publish(SHOP, 'CNAME', SHOP);
    expect(codes(await inspect(SHOP))).toEqual(['CNAME_LOOP']);
  },
);

test.each(servers)(
  'Domains-DNS-24: TARGET_GONE: the chain ends at a name that does not exist (%d name servers)',
  async (count) => {
    const { inspect, publish } = await start({ nameServers: count });
    publish(SHOP, 'CNAME', 'a.customer.test');
    publish('a.customer.test', 'CNAME', 'gone.example.net');
    const found = await inspect(SHOP);
    expect(codes(found)).toEqual(['CNAME_WRONG_VALUE', 'TARGET_GONE']);
    expect(found.diagnoses[1]?.cause).toMatch('end at gone.example.net, which does not exist');
  },
);

test('Domains-DNS-25: TARGET_GONE: the platform host has no addresses: a right CNAME counts, an apex cannot be judged', async () => {
  const { inspect, dns } = await start();
  dns.remove(PLATFORM_HOST);
  dns.set(SHOP, 'CNAME', PLATFORM_HOST);
  dns.set(APEX, 'A', FOREIGN);
  expect(await inspect(SHOP)).toMatchObject({
    leadsHere: true,
    diagnoses: [{ code: 'TARGET_GONE', severity: 'WARNING', actor: 'PLATFORM' }],
  });
  expect(await inspect(APEX)).toMatchObject({
    leadsHere: null,
    diagnoses: [{ code: 'TARGET_GONE', severity: 'ERROR', actor: 'PLATFORM' }],
  });
});

test('Domains-DNS-26: NOT_PROPAGATED: all name servers are right, caches are old: it points here, with a time', async () => {
  const { inspect, dns, nameServers } = await start({ nameServers: 3 });
  for (const server of nameServers) server.set(SHOP, 'CNAME', PLATFORM_HOST);
  dns.set(SHOP, 'CNAME', 'old.example.net', 5400);
  const found = await inspect(SHOP);
  expect(found).toMatchObject({
    leadsHere: true,
    diagnoses: [
      {
        code: 'NOT_PROPAGATED',
        severity: 'INFO',
        remedy: 'Nothing: caches have the new answer by 13:30 UTC.',
        retryAtMs: NOON_MS + 5_400_000,
      },
    ],
  });
  expect(found.diagnoses[0]?.cause).toMatch('caches still give an old answer: CNAME old.example.net');
  dns.remove(SHOP);
  expect(await inspect(SHOP)).toMatchObject({
    leadsHere: true,
    diagnoses: [{ code: 'NOT_PROPAGATED', retryAtMs: NOON_MS + 300_000 }],
  });
  dns.set(SHOP, 'A', FOREIGN, 86_400);
  expect((await inspect(SHOP)).diagnoses[0]?.remedy).toMatch('by 2026-01-16 12:00 UTC');
});

test('Domains-DNS-27: NOT_PROPAGATED: some name servers give an old answer', async () => {
  const { inspect, publish, nameServers } = await start({ nameServers: 3 });
  publish(SHOP, 'CNAME', PLATFORM_HOST);
  nameServers[1]?.set(SHOP, 'CNAME', 'old.example.net', 3600);
  nameServers[2]?.remove(SHOP);
  const { leadsHere, diagnoses } = await inspect(SHOP);
  expect(leadsHere).toBe(false);
  expect(diagnoses).toMatchObject([
    { code: 'NOT_PROPAGATED', severity: 'ERROR', retryAtMs: NOON_MS + 3_600_000 },
  ]);
  expect(diagnoses[0]?.cause).toBe(
    '2 of 3 name servers of customer.test (ns2.customer.test, ns3.customer.test) still give an old answer: CNAME old.example.net.',
  );
});

test('Domains-6: wrong name servers count more than a right cache', async () => {
  const { inspect, dns, nameServers } = await start({ nameServers: 2 });
  dns.set(SHOP, 'CNAME', PLATFORM_HOST);
  for (const server of nameServers) server.set(SHOP, 'CNAME', 'moved.example.net');
  const found = await inspect(SHOP);
  expect(found.leadsHere).toBe(false);
  expect(codes(found)).toEqual(['CNAME_WRONG_VALUE']);
});

test.each(['servfail', 'refused', 'lame'] as const)(
  'Domains-DNS-28: NAMESERVER_FAILING: one of two is broken: %s',
  async (fault) => {
    const { inspect, publish, nameServers } = await start({ nameServers: 2 });
    publish(SHOP, 'CNAME', PLATFORM_HOST);
    nameServers[1]?.fault(fault);
    const found = await inspect(SHOP);
    expect(found).toMatchObject({
      leadsHere: true,
      diagnoses: [{ code: 'NAMESERVER_FAILING', severity: 'WARNING', actor: 'DNS_PROVIDER' }],
    });
    expect(found.diagnoses[0]?.cause).toMatch(
      '1 of 2 name servers of customer.test (ns2.customer.test) answer',
    );
  },
);

test('Domains-DNS-29: NAMESERVER_FAILING: all are broken, so the target of the name is unknown', async () => {
  const { inspect, publish, dns, nameServers } = await start({ nameServers: 2 });
  publish(SHOP, 'CNAME', PLATFORM_HOST);
  for (const server of nameServers) server.fault('refused');
  expect(await inspect(SHOP)).toMatchObject({ leadsHere: true, diagnoses: [{ severity: 'WARNING' }] });
  dns.fault('servfail', { name: SHOP });
  const found = await inspect(SHOP);
  expect(found.leadsHere).toBeNull();
  expect(found.diagnoses).toMatchObject([{ code: 'NAMESERVER_FAILING', severity: 'ERROR' }]);
});

test.each(['servfail', 'refused', 'notimp', 'formerr'] as const)(
  'Domains-DNS-30: NAMESERVER_FAILING: a resolver that refuses says nothing about the records: %s',
  async (fault) => {
    const { inspect, dns } = await start();
    dns.set(SHOP, 'A', FOREIGN);
    dns.fault(fault, { name: SHOP });
    const found = await inspect(SHOP);
    expect(found.leadsHere).toBeNull();
    expect(found.diagnoses).toMatchObject([{ code: 'NAMESERVER_FAILING', severity: 'ERROR' }]);
    expect(found.diagnoses[0]?.cause).toMatch(fault.toUpperCase());
  },
);

test('Domains-DNS-31: NAMESERVER_FAILING: one address family is refused, the other is right', async () => {
  const { inspect, dns } = await start();
  dns.set(APEX, 'A', OURS);
  dns.fault('servfail', { name: APEX, type: 'AAAA' });
  expect(await inspect(APEX)).toMatchObject({
    leadsHere: true,
    diagnoses: [{ code: 'NAMESERVER_FAILING', severity: 'WARNING' }],
  });
});

test.each(servers)(
  'Domains-DNS-32: DNSSEC_BROKEN: validation fails, without it there is an answer (%d name servers)',
  async (count) => {
    const { inspect, publish, dns } = await start({ nameServers: count });
    publish(SHOP, 'CNAME', PLATFORM_HOST);
    dns.set(APEX, 'DS', '4711 13 2');
    dns.fault('bogus', { name: SHOP });
    const { leadsHere, diagnoses } = await inspect(SHOP);
    expect(leadsHere).toBe(false);
    expect(diagnoses).toMatchObject([
      {
        code: 'DNSSEC_BROKEN',
        actor: 'OWNER',
        cause:
          'customer.test has a DS record at its registrar, but its answers have no DNSSEC signatures (a resolver says: DNSKEY Missing).',
        remedy: 'Remove the DS record of customer.test at your registrar.',
      },
    ]);
  },
);

test('Domains-DNS-33: DNSSEC_BROKEN: when the whole zone fails its name is still known', async () => {
  const { inspect, dns } = await start();
  dns.set(SHOP, 'A', FOREIGN);
  dns.set(SHOP, 'RRSIG', 'A 2026-02-01T00:00:00Z');
  dns.set(APEX, 'DS', '4711 13 2');
  for (const name of [SHOP, APEX]) dns.fault('bogus', { name });
  dns.fault({ delayMs: 0 }, { name: APEX, type: 'DS' });
  const found = await inspect(SHOP);
  expect(found.leadsHere).toBe(false);
  expect(codes(found)).toEqual(['DNSSEC_BROKEN']);
  expect(found.diagnoses[0]?.cause).toMatch('The answers for customer.test fail');
  expect(found.diagnoses[0]?.remedy).toMatch('Correct or remove the DS record of customer.test');
});

test('Domains-DNS-34: DNS_NO_RECORD: a name that does not exist has no record, even when one type is not answered', async () => {
  const { inspect, dns } = await start();
  dns.fault('notimp', { name: SHOP, type: 'AAAA' });
  expect(codes(await inspect(SHOP))).toEqual(['DNS_NO_RECORD']);
});

test('Domains-DNS-35: DNS_UNREACHABLE: a silent resolver gives no result, within 1.5 s', async () => {
  const { inspect, dns } = await start();
  dns.set(SHOP, 'A', FOREIGN);
  dns.fault('drop');
  const { result: found, tookMs } = await inOwnTicks(() =>
    inspect(SHOP, { ownership: { name: `_verify.${SHOP}`, value: 'x' } }),
  );
  expect(tookMs).toBeLessThan(1_500);
  expect(found).toMatchObject({ leadsHere: null, isOwnershipProved: null, isApex: false });
  expect(codes(found)).toEqual(['DNS_UNREACHABLE']);
  expect(found.diagnoses[0]).toMatchObject({
    actor: 'NOBODY',
    retryAtMs: NOON_MS + 30_000,
    evidence: expect.arrayContaining([expect.objectContaining({ answer: 'timeout', server: dns.hostPort })]),
  });
});

test('Domains-DNS-36: DNS_UNREACHABLE: the check waits 1.5 s for slow DNS, with name servers too', async () => {
  const { inspect, publish, dns, nameServers } = await start({ nameServers: 2 });
  publish(SHOP, 'CNAME', PLATFORM_HOST);
  for (const server of [dns, ...nameServers]) server.fault({ delayMs: 400 });
  const slow = await inOwnTicks(() => inspect(SHOP));
  expect(slow.result).toMatchObject({ leadsHere: true });
  expect(slow.tookMs).toBeLessThan(1_500);
  for (const server of [dns, ...nameServers]) server.fault({ delayMs: 900 });
  const late = await inOwnTicks(() => inspect(SHOP));
  expect(late.result).toMatchObject({ leadsHere: true });
  expect(late.tookMs).toBeLessThan(1_500);
  const givenUp = await inspect(SHOP, {}, AbortSignal.timeout(30));
  expect(givenUp.leadsHere).toBeNull();
  expect(codes(givenUp)).toEqual(['DNS_UNREACHABLE']);
});

test('Domains-DNS-37: DNS_UNREACHABLE: one unanswered question is enough; answers of name servers are used', async () => {
  const { inspect, publish, dns, nameServers } = await start({ nameServers: 2 });
  publish(SHOP, 'CNAME', PLATFORM_HOST);
  dns.fault('drop', { name: SHOP, type: 'A' });
  dns.fault('drop', { name: SHOP, type: 'AAAA' });
  dns.fault('drop', { name: SHOP, type: 'CNAME' });
  expect(await inspect(SHOP)).toMatchObject({ leadsHere: true, diagnoses: [] });
  for (const server of nameServers) server.fault('drop');
  const found = await inspect(SHOP);
  expect(found.leadsHere).toBeNull();
  expect(codes(found)).toEqual(['DNS_UNREACHABLE']);
});

test("Domains-DNS-38: DNS_UNREACHABLE: when only the platform's addresses are unknown no record is called wrong", async () => {
  const { inspect, dns } = await start();
  dns.set(APEX, 'A', FOREIGN);
  dns.fault('drop', { name: PLATFORM_HOST });
  const found = await inspect(APEX);
  expect(found.leadsHere).toBeNull();
  expect(found.diagnoses[0]?.cause).toMatch('DNS could not be asked for petstore.test');
});

test.each(['notimp', 'refused', 'servfail', 'drop'] as const)(
  'Domains-DNS-39: %s as the answer to SOA and NS does not matter: CNAME and addresses decide',
  async (fault) => {
    const { inspect, dns } = await start();
    dns.fault(fault, { type: 'SOA' });
    dns.fault(fault, { type: 'NS' });
    dns.set(SHOP, 'CNAME', PLATFORM_HOST);
    expect(await inspect(SHOP)).toMatchObject({ leadsHere: true, isApex: false, diagnoses: [] });
    dns.set(SHOP, 'CNAME', 'petstore.test.customer.test');
    expect(codes(await inspect(SHOP))).toEqual(['VALUE_DOUBLED']);
    dns.set(APEX, 'A', OURS);
    expect(await inspect(APEX, { isApex: true })).toMatchObject({ leadsHere: true, isApex: true });
  },
);

test('Domains-DNS-40: WILDCARD_DNS: any name below the zone points here', async () => {
  const { inspect, dns } = await start();
  dns.set('*.customer.test', 'CNAME', PLATFORM_HOST);
  expect(await inspect(SHOP)).toMatchObject({
    leadsHere: true,
    isReachingUs: true,
    isUnderWildcard: true,
    diagnoses: [
      {
        code: 'WILDCARD_DNS',
        severity: 'WARNING',
        remedy: 'Replace the record *.customer.test with one record for each name.',
      },
    ],
  });
  dns.set(APEX, 'A', OURS);
  expect(await inspect(APEX)).toMatchObject({
    isUnderWildcard: false,
    diagnoses: [{ code: 'WILDCARD_DNS' }],
  });
});

const TOKEN = { name: `_petstore-verify.${SHOP}`, value: 'petstore-verify=abc' };

test('Domains-DNS-41: OWNERSHIP_TXT_MISSING, _MISMATCH: the records found instead are named', async () => {
  const { inspect, publish, dns } = await start();
  dns.set(SHOP, 'CNAME', PLATFORM_HOST);
  const missing = await inspect(SHOP, { ownership: TOKEN });
  expect(missing).toMatchObject({ leadsHere: true, isOwnershipProved: false });
  expect(missing.diagnoses).toMatchObject([
    { code: 'OWNERSHIP_TXT_MISSING', cause: `There is no TXT record at ${TOKEN.name}.` },
  ]);
  publish(TOKEN.name, 'TXT', ['petstore-verify=old', 'other']);
  const other = await inspect(SHOP, { ownership: TOKEN });
  expect(other.isOwnershipProved).toBe(false);
  expect(other.diagnoses[0]).toMatchObject({
    code: 'OWNERSHIP_TXT_MISMATCH',
    cause: `The TXT record at ${TOKEN.name} has another value: "petstore-verify=old", "other".`,
  });
  publish(TOKEN.name, 'TXT', ['other', `"${TOKEN.value}"`]);
  expect(await inspect(SHOP, { ownership: TOKEN })).toMatchObject({ isOwnershipProved: true, diagnoses: [] });
});

test('Domains-DNS-42: OWNERSHIP_TXT_MISSING: the record on the host name itself is recognised', async () => {
  const { inspect, dns } = await start();
  dns.set(SHOP, 'TXT', TOKEN.value);
  const found = await inspect(SHOP, { ownership: TOKEN });
  expect(codes(found)).toEqual(['DNS_NO_RECORD', 'OWNERSHIP_TXT_MISSING']);
  expect(found.diagnoses[1]?.cause).toMatch(`it is on ${SHOP} itself`);
});

test('Domains-DNS-43: a name server with the TXT record proves ownership before caches have it', async () => {
  const { inspect, nameServers } = await start({ nameServers: 2 });
  for (const server of nameServers) server.set(TOKEN.name, 'TXT', TOKEN.value);
  expect(await inspect(SHOP, { ownership: TOKEN })).toMatchObject({ isOwnershipProved: true });
});

test("Domains-DNS-48: a proof that only caches still have proves nothing, unless it is a CNAME's or no name server answers", async () => {
  const { inspect, dns, nameServers } = await start({ nameServers: 2 });
  const found = async () => {
    const { isOwnershipProved, proofs } = await inspect(SHOP, { ownership: TOKEN });
    return [isOwnershipProved, proofs];
  };
  dns.set(TOKEN.name, 'TXT', TOKEN.value);
  expect(await found()).toEqual([false, []]);
  nameServers[1]?.set(TOKEN.name, 'TXT', TOKEN.value);
  expect(await found()).toEqual([true, [TOKEN.value]]);
  nameServers[1]?.remove(TOKEN.name);
  for (const server of nameServers) server.set(TOKEN.name, 'CNAME', 'proof.elsewhere.test');
  expect(await found()).toEqual([true, [TOKEN.value]]);
  for (const server of nameServers) server.fault('drop');
  expect(await found()).toEqual([true, [TOKEN.value]]);
});

test('Domains-DNS-49: an old proof in a cache does not count while the name servers have had too many questions', async () => {
  const { inspect, dns } = await start({ nameServers: 1 });
  dns.set(TOKEN.name, 'TXT', TOKEN.value);
  const many = Array.from({ length: 44 }, () => inspect(SHOP, { ownership: TOKEN }));
  expect((await Promise.all(many)).flatMap(({ proofs }) => proofs)).toEqual([]);
});

test('Domains-DNS-44: an inspection says where the zone begins and whether visitors of the name already arrive here', async () => {
  const { inspect, dns } = await start();
  expect(await inspect(SHOP, { isApex: true })).toMatchObject({
    isApex: false,
    isReachingUs: false,
    isUnderWildcard: false,
  });
  dns.zone('sub.customer.test');
  dns.set('sub.customer.test', 'A', [OURS, FOREIGN]);
  expect(await inspect('sub.customer.test')).toMatchObject({
    isApex: true,
    leadsHere: false,
    isReachingUs: true,
    isUnderWildcard: false,
  });
  dns.fault('drop');
  const { result, tookMs } = await inOwnTicks(() => inspect(SHOP));
  expect(result).toMatchObject({ isApex: false, isReachingUs: null, isUnderWildcard: null });
  expect(tookMs).toBeLessThan(1_500);
});

test('Domains-DNS-45: the zone of a registry does not tell whether an unregistered domain is an apex', async () => {
  const { inspect, dns } = await start();
  dns.zone('test');
  for (const isApex of [true, false]) {
    expect(await inspect('unregistered.test', { isApex })).toMatchObject({ isApex });
  }
  for (const hostname of ['unregistered.test', 'www.unregistered.test']) {
    const [finding] = (await inspect(hostname, { isApex: hostname === 'unregistered.test' })).diagnoses;
    expect(finding).toMatchObject({
      code: 'DNS_NO_RECORD',
      remedy: expect.stringContaining(
        'Check that unregistered.test is registered and has name servers, then add',
      ),
    });
  }
});

test('Domains-DNS-46: packets go only to the resolver and to name servers that may be asked', async () => {
  const { inspect, dns, nameServers } = await start({ nameServers: 2, areAsked: false });
  const host: DnsServerDouble | undefined = nameServers[1];
  dns.set(SHOP, 'A', host?.address ?? '');
  expect(codes(await inspect(SHOP))).toEqual(['CONFLICTING_RECORD']);
  expect(nameServers.map(({ log }) => log)).toEqual([[], []]);
});

test('Domains-DNS-47: text from foreign DNS is shown bounded and without control characters', async () => {
  const { inspect, dns } = await start();
  dns.set(TOKEN.name, 'TXT', `\u001b[31m\r\n${'x'.repeat(2_000)}`);
  const { diagnoses } = await inspect(SHOP, { ownership: TOKEN });
  const found = diagnoses.find(({ code }) => code === 'OWNERSHIP_TXT_MISMATCH');
  expect(found?.cause.length).toBeLessThan(600);
  expect(JSON.stringify(found)).not.toMatch(/\\u001b|\\r/);
});
