import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  type OwnerZone,
  PLATFORM_HOST,
  type RealDns,
  type Software,
  startRealDns,
} from '../support/servers/name-servers/real-dns.js';

// Set-ups as owners have them, on the servers of their providers. The servers differ, the sentence does not.

const SOFTWARE = ['BIND', 'Knot', 'NSD', 'PowerDNS'] as const;
const OURS = `${PLATFORM_HOST}.`;
const CNAME = (name: string) => `a CNAME record: name ${name}, value ${PLATFORM_HOST}, TTL 3600`;
const REPAIR = 'Ask your DNS provider to repair it';

interface Expected {
  leadsHere: boolean | null;
  /** The findings about the name, without that for the proof. */
  codes?: string[];
  /** Of the first finding. */
  actor?: string;
  /** Parts of its cause and its remedy. */
  says?: string[];
  /** Part of the remedy of the finding for the proof. */
  proof?: string;
}

const zone = (
  server: Software,
  label: string,
  records: string[],
  more: Partial<OwnerZone> = {},
): OwnerZone => ({
  server,
  name: `${label}.test`,
  records,
  ...more,
});
const WWW = [`www CNAME ${OURS}`, '@ A 203.0.113.10'];
const labelOf = (server: Software) => server.toLowerCase();

const ZONES: OwnerZone[] = [
  ...SOFTWARE.flatMap((server) => [
    zone(server, labelOf(server), [
      ...WWW,
      'Upper CNAME Edge.Plat.Test.',
      'wrong CNAME old.host.test.',
      'flat A 203.0.113.10',
      'blocked A 198.51.100.7',
      'blocked AAAA 2001:db8::7',
      'mixed A 203.0.113.10',
      'mixed AAAA 2001:db8::7',
      `value CNAME ${PLATFORM_HOST}`,
      `name.${labelOf(server)}.test CNAME ${OURS}`,
      'loop CNAME back',
      'back CNAME loop',
      `*.wild CNAME ${OURS}`,
      '*.addresses A 203.0.113.10',
      '_petstore-verify.ended.wild TXT x',
      `owned.wild CNAME ${OURS}`,
      'dn DNAME plat.test.',
    ]),
    zone(server, `beside-${labelOf(server)}`, [`www CNAME ${OURS}`, 'www TXT x']),
  ]),
  zone('PowerDNS', 'alias', [`@ ALIAS ${OURS}`, 'typo ALIAS edge.plat.tes.', 'gone ALIAS gone.plat.test.']),
  zone('PowerDNS', 'signed-alias', [`@ ALIAS ${OURS}`], { dnssec: 'live' }),
  zone('PowerDNS', 'apex-cname', [`@ CNAME ${OURS}`]),
  zone('NSD', 'lame-nsd', WWW, { isLame: true }),
  zone('Knot', 'lame-knot', WWW, { isLame: true }),
  zone('BIND', 'lame-bind', WWW, { isLame: true }),
  zone('BIND', 'signed', WWW, { dnssec: 'valid' }),
  zone('NSD', 'expired', WWW, { dnssec: 'expired' }),
  zone('BIND', 'left', WWW, { dnssec: 'left' }),
  zone('Knot', 'other-key', WWW, { dnssec: 'other key' }),
];

