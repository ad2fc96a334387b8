import { afterEach, expect, test } from '@jest/globals';
import { type AttackedDomains, startAttackedDomains } from '../../support/attacks/attacked-domains.js';
import { type DnsServerDouble, framed, startDnsServer } from '../../support/dns/dns-server.js';
import { compressedFlood } from '../../support/dns/hostile-messages.js';

const NAME_SERVERS = 8;
const DOMAINS = 8;
/** An owner may verify 60 times a minute. */
const MOST_ROUNDS = 7;
const GOOD_WITHIN_MS = 2_000;
const ANSWERS = 100;
/**
 * Processor time of the gateway for each hostile answer, with all else that a check does. It says nothing about the bounds of a
 * message, which Dns-20 keeps: most of these answers come after the end of their check, and are not decoded.
 */
const ANSWER_MS = 30;

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

test('Attack-50: hostile name servers cost milliseconds, and delay no domain of another project', async () => {
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
  const usedBeforeMs = await attacked.processorMs();
  const overTcp = () => servers.flatMap(({ log }) => log.filter(({ protocol }) => protocol === 'tcp')).length;
  let rounds = 0;
  const attack = (async () => {
    // On a busy machine the first checks may end before their answers.
    while (overTcp() < ANSWERS && rounds < MOST_ROUNDS) {
      rounds += 1;
      await Promise.all(ids.map((id) => attacker.verify(id)));
    }
  })();
  let slowestMs = 0;
  for (let turn = 0; turn < 5; turn += 1) {
    const startedMs = performance.now();
    expect((await neighbour.verify(good.id)).status).not.toBe('DNS_FAILED');
    slowestMs = Math.max(slowestMs, performance.now() - startedMs);
  }
  await attack;
  expect(slowestMs).toBeLessThan(GOOD_WITHIN_MS);
  expect(attacked.neighbour.failures()).toEqual([]);
  const usedMs = (await attacked.processorMs()) - usedBeforeMs;
  expect(overTcp()).toBeGreaterThanOrEqual(ANSWERS);
  expect(usedMs / overTcp()).toBeLessThan(ANSWER_MS);
});
