import { afterEach, expect, test } from '@jest/globals';
import { type AttackedDomains, startAttackedDomains } from '../../support/attacks/attacked-domains.js';
import { type DnsServerDouble, framed, startDnsServer } from '../../support/dns/dns-server.js';
import { compressedFlood } from '../../support/dns/hostile-messages.js';

const NAME_SERVERS = 8;
const DOMAINS = 8;
const GOOD_WITHIN_MS = 2_000;
/** A blocked event loop delays the reads of a neighbour. */
const NEIGHBOUR_P99_MS = 250;

const open: { stop(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
});

/** Name servers whose answers are 64 KB of records that point to one name of 126 labels. */
async function startHostileZone({ dns }: AttackedDomains, zone: string): Promise<DnsServerDouble[]> {
  const servers = await Promise.all(
    Array.from({ length: NAME_SERVERS }, (_, index) =>
      startDnsServer({ address: `127.0.6.${index + 1}`, port: dns.port }),
    ),
  );
  open.push(...servers);
  const names = servers.map(({ address }, index) => [`ns${index + 1}.${zone}`, address]);
  dns.zone(zone, Object.fromEntries(names));
  for (const server of servers) {
    server.zone(zone, Object.fromEntries(names));
    server.fault({ hostile: (query, socket) => socket.write(framed(compressedFlood(query, 4_600))) });
  }
  return servers;
}

test('Attack-50: hostile name servers block neither the event loop nor the domains of other projects', async () => {
  const domains = await startAttackedDomains();
  open.push(domains);
  const { dns, attacked, newOwner } = domains;
  const servers = await startHostileZone(domains, 'hostile.test');
  const [attacker, neighbour] = [await newOwner(), await newOwner()];
  dns.zone('good.test');
  const good = await neighbour.add('shop.good.test');
  dns.set('shop.good.test', 'CNAME', 'petstore.test');
  const ids: string[] = [];
  for (let index = 0; index < DOMAINS; index += 1) {
    ids.push((await attacker.add(`shop-${index}.hostile.test`)).id);
  }
  attacked.neighbour.startOver();
  const attack = Promise.allSettled(ids.map((id) => attacker.verify(id)));
  let slowestMs = 0;
  for (let turn = 0; turn < 5; turn += 1) {
    const startedMs = performance.now();
    expect((await neighbour.verify(good.id)).status).not.toBe('DNS_FAILED');
    slowestMs = Math.max(slowestMs, performance.now() - startedMs);
  }
  const verdicts = await attack;
  expect(slowestMs).toBeLessThan(GOOD_WITHIN_MS);
  expect(attacked.neighbour.failures()).toEqual([]);
  expect(attacked.neighbour.p99Ms()).toBeLessThan(NEIGHBOUR_P99_MS);
  // The attack took place: name servers were asked over TCP.
  const overTcp = servers.flatMap(({ log }) => log.filter(({ protocol }) => protocol === 'tcp'));
  expect(overTcp.length).toBeGreaterThan(NAME_SERVERS);
  expect(verdicts.filter(({ status }) => status === 'rejected')).toEqual([]);
});
