import { afterEach, describe, expect, test } from '@jest/globals';
import type { Inspection } from '../../../src/domains/diagnosis/diagnose.js';
import { type DnsRig, PLATFORM_HOST, startDnsRig } from '../../support/dns/dns-rig.js';
import { type DnsServerDouble, startDnsServer } from '../../support/dns/dns-server.js';

// Scripted servers give the answers that real servers gave. The servers themselves are in the full tier.

const SHOP = 'shop.customer.test';
const APEX = 'customer.test';
const OURS = '192.0.2.10';
const PROOF = { name: `_petstore-verify.${SHOP}`, value: 'petstore-verify=abc' };
const open: { stop(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.stop()));
});

async function start(options?: Parameters<typeof startDnsRig>[0]): Promise<DnsRig> {
  const rig = await startDnsRig(options);
  open.push(rig);
  return rig;
}

/** Starts the name server of the zone test, which delegates customer.test to ns1.customer.test with its address. */
async function startRegistry({ dns }: DnsRig): Promise<DnsServerDouble> {
  const registry = await startDnsServer({ address: '127.0.0.9', port: dns.port });
  open.push(registry);
  for (const server of [dns, registry]) server.zone('test', { 'a.nic.test': '127.0.0.9' });
  registry.set(APEX, 'NS', 'ns1.customer.test');
  registry.set('ns1.customer.test', 'A', '127.0.0.2');
  return registry;
}

const codes = ({ diagnoses }: Inspection) => diagnoses.map(({ code }) => code);
const found = ({ diagnoses }: Inspection, code: string) => diagnoses.find((one) => one.code === code);
const answers = ({ diagnoses }: Inspection) =>
  diagnoses.flatMap(({ evidence }) => evidence.map(({ question, answer }) => `${question}: ${answer}`));

describe('a proof that must not end the name', () => {
  test('Domains-DNS-61: a name that only a wildcard leads here needs its own record before the TXT record', async () => {
    const { inspect, publish, dns } = await start();
    dns.set('*.customer.test', 'CNAME', PLATFORM_HOST);
    const before = await inspect(SHOP, { ownership: PROOF });
    expect(before).toMatchObject({ leadsHere: true, isOwnershipProved: false });
    expect(codes(before)).toEqual(['OWNERSHIP_TXT_MISSING', 'DNS_NO_RECORD', 'WILDCARD_DNS']);
    expect(before.diagnoses[0]?.remedy).toBe(
      `First add a CNAME record: name ${SHOP}, value ${PLATFORM_HOST}, TTL 3600. Then add exactly this TXT record: name ${PROOF.name} (not ${SHOP}), value ${PROOF.value}.`,
    );
    expect(before.diagnoses[1]).toMatchObject({
      severity: 'WARNING',
      actor: 'OWNER',
      cause: expect.stringContaining('(RFC 4592)'),
    });
    // The TXT record alone: the wildcard no longer covers the name.
    publish(PROOF.name, 'TXT', PROOF.value);
    expect(await inspect(SHOP, { ownership: PROOF })).toMatchObject({
      leadsHere: false,
      isOwnershipProved: true,
    });
    publish(SHOP, 'CNAME', PLATFORM_HOST);
    const after = await inspect(SHOP, { ownership: PROOF });
    expect(after).toMatchObject({ leadsHere: true, isOwnershipProved: true });
    expect(codes(after)).toEqual(['WILDCARD_DNS']);
  });

  test('Domains-DNS-62: a name with its own record beside a wildcard needs the TXT record only', async () => {
    const { inspect, dns } = await start();
    dns.set('*.customer.test', 'A', OURS);
    dns.set(SHOP, 'CNAME', PLATFORM_HOST);
    const seen = await inspect(SHOP, { ownership: PROOF });
    expect(codes(seen)).toEqual(['OWNERSHIP_TXT_MISSING', 'WILDCARD_DNS']);
    expect(seen.diagnoses[0]?.remedy).toMatch(/^Add exactly this TXT record/);
  });

  test('Domains-DNS-63: below a DNAME no record can stand, so the DNAME goes first', async () => {
    const { inspect, dns } = await start();
    dns.set('sub.customer.test', 'DNAME', 'test');
    const host = 'petstore.sub.customer.test';
    const ownership = { name: `_petstore-verify.${host}`, value: PROOF.value };
    expect(await inspect(host)).toMatchObject({ leadsHere: true, diagnoses: [] });
    const seen = await inspect(host, { ownership });
    expect(seen).toMatchObject({ leadsHere: true, isOwnershipProved: false });
    const instead = `Remove the DNAME record of sub.customer.test, then add a CNAME record: name ${host}, value ${PLATFORM_HOST}, TTL 3600; or add a name here that is not below sub.customer.test.`;
    expect(found(seen, 'DNS_NO_RECORD')).toMatchObject({ severity: 'WARNING', remedy: instead });
    expect(found(seen, 'OWNERSHIP_TXT_MISSING')?.remedy).toMatch(
      /^First remove the DNAME record of .* Then add/,
    );
    dns.set('sub.customer.test', 'DNAME', 'gone.test');
    const [wrong] = (await inspect(host)).diagnoses;
    expect(wrong).toMatchObject({ code: 'CNAME_WRONG_VALUE', remedy: instead });
    expect(wrong?.cause).toMatch(/^The DNAME record of sub\.customer\.test leads the name to/);
  });
});

