import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, expect, test } from '@jest/globals';
import { type Asker, askServer } from '../../src/domains/dns/ask-server.js';
import { type Answer, DnsUnreachable, type Question } from '../../src/domains/dns/dns-message.js';
import { NameServers } from '../../src/domains/dns/name-servers.js';
import { isPrivateAddress } from '../../src/domains/dns/private-addresses.js';
import { Resolver } from '../../src/domains/dns/resolver.js';
import type { DnsServer } from '../../src/ground/config/config.js';
import { type DnsServerDouble, startDnsServer } from '../support/dns/dns-server.js';
import { inOwnTicks } from '../support/own-time.js';

const NOON_MS = Date.UTC(2026, 0, 15, 12);
const SHOP: Question = { name: 'shop.customer.test', type: 'A' };
const started: DnsServerDouble[] = [];

afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.stop()));
});

async function start(options: { address?: string; port?: number } = {}): Promise<DnsServerDouble> {
  const server = await startDnsServer(options);
  started.push(server);
  return server;
}

const askerUntil = (signal = new AbortController().signal): Asker => ({ projectId: 1n, signal });
interface More {
  timeoutMs?: number;
  asker?: Asker;
  monotonicNow?: () => number;
}
const ask = (server: DnsServer, question = SHOP, more: More = {}) =>
  askServer({ address: server.address, port: server.port }, question, {
    recursionDesired: true,
    timeoutMs: 1_000,
    asker: askerUntil(),
    now: () => NOON_MS,
    ...more,
  });
const resolver = (...servers: DnsServer[]) =>
  new Resolver(
    servers.map(({ address, port }) => ({ address, port })),
    () => NOON_MS,
  );
const reasonOf = async (asked: Promise<Answer>) => {
  const answer = await asked;
  return answer instanceof DnsUnreachable ? answer.reason : 'answered';
};

async function took(work: Promise<unknown>): Promise<number> {
  return (await inOwnTicks(() => work)).tookMs;
}

test('Dns-1: an answer has the CNAME chain, TTLs, lower-case names, its time and its server', async () => {
  const dns = await start();
  dns.set('shop.customer.test', 'CNAME', 'PetStore.Test', 120);
  dns.set('petstore.test', 'A', ['192.0.2.1', '192.0.2.2'], 60);
  expect(await ask(dns)).toEqual({
    server: { address: '127.0.0.1', port: dns.port },
    question: SHOP,
    rcode: 'NOERROR',
    isAuthoritative: false,
    records: [
      { name: 'shop.customer.test', type: 'CNAME', ttlSeconds: 120, value: 'petstore.test', caa: null },
      { name: 'petstore.test', type: 'A', ttlSeconds: 60, value: '192.0.2.1', caa: null },
      { name: 'petstore.test', type: 'A', ttlSeconds: 60, value: '192.0.2.2', caa: null },
    ],
    authority: [],
    glue: [],
    extendedError: null,
    atMs: NOON_MS,
  });
});

test('Dns-2: "no such record" and "no such name" differ, and both carry the SOA', async () => {
  const dns = await start();
  dns.zone('customer.test');
  dns.set('mail.shop.customer.test', 'TXT', 'x');
  expect(await ask(dns)).toMatchObject({
    rcode: 'NOERROR',
    records: [],
    authority: [{ name: 'customer.test', type: 'SOA' }],
  });
  const missing = await ask(dns, { name: 'no.customer.test', type: 'A' });
  expect(missing).toMatchObject({ rcode: 'NXDOMAIN', authority: [{ ttlSeconds: 300, type: 'SOA' }] });
});

test('Dns-3: records of every type are decoded', async () => {
  const dns = await start();
  dns.zone('customer.test', { 'ns1.customer.test': '127.0.0.2' });
  dns.set('customer.test', 'AAAA', '2001:DB8:0:0:0:0:0:1');
  dns.set('customer.test', 'TXT', `v=${'x'.repeat(300)}`);
  dns.set('customer.test', 'CAA', ['0 issue "ca.test; accounturi=https://ca.test/1"', '128 TBS "x"']);
  const values = async (type: Question['type']) => (await ask(dns, { name: 'customer.test', type })).records;
  expect(await values('AAAA')).toMatchObject([{ value: '2001:db8::1' }]);
  expect(await values('TXT')).toMatchObject([{ value: `v=${'x'.repeat(300)}` }]);
  expect(await values('NS')).toMatchObject([{ value: 'ns1.customer.test' }]);
  expect(await values('SOA')).toMatchObject([
    { value: 'ns1.customer.test hostmaster.customer.test 1 7200 3600 1209600 300' },
  ]);
  expect(await values('CAA')).toMatchObject([
    { caa: { isCritical: false, tag: 'issue', value: 'ca.test; accounturi=https://ca.test/1' } },
    { caa: { isCritical: true, tag: 'tbs', value: 'x' } },
  ]);
});