/** For a name of each server's own zone. */
const EVERYWHERE: Record<string, (name: string, parent: string) => Expected> = {
  www: () => ({ leadsHere: true }),
  upper: () => ({ leadsHere: true }),
  '': () => ({ leadsHere: true }),
  wrong: (name) => ({
    leadsHere: false,
    codes: ['CNAME_WRONG_VALUE', 'TARGET_GONE'],
    actor: 'OWNER',
    says: [`The CNAME of ${name} points to old.host.test`, `Replace old.host.test with ${PLATFORM_HOST}.`],
  }),
  flat: () => ({ leadsHere: true, codes: ['FLATTENED'], actor: 'NOBODY', says: ['Nothing'] }),
  blocked: (name) => ({
    leadsHere: false,
    codes: ['CONFLICTING_RECORD'],
    actor: 'OWNER',
    says: ['A and AAAA records (198.51.100.7, 2001:db8::7)', `Delete these records, then add ${CNAME(name)}`],
  }),
  mixed: () => ({
    leadsHere: false,
    codes: ['AAAA_FOREIGN'],
    says: ['Delete the AAAA record with 2001:db8::7.'],
  }),
  value: () => ({ leadsHere: false, codes: ['VALUE_DOUBLED'], says: [`End the value with a dot: ${OURS}`] }),
  name: () => ({ leadsHere: false, codes: ['NAME_DOUBLED'], says: ['enter only name as the name'] }),
  loop: (name) => ({
    leadsHere: false,
    codes: ['CNAME_LOOP'],
    actor: 'OWNER',
    says: ['form a loop', `Point the CNAME of ${name} straight`],
  }),
  none: (name) => ({
    leadsHere: false,
    codes: ['DNS_NO_RECORD'],
    says: ['does not exist in DNS', `Add ${CNAME(name)}`],
  }),
  'foo.wild': (name) => ({
    leadsHere: true,
    codes: ['DNS_NO_RECORD', 'WILDCARD_DNS'],
    actor: 'OWNER',
    says: [
      'A wildcard record answers for it',
      'RFC 4592',
      `Add ${CNAME(name)}, before you add the TXT record.`,
    ],
    proof: `First add ${CNAME(name)}. Then add exactly this TXT record`,
  }),
  'foo.addresses': (name) => ({
    leadsHere: true,
    codes: ['DNS_NO_RECORD', 'WILDCARD_DNS', 'FLATTENED'],
    says: ['A wildcard record answers for it', `Add ${CNAME(name)}`],
    proof: `First add ${CNAME(name)}`,
  }),
  'ended.wild': (name) => ({
    leadsHere: false,
    codes: ['DNS_NO_RECORD', 'WILDCARD_DNS'],
    says: ['exists in DNS, but has no CNAME and no address', `Add ${CNAME(name)}`],
  }),
  'owned.wild': () => ({ leadsHere: true, codes: ['WILDCARD_DNS'], proof: 'Add exactly this TXT record' }),
  'edge.dn': (_, parent) => ({
    leadsHere: true,
    codes: ['DNS_NO_RECORD'],
    actor: 'OWNER',
    says: ['No record can stand', 'RFC 6672', `Remove the DNAME record of dn.${parent}`],
    proof: `First remove the DNAME record of dn.${parent} and add a CNAME record`,
  }),
  'other.dn': (_, parent) => ({
    leadsHere: false,
    codes: ['CNAME_WRONG_VALUE'],
    says: [`The DNAME record of dn.${parent} leads the name to other.plat.test`, `Remove the DNAME record`],
  }),
};

const failing = (server: string, says: string): Expected => ({
  leadsHere: null,
  codes: ['NAMESERVER_FAILING'],
  actor: 'DNS_PROVIDER',
  says: [
    `1 of 1 name servers of ${server}.test (ns1.${server}.test) answer CNAME questions with ${says}`,
    REPAIR,
  ],
});
const brokenDnssec = (actor: string, ...says: string[]): Expected => ({
  leadsHere: false,
  codes: ['DNSSEC_BROKEN'],
  actor,
  says,
});
const aliasGone = (name: string): Expected => ({
  leadsHere: null,
  codes: ['TARGET_GONE'],
  actor: 'OWNER',
  says: [
    `can't resolve the addresses of ${name}`,
    `Set the value of the ALIAS or ANAME record to ${PLATFORM_HOST}.`,
  ],
});
const EXPIRED = brokenDnssec(
  'DNS_PROVIDER',
  'The DNSSEC signatures of expired.test expired on ',
  'to sign expired.test again',
);
const LEFT = brokenDnssec(
  'OWNER',
  'left.test has a DS record',
  'Remove the DS record of left.test at your registrar.',
);
const OTHER_KEY = brokenDnssec(
  'OWNER',
  'its DS record or its signatures are wrong',
  'if it is right, ask your DNS provider',
);