describe('a proof beside wildcards', () => {
  test('Domains-DNS-82: a wildcard below a name with its own record is not taken for that record', async () => {
    const { inspect, publish, dns } = await start({ nameServers: 1 });
    publish(APEX, 'A', OURS);
    publish('*.customer.test', 'CNAME', PLATFORM_HOST);
    const apex = await inspect(APEX, { ownership: { ...PROOF, name: `_petstore-verify.${APEX}` } });
    expect(apex).toMatchObject({ leadsHere: true, isApex: true, isOwnershipProved: false });
    expect(codes(apex)).toEqual(['OWNERSHIP_TXT_MISSING', 'WILDCARD_DNS']);
    expect(apex.diagnoses[0]?.remedy).toMatch(/^Add exactly this TXT record/);
    dns.remove('*.customer.test');
    publish(SHOP, 'CNAME', PLATFORM_HOST);
    publish(`*.${SHOP}`, 'CNAME', PLATFORM_HOST);
    const shop = await inspect(SHOP, { ownership: PROOF });
    expect(shop).toMatchObject({ leadsHere: true, isOwnershipProved: false });
    expect(codes(shop)).toEqual(['OWNERSHIP_TXT_MISSING']);
    expect(shop.diagnoses[0]?.remedy).toMatch(/^Add exactly this TXT record/);
  });

  test.each([0, 1])(
    'Domains-DNS-83: a TXT record that only a wildcard gives is not there to be replaced (%d name servers)',
    async (nameServers) => {
      const { inspect, publish, dns } = await start({ nameServers });
      const expectMissing = async (hostname: string) => {
        const ownership = { name: `_petstore-verify.${hostname}`, value: PROOF.value };
        const missing = found(await inspect(hostname, { ownership }), 'OWNERSHIP_TXT_MISSING');
        const cause = `There is no TXT record at ${ownership.name}: a wildcard or DNAME record answers for it.`;
        expect(missing).toMatchObject({ cause, remedy: expect.stringMatching(/dd exactly this TXT record/) });
      };
      dns.set(PLATFORM_HOST, 'TXT', 'v=spf1 -all');
      publish('*.customer.test', 'CNAME', PLATFORM_HOST);
      await expectMissing(SHOP);
      for (const wild of ['*.customer.test', `*.${SHOP}`]) publish(wild, 'TXT', 'v=spf1 -all');
      publish('*.customer.test', 'CNAME', []);
      await expectMissing(APEX);
      await expectMissing(SHOP);
      publish(SHOP, 'CNAME', PLATFORM_HOST);
      await expectMissing(SHOP);
      publish(PROOF.name, 'TXT', 'old');
      expect(found(await inspect(SHOP, { ownership: PROOF }), 'OWNERSHIP_TXT_MISMATCH')).toMatchObject({
        cause: `The TXT record at ${PROOF.name} has another value: "old".`,
        remedy: `Replace its value with ${PROOF.value}.`,
      });
    },
  );
});

