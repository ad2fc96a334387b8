import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkCaa } from '../../src/domains/diagnosis/caa.js';
import { inspect } from '../../src/domains/diagnosis/diagnose.js';
import type { Answer, Question, ResourceRecord } from '../../src/domains/dns/dns-message.js';
import { NameServers } from '../../src/domains/dns/name-servers.js';
import { Resolver } from '../../src/domains/dns/resolver.js';
import type { DnsServer } from '../../src/ground/config/config.js';
import { askRaw } from '../support/dns/raw-dns-query.js';
import { type DnssecRig, startDnssecRig } from '../support/servers/dnssec-rig.js';

let rig: DnssecRig;

// The first run downloads the servers.
beforeAll(async () => {
  rig = await startDnssecRig([
    {
      name: 'signed.test',
      isSigned: true,
      records: [
        '@ CAA 0 issue "other.example"',
        'www CNAME shops.platform.test.',
        'old CNAME old.platform.test.',
      ],
    },
    {
      name: 'platform.test',
      isSigned: false,
      records: [
        '@ CAA 0 issue ";"',
        'shops A 192.0.2.10',
        'shops CAA 0 issue "ca.example"',
        'old A 192.0.2.11',
      ],
    },
  ]);
}, 300_000);
afterAll(() => rig?.stop());

const WWW = { name: 'www.signed.test', type: 'A' } as const;

test('Rig-1: a broken chain of trust is SERVFAIL with the extended error that names it', async () => {
  const answer = await askRaw(rig.brokenResolver, WWW);
  expect(answer).toMatchObject({ rcode: 'SERVFAIL', answers: [], isAuthentic: false });
  // Unbound says "DNSKEY missing" the first time, and "DNSSEC bogus" while that failure is cached.
  expect([6, 9]).toContain(answer.extendedError?.code);
  expect(answer.extendedError?.text).toContain('signed.test');
});

test('Rig-2: with checking disabled the same resolver returns the records', async () => {
  const { rcode, answers, isAuthentic } = await askRaw(rig.brokenResolver, {
    ...WWW,
    isCheckingDisabled: true,
  });
  expect({ rcode, isAuthentic }).toEqual({ rcode: 'NOERROR', isAuthentic: false });
  expect(answers).toMatchObject([{ data: 'shops.platform.test' }, { data: '192.0.2.10' }]);
});

test('Rig-3: with the right trust anchor the answer is authentic', async () => {
  const answer = await askRaw(rig.validatingResolver, { name: 'www.signed.test', type: 'CNAME' });
  expect(answer).toMatchObject({ rcode: 'NOERROR', isAuthentic: true, extendedError: null });
});

test('Rig-4: a broken zone does not affect other zones', async () => {
  const answer = await askRaw(rig.brokenResolver, { name: 'shops.platform.test', type: 'A' });
  expect(answer).toMatchObject({ rcode: 'NOERROR', answers: [{ data: '192.0.2.10' }] });
});

test('Rig-5: a name that does not exist in a signed zone is denied with proof', async () => {
  const answer = await askRaw(rig.validatingResolver, { name: 'none.signed.test', type: 'A' });
  expect(answer).toMatchObject({ rcode: 'NXDOMAIN', isAuthentic: true });
});

/** Converts the rig's answer to the product's `Answer`, as far as CAA needs it. */
const askFor =
  (server: DnsServer) =>
  async (question: Question): Promise<Answer> => {
    const { rcode, answers, extendedError } = await askRaw(server, question);
    const records = answers.map((answer): ResourceRecord => {
      const { name, type } = answer;
      if (answer.type === 'CAA') {
        const { flags = 0, tag, value } = answer.data;
        const presented = `${flags} ${tag} "${value}"`;
        return {
          name,
          type,
          ttlSeconds: 60,
          value: presented,
          caa: { isCritical: flags >= 128, tag, value },
        };
      }
      return { name, type, ttlSeconds: 60, value: 'data' in answer ? String(answer.data) : '', caa: null };
    });
    return {
      server,
      question,
      rcode,
      isAuthoritative: false,
      records,
      authority: [],
      glue: [],
      extendedError,
      atMs: 0,
    };
  };
const CHECK = {
  identities: ['ca.example'],
  accountUrl: 'https://ca.example/acct/1',
  platformHost: 'shops.platform.test',
} as const;

test('CAA-12: on real servers the records at the end of a CNAME count, and those of its parents do not', async () => {
  const ask = askFor(rig.validatingResolver);
  expect(await checkCaa(ask, 'www.signed.test', CHECK)).toEqual([]);
  expect(await checkCaa(ask, 'old.signed.test', CHECK)).toMatchObject([
    { code: 'CAA_BLOCKS_CA', actor: 'OWNER', remedy: 'Add signed.test CAA 0 issue "ca.example".' },
  ]);
  expect(await checkCaa(ask, 'www.signed.test', { ...CHECK, identities: ['other.example'] })).toMatchObject([
    { code: 'CAA_BLOCKS_CA', actor: 'PLATFORM' },
  ]);
});

test('CAA-13: on real servers a broken chain of trust blocks, and the finding says why', async () => {
  expect(await checkCaa(askFor(rig.brokenResolver), 'www.signed.test', CHECK)).toMatchObject([
    {
      code: 'CAA_LOOKUP_FAILED',
      actor: 'DNS_PROVIDER',
      cause: expect.stringMatching(/SERVFAIL \((DNSKEY Missing|DNSSEC Bogus): .*signed\.test/),
    },
  ]);
});

describe('an inspection with these real servers', () => {
  const inspectWith = (resolver: DnsServer) => {
    const asked = new Resolver([resolver], Date.now);
    const settings = { nameServerPort: rig.authoritative.port, privateNameServers: true };
    const dns = {
      resolver: asked,
      nameServers: new NameServers(asked, settings, Date.now),
      platformHost: 'shops.platform.test',
      now: Date.now,
    };
    return inspect(dns, { projectId: 1n, hostname: 'www.signed.test', isApex: false, ownership: null });
  };

  test('Domains-DNS-1: DNSSEC_BROKEN: a broken chain of trust is reported in the words of the resolver', async () => {
    const { leadsHere, diagnoses } = await inspectWith(rig.brokenResolver);
    expect(leadsHere).toBe(false);
    expect(diagnoses[0]).toMatchObject({ code: 'DNSSEC_BROKEN', severity: 'ERROR', actor: 'OWNER' });
    expect(diagnoses[0]?.cause).toMatch(/signed\.test/);
    expect(diagnoses[0]?.evidence.some(({ answer }) => answer.startsWith('SERVFAIL'))).toBe(true);
  });

  test('Domains-DNS-2: with the right DS record the same name has no finding', async () => {
    expect(await inspectWith(rig.validatingResolver)).toMatchObject({
      leadsHere: true,
      isApex: false,
      diagnoses: [],
    });
  });
});
