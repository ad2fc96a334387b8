import { type Inspection, inspect } from '../../../src/domains/diagnosis/diagnose.js';
import type { Subject } from '../../../src/domains/diagnosis/observation.js';
import { NameServers } from '../../../src/domains/dns/name-servers.js';
import { Resolver } from '../../../src/domains/dns/resolver.js';
import { type DnsServerDouble, startDnsServer } from './dns-server.js';

export const NOON_MS = Date.UTC(2026, 0, 15, 12);
export const PLATFORM_HOST = 'petstore.test';

export interface DnsRig {
  /** The resolver with its cache. */
  dns: DnsServerDouble;
  /** The name servers of customer.test: ns1, ns2, … on 127.0.0.2, 127.0.0.3, … */
  nameServers: DnsServerDouble[];
  /** Sets a record at the resolver and at all name servers. */
  publish: DnsServerDouble['set'];
  inspect(hostname: string, more?: Partial<Subject>, signal?: AbortSignal): Promise<Inspection>;
  stop(): Promise<void>;
}

/** Starts inspections whose resolver knows petstore.test, and customer.test with the given number of name servers. */
export async function startDnsRig({ nameServers: count = 0, areAsked = true } = {}): Promise<DnsRig> {
  const dns = await startDnsServer();
  const nameServers = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      startDnsServer({ address: `127.0.0.${index + 2}`, port: dns.port }),
    ),
  );
  const names = nameServers.map(({ address }, index) => [`ns${index + 1}.customer.test`, address]);
  dns.zone('petstore.test');
  dns.set(PLATFORM_HOST, 'A', ['192.0.2.10', '192.0.2.11']);
  dns.set(PLATFORM_HOST, 'AAAA', '2001:db8::10');
  for (const server of [dns, ...nameServers]) server.zone('customer.test', Object.fromEntries(names));
  const now = () => NOON_MS;
  const resolver = new Resolver([{ address: dns.address, port: dns.port }], now);
  const settings = { nameServerPort: dns.port, privateNameServers: areAsked };
  const asked = new NameServers(resolver, settings, now);
  const parts = { resolver, nameServers: asked, platformHost: PLATFORM_HOST, now };
  return {
    dns,
    nameServers,
    publish: (...record) => {
      for (const server of [dns, ...nameServers]) server.set(...record);
    },
    inspect: (hostname, more = {}, signal = undefined) =>
      inspect(parts, { projectId: 1n, hostname, isApex: false, ownership: null, ...more }, signal),
    async stop() {
      await Promise.all([dns, ...nameServers].map((server) => server.stop()));
    },
  };
}