describe('DNSSEC', () => {
  test.each([1, 2])(
    'Domains-DNS-64: %d SERVFAIL for a question that is answered later are no finding',
    async (times) => {
      const { inspect, publish, dns } = await start({ nameServers: 1 });
      publish(APEX, 'A', OURS);
      dns.fault({ failFirst: times }, { name: APEX, type: 'AAAA' });
      const { leadsHere, diagnoses } = await inspect(APEX);
      expect(leadsHere).toBe(true);
      expect(diagnoses.filter(({ severity }) => severity === 'ERROR')).toEqual([]);
      expect(diagnoses.map(({ code }) => code)).not.toContain('DNSSEC_BROKEN');
    },
  );

  test('Domains-DNS-65: an unsigned zone is never broken by DNSSEC, and its name server decides', async () => {
    const { inspect, publish, dns } = await start({ nameServers: 1 });
    publish(APEX, 'A', OURS);
    for (const code of [undefined, 22, 9]) {
      dns.heal();
      const error = code === undefined ? {} : { code };
      dns.fault({ says: 'SERVFAIL', isBogus: true, ...error }, { name: APEX, type: 'AAAA' });
      const seen = await inspect(APEX);
      expect(seen.leadsHere).toBe(true);
      expect(seen.diagnoses).toMatchObject([{ code: 'NAMESERVER_FAILING', severity: 'WARNING' }]);
    }
  });

  test('Domains-DNS-66: a DS record, or an extended error about DNSSEC while the DS is unknown, decides', async () => {
    const { inspect, dns } = await start();
    dns.set(SHOP, 'CNAME', PLATFORM_HOST);
    const isBroken = async (code?: number) => {
      dns.heal();
      dns.fault('servfail', { type: 'DS' });
      dns.fault({ says: 'SERVFAIL', isBogus: true, ...(code ? { code } : {}) }, { name: SHOP });
      return codes(await inspect(SHOP)).includes('DNSSEC_BROKEN');
    };
    expect([await isBroken(), await isBroken(22), await isBroken(6)]).toEqual([false, false, true]);
    dns.heal();
    dns.set(APEX, 'DS', '4711 13 2');
    dns.fault({ says: 'SERVFAIL', isBogus: true }, { name: SHOP });
    expect(codes(await inspect(SHOP))).toEqual(['DNSSEC_BROKEN']);
  });

  /** A signed zone behind a resolver that takes longer than the inspection. */
  const startSlowly = async (signedUntil: string) => {
    const { inspect, publish, dns } = await start({ nameServers: 1 });
    publish(SHOP, 'CNAME', PLATFORM_HOST);
    dns.set(APEX, 'DS', '4711 13 2');
    dns.set(SHOP, 'RRSIG', `CNAME ${signedUntil}`);
    for (const type of ['CNAME', 'A', 'AAAA'] as const) {
      dns.fault({ delayMs: 2_000, isQuickUnchecked: true }, { name: SHOP, type });
    }
    return { inspect, dns };
  };

  test('Domains-DNS-67: a broken chain is found behind a resolver that takes longer than the inspection', async () => {
    const { inspect, dns } = await startSlowly('2026-01-10T00:00:00Z');
    const seen = await inspect(SHOP);
    expect(seen.leadsHere).toBe(false);
    expect(codes(seen)).toEqual(['DNSSEC_BROKEN']);
    expect(answers(seen)).toContain(`${SHOP} A: timeout`);
    // The same silence in an unsigned zone says nothing, and the name server decides.
    dns.remove(APEX, 'DS');
    expect(await inspect(SHOP)).toMatchObject({ leadsHere: true, diagnoses: [] });
  });

  test('Domains-DNS-81: while signatures are valid, the silence of a resolver is no broken chain, but its failure is', async () => {
    const { inspect, dns } = await startSlowly('2026-02-01T00:00:00Z');
    expect(await inspect(SHOP)).toMatchObject({ leadsHere: true, diagnoses: [] });
    dns.fault({ says: 'SERVFAIL', isBogus: true }, { name: SHOP, type: 'A' });
    const failed = await inspect(SHOP);
    expect(failed.leadsHere).toBe(false);
    expect(codes(failed)).toEqual(['DNSSEC_BROKEN']);
  });

  const broken = async (code: number, signedUntil: string | null) => {
    const { inspect, dns } = await start();
    dns.set(SHOP, 'A', OURS);
    dns.set(APEX, 'DS', '4711 13 2');
    if (signedUntil) dns.set(SHOP, 'RRSIG', `A ${signedUntil}`);
    dns.fault({ says: 'SERVFAIL', code, isBogus: true }, { name: SHOP });
    return inspect(SHOP);
  };

  test('Domains-DNS-68: expired signatures are the DNS provider’s, whatever code the resolver gives', async () => {
    for (const code of [6, 7, 9]) {
      const { diagnoses } = await broken(code, '2026-01-10T00:00:00Z');
      expect(diagnoses).toMatchObject([
        {
          code: 'DNSSEC_BROKEN',
          actor: 'DNS_PROVIDER',
          cause: 'The DNSSEC signatures of customer.test expired on 2026-01-10.',
          remedy: 'Ask your DNS provider to sign customer.test again.',
        },
      ]);
    }
    expect((await broken(7, null)).diagnoses).toMatchObject([{ actor: 'DNS_PROVIDER' }]);
    // Valid signatures leave both possible: the DS record is looked at first, because the owner can.
    expect((await broken(9, '2026-02-10T00:00:00Z')).diagnoses).toMatchObject([
      {
        actor: 'OWNER',
        remedy: expect.stringMatching(/DS record .* at your registrar; if it is right, ask/),
      },
    ]);
  });

  test('Domains-DNS-69: unsigned addresses in a signed zone whose other answers are valid are an ALIAS', async () => {
    const { inspect, publish, dns } = await start({ nameServers: 1 });
    publish(APEX, 'A', OURS);
    dns.set(APEX, 'DS', '4711 13 2');
    for (const type of ['A', 'AAAA'] as const) {
      dns.fault({ says: 'SERVFAIL', code: 10, isBogus: true }, { name: APEX, type });
    }
    const { leadsHere, diagnoses } = await inspect(APEX);
    expect(leadsHere).toBe(false);
    expect(diagnoses).toMatchObject([
      {
        code: 'DNSSEC_BROKEN',
        actor: 'DNS_PROVIDER',
        cause:
          'The addresses of customer.test fail DNSSEC validation (a resolver says: RRSIGs Missing), its other answers do not: its ALIAS or ANAME is probably not signed.',
      },
    ]);
    expect(diagnoses[0]?.remedy).not.toMatch('DS');
  });
});

