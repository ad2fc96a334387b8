import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ownershipRecord } from '../../../src/domains/diagnosis/dns-records.js';
import { normalizeHostname } from '../../../src/domains/names/hostname.js';
import { ProjectDomains } from '../../../src/domains/project-domains.js';
import { Domain } from '../../../src/domains/store/domain.entity.js';

const PLATFORM_HOST = 'petstore.example';

/** The records shown for a domain that was attached now. */
function recordsFor(domain: Partial<Domain>) {
  const attached = Object.assign(new Domain(), { projectId: 7n, ownership: 'ASSUMED' }, domain);
  return new ProjectDomains({} as never, PLATFORM_HOST).instructions(attached);
}

test('Domains-4: a subdomain needs a CNAME to the platform, with a TTL of 3600', () => {
  expect(recordsFor({ hostname: 'shop.example.com', isApex: false })).toEqual([
    { type: 'CNAME', name: 'shop.example.com', label: 'shop', value: 'petstore.example', ttlSeconds: 3600 },
  ]);
});

test('Domains-5: an apex needs an ALIAS instead', () => {
  expect(recordsFor({ hostname: 'example.com', isApex: true })).toEqual([
    { type: 'ALIAS', name: 'example.com', label: '@', value: 'petstore.example', ttlSeconds: 3600 },
  ]);
});

test('Domains-Records-1: a TXT record is shown only when ownership must be proved, and at its own name', () => {
  const proof = ownershipRecord(7n, 'shop.example.com');
  expect(proof).toEqual({
    name: '_petstore-verify.shop.example.com',
    value: expect.stringMatching(/^petstore-verify=[0-9a-f]{32}$/),
  });
  expect(recordsFor({ hostname: 'shop.example.com', isApex: false, ownership: 'REQUIRED' })).toEqual([
    { type: 'CNAME', name: 'shop.example.com', label: 'shop', value: 'petstore.example', ttlSeconds: 3600 },
    { type: 'TXT', ...proof, label: '_petstore-verify.shop', ttlSeconds: 3600 },
  ]);
});

test('Domains-Records-4: for a name that only a wildcard leads here the CNAME is shown with the TXT record, or the ALIAS', () => {
  const typesWith = (isApex: boolean, ...codes: string[]) => {
    const dnsDiagnoses = codes.map((code) => ({
      code,
      severity: code === 'OWNERSHIP_TXT_MISSING' ? 'ERROR' : 'WARNING',
    })) as Domain['dnsDiagnoses'];
    const domain = { hostname: 'shop.example.com', isApex, ownership: 'REQUIRED', dns: 'FAILED' } as const;
    return recordsFor({ ...domain, dnsDiagnoses }).map(({ type }) => type);
  };
  expect(typesWith(false, 'OWNERSHIP_TXT_MISSING', 'WILDCARD_DNS')).toEqual(['TXT']);
  expect(typesWith(false, 'OWNERSHIP_TXT_MISSING', 'DNS_NO_RECORD')).toEqual(['CNAME', 'TXT']);
  expect(typesWith(true, 'OWNERSHIP_TXT_MISSING', 'DNS_NO_RECORD')).toEqual(['ALIAS', 'TXT']);
});

test('Domains-Records-2: the proof is the same each time, and differs for each project and each host', () => {
  const projectId = fc.bigInt({ min: 1n, max: 2n ** 63n - 1n });
  fc.assert(
    fc.property(projectId, projectId, fc.domain(), fc.domain(), (one, other, host, otherHost) => {
      const { value } = ownershipRecord(one, host);
      expect(ownershipRecord(one, host).value).toBe(value);
      expect(ownershipRecord(other, host).value === value).toBe(one === other);
      expect(ownershipRecord(one, otherHost).value === value).toBe(host === otherHost);
    }),
  );
  // 1 + "2…" and 12 + "…" must not be joined to the same text.
  expect(ownershipRecord(1n, '2.example.com').value).not.toBe(ownershipRecord(12n, '.example.com').value);
});

test('Domains-Records-3: for a very long name the proof is at the nearest parent that leaves room', () => {
  const long = (labels: number) => `${'a.'.repeat(labels)}${'b'.repeat(60)}.example.com`;
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 90 }), (labels) => {
      const hostname = long(labels);
      expect(normalizeHostname(hostname)).toBe(hostname);
      const { name } = ownershipRecord(1n, hostname);
      const below = name.slice('_petstore-verify.'.length);
      expect(name.length).toBeLessThanOrEqual(253);
      expect(hostname.endsWith(below)).toBe(true);
      expect(below === hostname).toBe(hostname.length <= 236);
      expect(below).toMatch(/b{60}\.example\.com$/);
    }),
  );
  expect(ownershipRecord(1n, long(90)).value).not.toBe(ownershipRecord(1n, long(89)).value);
});