test('Dns-4: an answer that does not fit into a datagram is fetched by TCP', async () => {
  const dns = await start();
  dns.set(
    'shop.customer.test',
    'TXT',
    Array.from({ length: 40 }, (_, index) => `${index}${'x'.repeat(90)}`),
  );
  const { records } = await ask(dns, { name: 'shop.customer.test', type: 'TXT' });
  expect(records).toHaveLength(40);
  expect(dns.log.map(({ protocol }) => protocol)).toEqual(['udp', 'tcp']);
});

test('Dns-5: a lost packet is sent again', async () => {
  const dns = await start();
  dns.set('shop.customer.test', 'A', '192.0.2.1');
  dns.fault({ dropFirst: 1 });
  expect((await ask(dns)).records).toHaveLength(1);
  expect(dns.log).toHaveLength(2);
});

test.each(['wrong id', 'wrong question', 'drop'] as const)(
  'Dns-6: %s: the packet is ignored, and the wait ends in time',
  async (fault) => {
    const dns = await start();
    dns.set('shop.customer.test', 'A', '192.0.2.1');
    dns.fault(fault);
    expect(await reasonOf(ask(dns, SHOP, { timeoutMs: 150 }))).toBe('timeout');
    expect(await took(ask(dns, SHOP, { timeoutMs: 150 }))).toBeLessThan(400);
  },
);

