import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { inspect } from '../../../src/domains/diagnosis/diagnose.js';
import { EXCHANGES } from '../../../src/domains/dns/ask-server.js';
import { NameServers } from '../../../src/domains/dns/name-servers.js';
import { Resolver } from '../../../src/domains/dns/resolver.js';
import { Tally } from '../../../src/domains/dns/tally.js';
import { Domain } from '../../../src/domains/store/domain.entity.js';
import { type DnsServerDouble, startDnsServer } from '../../support/dns/dns-server.js';
import { ownerOf, PLATFORM_HOST, publishedTenant } from '../../support/domains/domain-rig.js';
import { eventually } from '../../support/eventually.js';
import { startApp, type TestApp } from '../../support/start-app.js';

const MINUTE_MS = 60_000;
const BACKGROUND = 6_000;
const OWNERS = 9_000;

let dns: DnsServerDouble;
let app: TestApp;
beforeAll(async () => {
  dns = await startDnsServer();
  dns.zone(PLATFORM_HOST);
  dns.set(PLATFORM_HOST, 'A', '192.0.2.10');
  dns.zone('customer.test');
  app = await startApp({ env: { PLATFORM_HOST, DNS_SERVERS: dns.hostPort } });
});
afterAll(async () => {
  await app?.stop();
  await dns?.stop();
});

async function attachedBy(hostname: string) {
  const tenant = await publishedTenant(app);
  const owner = ownerOf(app, tenant);
  const { id } = await owner.add(hostname);
  const checkedAtMs = async () =>
    (await app.db.repository(Domain).findOneByOrFail({ id: BigInt(id) })).checkedAtMs;
  return { tenant, verify: () => owner.verify(id), checkedAtMs };
}

function spend({ projectId }: { projectId: bigint }, exchanges: number): void {
  while (EXCHANGES.add(projectId) < exchanges);
}

test('Attack-51: the DNS checks of a project that has spent its exchanges wait, those of others do not', async () => {
  const busy = await attachedBy('busy.customer.test');
  const other = await attachedBy('other.customer.test');
  spend(busy.tenant, BACKGROUND);
  app.clock.now += MINUTE_MS;
  await eventually('the other domain is checked', async () => (await other.checkedAtMs()) !== null);
  expect(await busy.checkedAtMs()).toBeNull();
  // The owner may still ask.
  expect((await busy.verify()).checkedAt).not.toBeNull();
  spend(busy.tenant, OWNERS);
  const refused = await busy.verify().catch((error) => error);
  expect(refused).toMatchObject({ code: 'UNAVAILABLE' });
  expect(refused.retryAfterSeconds).toBeGreaterThan(50);
  expect(refused.retryAfterSeconds).toBeLessThanOrEqual(60);
  expect((await other.verify()).checkedAt).not.toBeNull();
});

test('Attack-52: a DNS check counts its questions over UDP and over TCP', async () => {
  const { tenant, verify } = await attachedBy('counted.customer.test');
  const known = EXCHANGES.add(tenant.projectId);
  dns.log.splice(0);
  dns.fault('truncate', { name: 'counted.customer.test' });
  await verify();
  dns.heal();
  expect(dns.log.some(({ protocol }) => protocol === 'tcp')).toBe(true);
  expect(EXCHANGES.add(tenant.projectId) - known - 1).toBe(dns.log.length);
});

test('Attack-53: a count begins anew when its window ends, and says when', () => {
  const clock = { ms: 1_000 };
  const tally = new Tally<string>(MINUTE_MS, () => clock.ms);
  expect([tally.add('a'), tally.add('a'), tally.add('b')]).toEqual([1, 2, 1]);
  clock.ms = 60_000;
  expect(tally.atLeast(2)).toEqual(['a']);
  expect(tally.leftMs('a')).toBe(1_000);
  clock.ms = 61_001;
  expect(tally.atLeast(1)).toEqual([]);
  expect(tally.add('a')).toBe(1);
});

test('Attack-54: a zone with 100 name servers costs a bounded number of questions, few of them to any one address', async () => {
  const port = dns.port;
  const servers = await Promise.all(
    Array.from({ length: 4 }, (_, index) => startDnsServer({ address: `127.0.7.${index + 1}`, port })),
  );
  const now = () => app.clock.now;
  const resolver = new Resolver([{ address: dns.address, port }], now);
  const settings = { nameServerPort: port, privateNameServers: true };
  const nameServers = new NameServers(resolver, settings, now);
  const parts = { resolver, nameServers, platformHost: PLATFORM_HOST, now };
  const names = Array.from({ length: 100 }, (_, index) => [`ns${index}.elsewhere.test`, null] as const);
  dns.zone('many.test', Object.fromEntries(names));
  // The names lead to four machines, which are not the attacker's.
  for (const [index, [name]] of names.entries()) dns.set(name, 'A', `127.0.7.${1 + (index % 4)}`);
  dns.log.splice(0);
  await inspect(parts, { projectId: 1n, hostname: 'shop.many.test', isApex: false, ownership: null });
  expect(dns.log.length).toBeLessThan(80);
  for (const { log } of servers) {
    expect(log.length).toBeGreaterThan(0);
    expect(log.length).toBeLessThanOrEqual(6);
  }
  await Promise.all(servers.map((server) => server.stop()));
});