describe('name servers that fail', () => {
  test('Domains-DNS-70: an ALIAS whose target does not exist is for the owner to correct', async () => {
    const { inspect, dns, nameServers } = await start({ nameServers: 1 });
    for (const type of ['A', 'AAAA'] as const) {
      dns.fault('servfail', { name: APEX, type });
      nameServers[0]?.fault({ says: 'SERVFAIL', isAuthoritative: true }, { name: APEX, type });
    }
    const seen = await inspect(APEX);
    expect(seen.leadsHere).toBeNull();
    expect(seen.diagnoses).toMatchObject([
      {
        code: 'TARGET_GONE',
        severity: 'ERROR',
        actor: 'OWNER',
        remedy: 'Set the value of the ALIAS or ANAME record to petstore.test.',
      },
    ]);
    // Without authority it is not the server's own data that fails.
    for (const type of ['A', 'AAAA'] as const) nameServers[0]?.fault('servfail', { name: APEX, type });
    expect((await inspect(APEX)).diagnoses).toMatchObject([{ code: 'NAMESERVER_FAILING' }]);
  });

  test('Domains-DNS-71: a zone that names no server of its own is asked at the servers of its delegation', async () => {
    const rig = await start({ nameServers: 1 });
    await startRegistry(rig);
    for (const server of [rig.dns, ...rig.nameServers]) server.remove(APEX, 'NS');
    rig.publish(APEX, 'CNAME', PLATFORM_HOST);
    for (const hostname of [APEX, SHOP]) {
      const seen = await rig.inspect(hostname, { isApex: hostname === APEX });
      const [first] = seen.diagnoses;
      expect(first?.code).toBe(hostname === APEX ? 'APEX_NEEDS_ALIAS' : 'DNS_NO_RECORD');
      expect(first?.evidence[0]?.server).toMatch(/^127\.0\.0\.2:/);
      expect(JSON.stringify(seen.diagnoses)).not.toMatch(/names \.|: ,/);
    }
  });

  test.each([
    { says: 'SERVFAIL', code: 14, text: 'Zone is configured but not loaded' },
    { says: 'REFUSED', code: 20 },
  ] as const)(
    'Domains-DNS-72: when all servers fail, they are asked directly and their own reason is told: %j',
    async (fault) => {
      const rig = await start({ nameServers: 1 });
      await startRegistry(rig);
      for (const name of [SHOP, APEX, PROOF.name]) rig.dns.fault('servfail', { name });
      rig.nameServers[0]?.fault(fault);
      const seen = await rig.inspect(SHOP, { ownership: PROOF });
      expect(seen).toMatchObject({ leadsHere: null, isOwnershipProved: null, proofs: [] });
      const reason = fault.says === 'SERVFAIL' ? `Not Ready: ${fault.text}` : 'Not Authoritative';
      expect(seen.diagnoses).toMatchObject([
        {
          code: 'NAMESERVER_FAILING',
          severity: 'ERROR',
          cause: `1 of 1 name servers of customer.test (ns1.customer.test) answer CNAME questions with ${fault.says} (${reason}).`,
        },
      ]);
      expect(seen.diagnoses[0]?.evidence[0]?.server).toMatch(/^127\.0\.0\.2:/);
    },
  );

  test('Domains-DNS-73: servers of the delegation that do not answer at all are named too', async () => {
    const rig = await start({ nameServers: 1 });
    await startRegistry(rig);
    for (const name of [SHOP, APEX]) rig.dns.fault('servfail', { name });
    rig.nameServers[0]?.fault('drop');
    expect((await rig.inspect(SHOP)).diagnoses).toMatchObject([
      {
        code: 'NAMESERVER_FAILING',
        cause:
          'The name servers of customer.test (ns1.customer.test) do not answer, and a resolver says SERVFAIL.',
      },
    ]);
  });

  test('Domains-DNS-74: no proof counts that only servers of an unvalidated delegation have', async () => {
    const rig = await start({ nameServers: 1 });
    await startRegistry(rig);
    for (const name of [APEX, SHOP, PROOF.name]) rig.dns.fault('servfail', { name });
    rig.nameServers[0]?.set(PROOF.name, 'TXT', PROOF.value);
    rig.nameServers[0]?.set(SHOP, 'CNAME', PLATFORM_HOST);
    const seen = await rig.inspect(SHOP, { ownership: PROOF });
    expect(seen).toMatchObject({ leadsHere: true, isOwnershipProved: null, proofs: [] });
  });

  test('Domains-DNS-75: a name server that fails at a loop of CNAMEs is no second finding', async () => {
    const { inspect, publish, nameServers } = await start({ nameServers: 1 });
    publish(SHOP, 'CNAME', 'a.customer.test');
    publish('a.customer.test', 'CNAME', SHOP);
    for (const type of ['A', 'AAAA'] as const) {
      nameServers[0]?.fault({ says: 'SERVFAIL', code: 0, isAuthoritative: true }, { name: SHOP, type });
    }
    expect(codes(await inspect(SHOP))).toEqual(['CNAME_LOOP']);
  });

  test('Domains-DNS-76: broken DNSSEC explains an unknown proof, so the name servers are not blamed for it', async () => {
    const { inspect, dns } = await start();
    dns.set(SHOP, 'CNAME', PLATFORM_HOST);
    dns.set(APEX, 'DS', '4711 13 2');
    for (const name of [SHOP, PROOF.name]) dns.fault('bogus', { name });
    expect(codes(await inspect(SHOP, { ownership: PROOF }))).toEqual(['DNSSEC_BROKEN']);
  });

  test('Domains-DNS-77: evidence says timeout for a silent server, and no authority for one without', async () => {
    const { inspect, nameServers } = await start({ nameServers: 1 });
    nameServers[0]?.fault('drop', { name: SHOP, type: 'AAAA' });
    expect(answers(await inspect(SHOP))).toContain(`${SHOP} AAAA: timeout`);
    nameServers[0]?.heal();
    nameServers[0]?.fault('lame', { name: SHOP, type: 'AAAA' });
    expect(answers(await inspect(SHOP))).toContain(`${SHOP} AAAA: an answer without authority for the zone`);
  });

  test('Domains-DNS-78: an extended error is shown by its registered name, with its text cut', async () => {
    const { inspect, dns } = await start();
    const causeFor = async (code: number, text = '') => {
      dns.heal();
      dns.fault({ says: 'REFUSED', code, text }, { name: SHOP });
      return (await inspect(SHOP)).diagnoses[0]?.cause;
    };
    expect(await causeFor(20)).toMatch(/says REFUSED \(Not Authoritative\)\.$/);
    expect(await causeFor(23, 'Network Error: 192.0.2.1')).toMatch(/\(Network Error: 192\.0\.2\.1\)\.$/);
    expect(await causeFor(4_999)).toMatch(/\(Extended Error 4999\)\.$/);
    expect(await causeFor(6, 'x'.repeat(500))).toMatch(/\(DNSSEC Bogus: x{80}…\)\.$/);
  });
});