test('Dns-13: an undecodable datagram and a closed port are failures to ask, each with its reason', async () => {
  const dns = await start();
  dns.fault('garbage');
  expect(await reasonOf(ask(dns))).toBe('malformed');
  const closed = createSocket('udp4').bind(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address();
  closed.close();
  expect(await reasonOf(ask({ address: '127.0.0.1', port }))).toBe('unreachable');
  // A broadcast address: the system refuses to send.
  expect(await reasonOf(ask({ address: '255.255.255.255', port: 53 }))).toBe('unreachable');
});

test('Dns-14: TCP that hangs or is cut off ends in time', async () => {
  const dns = await start();
  dns.fault('truncate');
  dns.fault({ delayMs: 5_000 }, { type: 'TXT' });
  dns.set('shop.customer.test', 'A', '192.0.2.1');
  expect((await ask(dns)).records).toHaveLength(1);
  expect(await took(ask(dns, { name: 'x.test', type: 'TXT' }, { timeoutMs: 150 }))).toBeLessThan(400);
});

test('Dns-15: a name that fits no packet is not asked for', async () => {
  const dns = await start();
  for (const name of ['a..b', `${'x'.repeat(64)}.test`, `${'x.'.repeat(130)}test`, 'a b.test']) {
    expect(await reasonOf(ask(dns, { name, type: 'A' }))).toBe('malformed');
  }
  expect(dns.log).toEqual([]);
});

test('Dns-7: an aborted question ends at once, and no socket stays open', async () => {
  const dns = await start();
  dns.fault('drop');
  const giveUp = new AbortController();
  const asked = took(resolver(dns).ask(SHOP, { asker: askerUntil(giveUp.signal) }));
  setTimeout(() => giveUp.abort(), 30);
  expect(await asked).toBeLessThan(200);
  expect(await took(ask(dns, SHOP, { asker: askerUntil(AbortSignal.abort()) }))).toBeLessThan(100);
});

test('Dns-8: SERVFAIL, REFUSED and NOTIMP are answers, and the extended error is quoted', async () => {
  const dns = await start();
  for (const fault of ['servfail', 'refused', 'notimp', 'formerr'] as const) {
    dns.fault(fault);
    expect((await ask(dns)).rcode).toBe(fault.toUpperCase());
  }
  dns.heal();
  dns.fault('bogus');
  dns.set('shop.customer.test', 'A', '192.0.2.1');
  expect(await resolver(dns).ask(SHOP)).toMatchObject({
    rcode: 'SERVFAIL',
    extendedError: { code: 9, text: 'DNSKEY Missing: no SEP matching the DS found' },
  });
  expect(await resolver(dns).ask(SHOP, { checkingDisabled: true })).toMatchObject({
    rcode: 'NOERROR',
    records: [{ value: '192.0.2.1' }],
  });
});

test('Dns-16: a server without EDNS is asked again without EDNS', async () => {
  const dns = await start();
  dns.set('shop.customer.test', 'A', '192.0.2.1');
  dns.fault('no edns');
  expect((await ask(dns)).records).toHaveLength(1);
});

test('Dns-9: when a resolver fails or is silent the next resolver is asked; NXDOMAIN is final', async () => {
  const first = await start();
  const second = await start();
  second.set('shop.customer.test', 'A', '192.0.2.1');
  const both = resolver(first, second);
  expect((await both.ask(SHOP)).rcode).toBe('NXDOMAIN');
  expect(second.log).toEqual([]);
  for (const fault of ['servfail', 'refused', 'garbage', 'drop'] as const) {
    first.fault(fault);
    expect((await both.ask(SHOP)).server.port).toBe(second.port);
  }
  second.fault('servfail');
  first.fault('refused');
  expect(await both.ask(SHOP)).toMatchObject({ rcode: 'REFUSED', server: { port: first.port } });
  second.fault('drop');
  first.fault('drop');
  expect(await reasonOf(both.ask(SHOP))).toBe('timeout');
  expect(await took(both.ask(SHOP))).toBeLessThan(1_300);
});

test('Dns-10: the resolver is asked with recursion, name servers without', async () => {
  const dns = await start();
  const ns1 = await start({ address: '127.0.0.2', port: dns.port });
  const ns2 = await start({ address: '127.0.0.3', port: dns.port });
  const names = { 'ns1.customer.test': ns1.address, 'ns2.customer.test': ns2.address };
  for (const server of [dns, ns1, ns2]) server.zone('customer.test', names);
  ns1.set('shop.customer.test', 'A', '192.0.2.1');
  const nameServers = new NameServers(
    resolver(dns),
    { nameServerPort: dns.port, privateNameServers: true },
    () => NOON_MS,
  );
  const { zone, isApex } = await nameServers.cutOf('shop.customer.test');
  expect({ zone, isApex }).toEqual({
    zone: { name: 'customer.test', nameServers: ['ns1.customer.test', 'ns2.customer.test'] },
    isApex: false,
  });
  const found = zone ? await nameServers.serversOf(zone) : [];
  const answers = await Promise.all(found.map((server) => nameServers.ask(server, SHOP, askerUntil())));
  expect(answers).toMatchObject([
    { server: { address: '127.0.0.2' }, rcode: 'NOERROR', isAuthoritative: true },
    { server: { address: '127.0.0.3' }, rcode: 'NXDOMAIN', isAuthoritative: true },
  ]);
  expect(ns1.log).toMatchObject([{ recursionDesired: false }]);
  expect(dns.log.every(({ recursionDesired }) => recursionDesired)).toBe(true);
});

test('Dns-17: a zone begins at its SOA, not at the target of a CNAME; without an SOA the zone is unknown', async () => {
  const dns = await start();
  const cutOf = (name: string) =>
    new NameServers(resolver(dns), { nameServerPort: 53, privateNameServers: false }, () => NOON_MS).cutOf(
      name,
    );
  dns.zone('customer.test');
  dns.zone('sub.customer.test');
  dns.zone('elsewhere.test');
  dns.set('shop.sub.customer.test', 'CNAME', 'elsewhere.test');
  expect(await cutOf('sub.customer.test')).toMatchObject({
    isApex: true,
    zone: { name: 'sub.customer.test' },
  });
  expect(await cutOf('shop.sub.customer.test')).toMatchObject({
    isApex: false,
    zone: { name: 'sub.customer.test' },
  });
  expect(await cutOf('a.b.c.d.e.f.g.h.customer.test')).toMatchObject({
    isApex: false,
    zone: { name: 'customer.test' },
  });
  for (const fault of ['notimp', 'refused', 'drop'] as const) {
    dns.fault(fault, { type: 'SOA' });
    expect(await cutOf('shop.customer.test')).toEqual({ isApex: null, zone: null, isUnsure: true });
  }
});

test('Dns-11: name servers on private addresses are skipped unless the settings allow them', async () => {
  const dns = await start();
  dns.zone('customer.test', {
    'ns1.customer.test': '127.0.0.2',
    'ns2.customer.test': '10.0.0.1',
    'ns3.customer.test': '::1',
  });
  const serversOf = async (privateNameServers: boolean) => {
    const nameServers = new NameServers(
      resolver(dns),
      { nameServerPort: 53, privateNameServers },
      () => NOON_MS,
    );
    const { zone } = await nameServers.cutOf('customer.test');
    return zone ? nameServers.serversOf(zone) : [];
  };
  expect(await serversOf(false)).toEqual([]);
  expect((await serversOf(true)).map(({ server }) => server.address)).toEqual([
    '127.0.0.2',
    '10.0.0.1',
    '::1',
  ]);
});

test('Dns-18: private, loopback, link-local, multicast and reserved addresses are recognised in every form', () => {
  const inside =
    '10.1.2.3 127.0.0.1 169.254.169.254 172.31.0.1 192.168.1.1 100.64.0.1 0.0.0.0 224.0.0.1 255.255.255.255 192.0.2.1 ::1 :: fe80::1 fd00::1 ff02::1 ::ffff:10.0.0.1 ::ffff:8.8.8.8 64:ff9b::a00:1 2002:a00:1::1 2001:db8::1 nonsense';
  const outside = '8.8.8.8 9.9.9.9 172.32.0.1 100.128.0.1 2620:fe::fe 2606:4700::1111 2a00:1450::1';
  expect(inside.split(' ').filter((ip) => !isPrivateAddress(ip))).toEqual([]);
  expect(outside.split(' ').filter(isPrivateAddress)).toEqual([]);
});

test('Dns-12: many questions at once each get their own answer', async () => {
  const dns = await start();
  const names = Array.from({ length: 200 }, (_, index) => `n${index}.customer.test`);
  names.forEach((name, index) => {
    dns.set(name, 'A', `192.0.2.${index}`);
  });
  const answers = await Promise.all(names.map((name) => resolver(dns).ask({ name, type: 'A' })));
  expect(answers.map(({ records }) => records[0]?.value)).toEqual(
    names.map((_, index) => `192.0.2.${index}`),
  );
});