const SINGLE: Record<string, Expected> = {
  'www.beside-bind.test': failing('beside-bind', 'SERVFAIL.'),
  'www.beside-knot.test': failing('beside-knot', 'SERVFAIL (Invalid Data)'),
  'www.beside-nsd.test': failing('beside-nsd', 'SERVFAIL (Not Ready: Zone is configured but not loaded)'),
  // PowerDNS serves the CNAME and never the TXT record.
  'www.beside-powerdns.test': { leadsHere: true },
  'alias.test': { leadsHere: true },
  'typo.alias.test': aliasGone('typo.alias.test'),
  'gone.alias.test': aliasGone('gone.alias.test'),
  'signed-alias.test': brokenDnssec(
    'DNS_PROVIDER',
    'its other answers do not',
    'to sign the addresses of signed-alias.test',
  ),
  'apex-cname.test': {
    leadsHere: false,
    codes: ['APEX_NEEDS_ALIAS'],
    says: ["can't have a CNAME", `there is one to ${PLATFORM_HOST}`],
  },
  'www.apex-cname.test': {
    leadsHere: false,
    codes: ['DNS_NO_RECORD'],
    says: [`Add ${CNAME('www.apex-cname.test')}`],
  },
  'www.lame-nsd.test': failing('lame-nsd', 'REFUSED (Not Authoritative)'),
  'www.lame-knot.test': failing('lame-knot', 'REFUSED (Not Authoritative)'),
  'www.lame-bind.test': failing('lame-bind', 'REFUSED'),
  'www.signed.test': { leadsHere: true },
  'signed.test': { leadsHere: true },
  'www.expired.test': EXPIRED,
  'expired.test': EXPIRED,
  'www.left.test': LEFT,
  'left.test': LEFT,
  'www.other-key.test': OTHER_KEY,
  'other-key.test': OTHER_KEY,
};

const TABLE = [
  ...SOFTWARE.flatMap((server) =>
    Object.entries(EVERYWHERE).map(([label, expected]): [string, Expected] => {
      const parent = `${labelOf(server)}.test`;
      const name = label === '' ? parent : `${label}.${parent}`;
      return [name, expected(name, parent)];
    }),
  ),
  ...Object.entries(SINGLE),
];

let dns: RealDns;
// The first run downloads the servers.
beforeAll(async () => {
  dns = await startRealDns(ZONES);
}, 600_000);
afterAll(() => dns?.stop());

test.each(TABLE)(
  'Domains-DNS-80: on real name servers the owner of %s is told what to do',
  async (name, expected) => {
    const ownership = { name: `_petstore-verify.${name}`, value: 'petstore-verify=1' };
    const { leadsHere, diagnoses } = await dns.inspect(name, { ownership });
    const found = diagnoses.filter(({ code }) => !code.startsWith('OWNERSHIP_'));
    const [first] = found;
    expect({ leadsHere, codes: found.map(({ code }) => code) }).toEqual({
      leadsHere: expected.leadsHere,
      codes: expected.codes ?? [],
    });
    if (expected.actor) expect(first?.actor).toBe(expected.actor);
    for (const part of expected.says ?? []) expect(`${first?.cause} ${first?.remedy}`).toContain(part);
    const proof = diagnoses.find(({ code }) => code.startsWith('OWNERSHIP_'));
    if (expected.proof) expect(proof?.remedy).toContain(expected.proof);
    // When DNS gives no answer at all, the proof is no second finding.
    const isUnanswered = ['NAMESERVER_FAILING', 'DNSSEC_BROKEN'].includes(first?.code ?? '');
    if (isUnanswered && leadsHere === null) expect(proof).toBeUndefined();
  },
);
