import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { diagnose } from '../../../src/domains/diagnosis/diagnose.js';
import type { Lookup, Observation } from '../../../src/domains/diagnosis/observation.js';
import { type Answer, DnsUnreachable, type RecordType } from '../../../src/domains/dns/dns-message.js';

const HOST = 'shop.customer.test';
const NOON_MS = Date.UTC(2026, 0, 15, 12);
const NAMES = [HOST, 'petstore.test', 'old.example.net', 'petstore.test.customer.test'];
const ADDRESSES = { A: ['192.0.2.10', '8.8.8.8', '104.16.0.1'], AAAA: ['2001:db8::10', '2a00::1'] };

const UNANSWERED = ['NAMESERVER_FAILING', 'DNSSEC_BROKEN', 'DNS_UNREACHABLE'];

/** Any answer a server may give to a question, sensible or not. */
function reply(name: string, type: RecordType): fc.Arbitrary<Answer> {
  const server = { address: '127.0.0.1', port: 53 };
  const question = { name, type };
  const record = (of: string, values: string[]) =>
    fc.record({
      name: fc.constantFrom(name, ...NAMES),
      type: fc.constant(of),
      ttlSeconds: fc.nat(86_400),
      value: fc.constantFrom(...values),
      caa: fc.constant(null),
    });
  const own =
    type === 'A' || type === 'AAAA'
      ? record(type, ADDRESSES[type])
      : record(type, type === 'TXT' ? ['x', 'y'] : NAMES);
  const answer: fc.Arbitrary<Answer> = fc.record({
    server: fc.constant(server),
    question: fc.constant(question),
    rcode: fc.constantFrom('NOERROR', 'NOERROR', 'NOERROR', 'NXDOMAIN', 'SERVFAIL', 'REFUSED'),
    isAuthoritative: fc.boolean(),
    records: fc.array(fc.oneof(own, record('CNAME', NAMES)), { maxLength: 3 }),
    authority: fc.constant([]),
    glue: fc.constant([]),
    extendedError: fc.constantFrom(null, { code: 9, text: '' }, { code: 20, text: 'not mine' }),
    atMs: fc.constant(NOON_MS),
  });
  const silence = fc
    .constantFrom('timeout' as const, 'unreachable' as const)
    .map((reason) => new DnsUnreachable(server, question, reason, NOON_MS));
  return fc.oneof({ weight: 5, arbitrary: answer }, { weight: 1, arbitrary: silence });
}

const lookup = (name: string): fc.Arbitrary<Lookup> =>
  fc.tuple(reply(name, 'CNAME'), reply(name, 'A'), reply(name, 'AAAA'));

const observation: fc.Arbitrary<Observation> = fc.record({
  hostname: fc.constant(HOST),
  platformHost: fc.constant('petstore.test'),
  isApex: fc.boolean(),
  zone: fc.constantFrom(
    { name: 'customer.test', nameServers: ['ns1.customer.test'] },
    { name: 'customer.test', nameServers: ['ada.ns.cloudflare.com'] },
    null,
  ),
  registrable: fc.constant('customer.test'),
  isZoneReferred: fc.boolean(),
  isOrphan: fc.boolean(),
  host: lookup(HOST),
  validation: fc.option(
    fc.record({
      unchecked: reply(HOST, 'A'),
      checked: reply(HOST, 'A'),
      ds: reply('customer.test', 'DS'),
    }),
  ),
  delegation: fc.option(
    fc.record({
      parent: fc.constant('test'),
      delegated: fc.constant(['ns1.customer.test']),
      own: fc.constantFrom([], ['ns1.customer.test'], ['ns2.customer.test']),
      lame: fc.constant([]),
      evidence: fc.tuple(reply('customer.test', 'NS')),
    }),
  ),
  chain: fc.record({
    names: fc.array(fc.constantFrom(...NAMES), { maxLength: 3 }).map((names) => [HOST, ...names]),
    replies: fc.array(reply('old.example.net', 'CNAME'), { maxLength: 2 }),
  }),
  platform: fc.tuple(reply('petstore.test', 'A'), reply('petstore.test', 'AAAA')),
  sibling: lookup('probe-1.customer.test'),
  below: fc.option(reply(`probe-3.${HOST}`, 'A')),
  doubled: fc.option(
    fc.record({
      name: fc.constant(`${HOST}.customer.test`),
      zone: fc.constant('customer.test'),
      there: reply(`${HOST}.customer.test`, 'A'),
      below: reply(`probe-2.${HOST}.customer.test`, 'A'),
    }),
  ),
  nameServers: fc.array(
    fc.record({
      name: fc.constantFrom('ns1.customer.test', 'ns2.customer.test'),
      lookup: lookup(HOST),
      txt: fc.option(reply(`_verify.${HOST}`, 'TXT')),
    }),
    { maxLength: 3 },
  ),
  ownership: fc.option(
    fc.record({
      name: fc.constant(`_verify.${HOST}`),
      value: fc.constant('x'),
      txt: reply(`_verify.${HOST}`, 'TXT'),
      atHost: reply(HOST, 'TXT'),
      beside: reply(`probe-4.${HOST}`, 'TXT'),
    }),
  ),
  isCutShort: fc.boolean(),
  atMs: fc.constant(NOON_MS),
});

