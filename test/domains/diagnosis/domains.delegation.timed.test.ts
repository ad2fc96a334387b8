import { afterEach, expect, test } from '@jest/globals';
import { delegationOf } from '../../../src/domains/dns/delegation.js';
import { NameServers } from '../../../src/domains/dns/name-servers.js';
import { Resolver } from '../../../src/domains/dns/resolver.js';
import { type DnsRig, PLATFORM_HOST, startDnsRig } from '../../support/dns/dns-rig.js';
import { type DnsServerDouble, startDnsServer } from '../../support/dns/dns-server.js';
import { startKnot } from '../../support/servers/knot.js';

const SHOP = 'shop.customer.test';
const open: { stop(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.stop()));
});

/** Starts customer.test with two name servers, below the zone test, whose server delegates to the given servers. */
async function start(delegated: Record<string, string>): Promise<{ rig: DnsRig; registry: DnsServerDouble }> {
  const rig = await startDnsRig({ nameServers: 2 });
  const registry = await startDnsServer({ address: '127.0.0.9', port: rig.dns.port });
  open.push(rig, registry);
  for (const server of [rig.dns, registry]) server.zone('test', { 'a.nic.test': '127.0.0.9' });
  registry.set('customer.test', 'NS', Object.keys(delegated));
  for (const [name, address] of Object.entries(delegated)) rig.dns.set(name, 'A', address);
  rig.publish(SHOP, 'CNAME', PLATFORM_HOST);
  return { rig, registry };
}

const OWN = { 'ns1.customer.test': '127.0.0.2', 'ns2.customer.test': '127.0.0.3' };

test('Domains-DNS-3: equal NS records in the zone and in the zone above are no finding', async () => {
  const { rig, registry } = await start(OWN);
  expect(await rig.inspect(SHOP)).toMatchObject({ leadsHere: true, diagnoses: [] });
  expect(registry.log).toContainEqual(expect.objectContaining({ name: 'customer.test', type: 'NS' }));
});

test('Domains-DNS-4: NAMESERVER_FAILING: the zone above names a server that does not have the zone', async () => {
  const { rig } = await start({ 'ns1.customer.test': '127.0.0.2', 'old.provider.test': '127.0.0.8' });
  const old = await startDnsServer({ address: '127.0.0.8', port: rig.dns.port });
  open.push(old);
  const { leadsHere, diagnoses } = await rig.inspect(SHOP);
  expect(leadsHere).toBe(true);
  expect(diagnoses).toMatchObject([
    {
      code: 'NAMESERVER_FAILING',
      severity: 'WARNING',
      actor: 'OWNER',
      cause:
        'The parent zone test names ns1.customer.test, old.provider.test as name servers of customer.test, but the zone itself names ns1.customer.test, ns2.customer.test; old.provider.test does not have the zone.',
    },
  ]);
  const servers = diagnoses[0]?.evidence.map(({ server, answer }) => `${server} ${answer}`);
  expect(servers).toContainEqual(expect.stringMatching(/^127\.0\.0\.8:\d+ REFUSED/));
});

test('Domains-DNS-5: NAMESERVER_FAILING: the zone moved, and names other servers than the zone above', async () => {
  const { rig } = await start({ 'ns1.customer.test': '127.0.0.2' });
  const [found] = (await rig.inspect(SHOP)).diagnoses;
  expect(found).toMatchObject({ code: 'NAMESERVER_FAILING', severity: 'WARNING' });
  expect(found?.cause).toMatch(
    /names ns1.customer.test as .* itself names ns1.customer.test, ns2.customer.test\.$/,
  );
});

test('Domains-DNS-6: no answer from the zone above is no finding, and the result is there within 1.5 s', async () => {
  const { rig, registry } = await start({ 'old.provider.test': '127.0.0.8' });
  registry.fault('drop');
  const startedAt = performance.now();
  expect(await rig.inspect(SHOP)).toMatchObject({ leadsHere: true, diagnoses: [] });
  expect(performance.now() - startedAt).toBeLessThan(1_500);
});

// The first run downloads the server.
test("Domains-DNS-7: a referral of a real server is understood, and compared with the zone's own NS records", async () => {
  const records = [
    'customer NS ns1.customer',
    'customer NS ns.old',
    'ns1.customer A 127.0.0.2',
    'ns.old A 127.0.0.8',
  ];
  const knot = await startKnot([{ name: 'test', isSigned: false, records }]);
  const dns = await startDnsServer();
  const own = await startDnsServer({ address: '127.0.0.2', port: knot.port });
  open.push(knot, dns, own);
  dns.zone('test', { 'ns1.test': '127.0.0.1' });
  for (const server of [dns, own]) server.zone('customer.test', { 'ns1.customer.test': '127.0.0.2' });
  dns.set('ns.old.test', 'A', '127.0.0.8');
  const resolver = new Resolver([{ address: dns.address, port: dns.port }], Date.now);
  const settings = { nameServerPort: knot.port, privateNameServers: true };
  const nameServers = new NameServers(resolver, settings, Date.now);
  const zone = { name: 'customer.test', nameServers: ['ns1.customer.test'] };
  expect(
    await delegationOf(nameServers, zone, { projectId: 1n, signal: new AbortController().signal }),
  ).toMatchObject({
    parent: 'test',
    delegated: ['ns.old.test', 'ns1.customer.test'],
    own: ['ns1.customer.test'],
    lame: [],
  });
}, 300_000);