/** Makes an observation consistent: name servers need a found zone, and a found zone excludes an orphan. */
function consistent(seen: Observation): Observation {
  return seen.zone === null
    ? { ...seen, nameServers: [], delegation: null, isZoneReferred: false }
    : { ...seen, isOrphan: false };
}

test('Domains-DNS-8: any observation gets a verdict; a bad verdict has a reason, and a good one has none', () => {
  fc.assert(
    fc.property(observation.map(consistent), (seen) => {
      const { leadsHere, diagnoses, isOwnershipProved } = diagnose(seen);
      const ownership = diagnoses.filter(({ cause }) => cause.includes('_verify.'));
      const errors = diagnoses.filter((found) => found.severity === 'ERROR' && !ownership.includes(found));
      expect(errors.length > 0).toBe(leadsHere !== true);
      // One cause has one finding: without any answer, the finding about the name also explains the TXT record.
      const isUnanswered = errors.some(({ code }) => UNANSWERED.includes(code));
      const isTextToExplain = seen.ownership !== null && isOwnershipProved !== true;
      if (isOwnershipProved !== null || !isUnanswered) expect(ownership.length > 0).toBe(isTextToExplain);
      else expect(ownership).toEqual([]);
      for (const { cause, remedy, evidence } of diagnoses) {
        expect(`${cause} ${remedy}`).not.toMatch(/undefined|null|NaN|\(\)| {2}|: [.,]|names [.,]|\.\./);
        expect(cause).toMatch(/^\S.*\.$/);
        expect(remedy).toMatch(/^\S.*\.$/);
        expect(evidence.length).toBeGreaterThan(0);
        expect(evidence.length).toBeLessThanOrEqual(12);
      }
      const order = diagnoses.map(({ severity }) => ['ERROR', 'WARNING', 'INFO'].indexOf(severity));
      expect(order).toEqual([...order].sort());
    }),
    { numRuns: 3_000 },
  );
});

test("Domains-DNS-50: a cache's proof counts only if the inspection had the time to ask a known zone's name servers", () => {
  const question = { name: `_verify.${HOST}`, type: 'TXT' } as const;
  const server = { address: '127.0.0.1', port: 53 };
  const silent = (reason: DnsUnreachable['reason']) => new DnsUnreachable(server, question, reason, NOON_MS);
  const record = {
    name: question.name,
    type: 'TXT',
    ttlSeconds: 60,
    value: 'petstore-verify=abc',
    caa: null,
  };
  const txt = { ...silent('timeout'), rcode: 'NOERROR', records: [record] };
  const zone = { name: 'customer.test', nameServers: ['ns1.customer.test'] };
  fc.assert(
    fc.property(observation, (any) => {
      const ownership = { name: question.name, value: 'petstore-verify=abc', txt, atHost: txt, beside: txt };
      const reached = { ...any, ownership, zone, isOrphan: false, isCutShort: false, isZoneReferred: false };
      const after = (txt: Answer, more: Partial<Observation> = {}) =>
        diagnose({ ...reached, nameServers: [{ name: 'ns1.customer.test', lookup: [], txt }], ...more })
          .proofs;
      expect(after(silent('timeout'))).toEqual(['petstore-verify=abc']);
      expect(after(silent('not asked'))).toEqual([]);
      expect(after(silent('timeout'), { isCutShort: true })).toEqual([]);
      expect(after(txt, { isZoneReferred: true })).toEqual([]);
      expect(diagnose({ ...reached, nameServers: [] }).proofs).toEqual(['petstore-verify=abc']);
      expect(diagnose({ ...reached, nameServers: [], zone: null }).proofs).toEqual([]);
      expect(diagnose({ ...reached, nameServers: [], zone: null, isOrphan: true }).proofs).toHaveLength(1);
    }),
    { numRuns: 20 },
  );
});

test('Domains-DNS-84: a question that was not asked is no failure of DNSSEC', () => {
  const server = { address: '127.0.0.1', port: 53 };
  const about = (name: string, type: RecordType, rcode: string): Answer => ({
    ...new DnsUnreachable(server, { name, type }, 'timeout', NOON_MS),
    rcode,
  });
  const address = { name: HOST, type: 'A' } as const;
  const silent = (reason: DnsUnreachable['reason']) => new DnsUnreachable(server, address, reason, NOON_MS);
  const failed = about(HOST, 'A', 'SERVFAIL');
  const key = { name: 'customer.test', type: 'DS', ttlSeconds: 60, value: '', caa: null };
  const ds = { ...about('customer.test', 'DS', 'NOERROR'), records: [key] };
  fc.assert(
    fc.property(observation, (any) => {
      const isBroken = (first: Answer, checked: Answer) => {
        const validation = { unchecked: about(HOST, 'A', 'NOERROR'), checked, ds };
        const { diagnoses } = diagnose({ ...any, host: [first], validation });
        return diagnoses.some(({ code }) => code === 'DNSSEC_BROKEN');
      };
      expect(isBroken(failed, silent('not asked'))).toBe(false);
      expect(isBroken(silent('not asked'), failed)).toBe(false);
      expect(isBroken(silent('timeout'), silent('timeout'))).toBe(false);
      expect(isBroken(failed, silent('timeout'))).toBe(true);
      expect(isBroken(silent('timeout'), failed)).toBe(true);
    }),
    { numRuns: 20 },
  );
});
