import 'reflect-metadata';
import { createPublicKey, randomBytes, X509Certificate } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { Pkcs10CertificateRequest, SubjectAlternativeNameExtension } from '@peculiar/x509';
import {
  AcmeProblem,
  AcmeUnreachable,
  parseRetryAfter,
} from '../../src/domains/certificates/acme/acme-problem.js';
import { readAuthorization, readRefusal } from '../../src/domains/certificates/acme/acme-resources.js';
import { generateKey } from '../../src/domains/certificates/acme/jws.js';
import { orderFailure } from '../../src/domains/certificates/orders/order-failure.js';
import { momentIn, renewAtMs } from '../../src/domains/certificates/orders/renewal.js';
import {
  certificateRequest,
  renewalId,
  UnusableCertificate,
} from '../../src/domains/certificates/orders/x509.js';
import { certificateKeyContext, Sealer } from '../../src/domains/certificates/store/sealer.js';
import { createTestTls } from '../support/servers/test-tls.js';

/** RFC 9773, appendix A. */
const RFC_9773_EXAMPLE = `-----BEGIN CERTIFICATE-----
MIIBQzCB66ADAgECAgUAh2VDITAKBggqhkjOPQQDAjAVMRMwEQYDVQQDEwpFeGFt
cGxlIENBMCIYDzAwMDEwMTAxMDAwMDAwWhgPMDAwMTAxMDEwMDAwMDBaMBYxFDAS
BgNVBAMTC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeBZu
7cbpAYNXZLbbh8rNIzuOoqOOtmxA1v7cRm//AwyMwWxyHz4zfwmBhcSrf47NUAFf
qzLQ2PPQxdTXREYEnKMjMCEwHwYDVR0jBBgwFoAUaYhba4dGQEHhs3uEe6CuLN4B
yNQwCgYIKoZIzj0EAwIDRwAwRAIge09+S5TZAlw5tgtiVvuERV6cT4mfutXIlwTb
+FYN/8oCIClDsqBklhB9KAelFiYt9+6FDj3z4KGVelYM5MdsO3pK
-----END CERTIFICATE-----`;

const NOW_MS = Date.UTC(2026, 10, 21, 12);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const HOSTNAME = 'shop.example.com';
const CIRCUMSTANCES = { hostname: HOSTNAME, identities: ['letsencrypt.org'], nowMs: NOW_MS };

interface Told {
  type?: string;
  detail?: string;
  stage?: 'request' | 'validation';
  status?: number;
  retryAfterSeconds?: number | null;
  subproblems?: unknown;
}

function problem({
  type,
  detail,
  stage = 'validation',
  status = 403,
  retryAfterSeconds = null,
  subproblems,
}: Told) {
  const document = { type: `urn:ietf:params:acme:error:${type}`, detail, subproblems };
  return new AcmeProblem(document, {
    url: 'https://ca.test/authz/1',
    status,
    isValidation: stage === 'validation',
    retryAfterSeconds,
  });
}

describe('problems of the CA as the owner sees them', () => {
  test.each<[Told, string, string]>([
    [{ type: 'caa', detail: 'CAA record prevents issuance' }, 'CAA_BLOCKS_CA', 'OWNER'],
    [{ type: 'connection', detail: 'Timeout during connect' }, 'CHALLENGE_UNREACHABLE', 'OWNER'],
    [{ type: 'unauthorized', detail: 'Invalid response: 404' }, 'CHALLENGE_WRONG_ANSWER', 'OWNER'],
    [{ type: 'incorrectResponse', detail: 'mismatch' }, 'CHALLENGE_WRONG_ANSWER', 'OWNER'],
    [{ type: 'tls', detail: 'bad certificate' }, 'CHALLENGE_WRONG_ANSWER', 'OWNER'],
    [{ type: 'dns', detail: 'DNS problem: NXDOMAIN looking up A for x' }, 'DNS_NO_RECORD', 'OWNER'],
    [{ type: 'dns', detail: 'no valid A records found for x' }, 'DNS_NO_RECORD', 'OWNER'],
    [{ type: 'dns', detail: 'DNS problem: SERVFAIL looking up A for x' }, 'DNS_UNREACHABLE', 'DNS_PROVIDER'],
    [{ type: 'dns', detail: 'DNS problem: query timed out looking up A' }, 'DNS_UNREACHABLE', 'DNS_PROVIDER'],
    [{ type: 'dns', detail: 'SERVFAIL looking up CAA for x' }, 'CAA_LOOKUP_FAILED', 'DNS_PROVIDER'],
    [{ type: 'dns', detail: 'DNSSEC: DNSKEY Missing: validation failure' }, 'DNSSEC_BROKEN', 'OWNER'],
    [{ type: 'rateLimited', detail: 'too many', stage: 'request', status: 429 }, 'CA_RATE_LIMITED', 'NOBODY'],
    [{ type: 'rateLimited', detail: 'The name is paused', stage: 'request' }, 'CA_PAUSED', 'PLATFORM'],
    [{ type: 'rejectedIdentifier', detail: 'forbidden', stage: 'request' }, 'CA_REJECTED', 'PLATFORM'],
    [{ type: 'unauthorized', detail: 'account deactivated', stage: 'request' }, 'CA_REJECTED', 'PLATFORM'],
    [{ type: 'malformed', detail: 'parse error', stage: 'request' }, 'CA_REJECTED', 'PLATFORM'],
    [{ type: 'serverInternal', detail: 'x', stage: 'request' }, 'CA_DOWN', 'CERTIFICATE_AUTHORITY'],
    [{ type: 'badNonce', detail: 'x', stage: 'request' }, 'CA_DOWN', 'CERTIFICATE_AUTHORITY'],
    [{ type: 'unheardOf', detail: 'x', status: 503 }, 'CA_DOWN', 'CERTIFICATE_AUTHORITY'],
  ])('%j is %s, for %s', (told, code, actor) => {
    const failure = orderFailure(problem(told), CIRCUMSTANCES);
    expect(failure).toMatchObject({ code, actor, retryAtMs: null });
    expect(failure?.cause).toContain(told.detail);
    expect(failure?.remedy).toMatch(/\.$/);
    expect(failure?.evidence).toMatchObject([{ server: 'https://ca.test/authz/1', atMs: NOW_MS }]);
  });

  test('no answer and an unusable certificate are faults of the CA', () => {
    const away = new AcmeUnreachable('no answer', { url: 'https://ca.test/', retryAfterSeconds: 60 });
    expect(orderFailure(away, CIRCUMSTANCES)).toMatchObject({ code: 'CA_DOWN', retryAtMs: NOW_MS + 60_000 });
    const failure = orderFailure(new UnusableCertificate('it has run out'), CIRCUMSTANCES);
    expect(failure).toMatchObject({ code: 'CA_DOWN', cause: expect.stringContaining('it has run out') });
  });

  test.each([
    ['{"error":"slow down"}', 429, 'CA_RATE_LIMITED'],
    ['slow down', 429, 'CA_RATE_LIMITED'],
    ['{"error":"no"}', 403, 'CA_REJECTED'],
    ['no', 403, 'CA_REJECTED'],
    ['{"error":"away"}', 502, 'CA_DOWN'],
    ['away', 502, 'CA_DOWN'],
  ])('an answer of a proxy in front of the CA, %j with status %i, is %s', (body, status, code) => {
    const answer = { url: 'https://ca.test/order', status, headers: { 'retry-after': '60' }, body };
    const failure = orderFailure(readRefusal(answer, NOW_MS), CIRCUMSTANCES);
    expect(failure).toMatchObject({ code, retryAtMs: NOW_MS + 60_000 });
  });

  test.each([{ toString: 1, valueOf: 1 }, ['abc'], 7, null, 'a/b', 'a'.repeat(129)])(
    'a challenge with the token %j is none',
    (token) => {
      const challenges = [{ type: 'http-01', status: 'pending', url: 'https://ca.test/challenge', token }];
      const body = JSON.stringify({ status: 'pending', challenges });
      const answer = { url: 'https://ca.test/authz', status: 200, headers: {}, body };
      expect(readAuthorization(answer)).toEqual({ status: 'pending', challenge: null });
    },
  );

  test("a fault that is not the CA's is not shown to the owner", () => {
    expect(orderFailure(new Error('the database is away'), CIRCUMSTANCES)).toBeNull();
  });

  test('the proposed record names the CA', () => {
    expect(orderFailure(problem({ type: 'caa' }), CIRCUMSTANCES)?.remedy).toBe(
      'Add the record: shop.example.com CAA 0 issue "letsencrypt.org".',
    );
  });

  test('of a compound problem, the part about the host counts', () => {
    const about = (value: string, type: string, detail: string) => ({
      type: `urn:ietf:params:acme:error:${type}`,
      detail,
      identifier: { type: 'dns', value },
    });
    const told = problem({
      type: 'compound',
      detail: 'several',
      subproblems: [about('other.test', 'dns', 'NXDOMAIN'), about(HOSTNAME, 'caa', 'forbidden by CAA')],
    });
    expect(orderFailure(told, CIRCUMSTANCES)).toMatchObject({ code: 'CAA_BLOCKS_CA' });
  });

  test('the time to retry comes from the header, else from the text', () => {
    const detail = 'too many certificates, retry after 2026-11-22 06:30:00 UTC: see the documentation';
    const told = { type: 'rateLimited', detail, stage: 'request' as const };
    expect(orderFailure(problem(told), CIRCUMSTANCES)?.retryAtMs).toBe(Date.UTC(2026, 10, 22, 6, 30));
    const both = problem({ ...told, retryAfterSeconds: 3_600 });
    expect(orderFailure(both, CIRCUMSTANCES)?.retryAtMs).toBe(NOW_MS + HOUR_MS);
  });

  test('a problem document of any shape is accepted, and its text is bounded', () => {
    for (const document of [
      {},
      { type: 7, detail: {}, subproblems: 'x' },
      { subproblems: [null, 1, { type: [] }] },
    ]) {
      const told = new AcmeProblem(document, { url: 'https://ca.test/', status: 400 });
      expect(orderFailure(told, CIRCUMSTANCES)?.code).toBe('CA_REJECTED');
    }
    const long = problem({ type: 'connection', detail: 'x'.repeat(1_000_000) });
    expect(orderFailure(long, CIRCUMSTANCES)?.cause.length).toBeLessThan(2_000);
  });
});

test('Retry-After is read as seconds and as a date, and capped at two days', () => {
  expect(parseRetryAfter('120', NOW_MS)).toBe(120);
  expect(parseRetryAfter('0', NOW_MS)).toBe(0);
  expect(parseRetryAfter('Sat, 21 Nov 2026 13:00:00 GMT', NOW_MS)).toBe(3_600);
  expect(parseRetryAfter('Sat, 21 Nov 2020 13:00:00 GMT', NOW_MS)).toBe(0);
  expect(parseRetryAfter('99999999999', NOW_MS)).toBe(2 * 86_400);
  expect(parseRetryAfter('soon', NOW_MS)).toBeNull();
  expect(parseRetryAfter(undefined, NOW_MS)).toBeNull();
});

describe('when to renew', () => {
  test.each([
    [90, 60, 57],
    [45, 30, 28.5],
    [10, 6.666, 6.333],
    [6, 3, 2.7],
    [1, 0.5, 0.45],
  ])(
    'a certificate of %d days: after %d days, or up to a tenth of the remaining time earlier',
    (days, latest, earliest) => {
      const life = { notBeforeMs: NOW_MS, notAfterMs: NOW_MS + days * DAY_MS };
      expect((renewAtMs(life, () => 0) - NOW_MS) / DAY_MS).toBeCloseTo(latest, 2);
      expect((renewAtMs(life, () => 1) - NOW_MS) / DAY_MS).toBeCloseTo(earliest, 2);
    },
  );

  describe('as the CA suggests', () => {
    const window = { startMs: NOW_MS + DAY_MS, endMs: NOW_MS + 3 * DAY_MS };
    const life = { notBeforeMs: NOW_MS, notAfterMs: NOW_MS + 10 * DAY_MS };
    const plan = { plannedMs: null, nowMs: NOW_MS, random: () => 0.5 };

    test('renewal is at a random time in the window; now if it has passed', () => {
      expect(momentIn(window, life, plan)).toBe(NOW_MS + 2 * DAY_MS);
      expect(momentIn(window, life, { ...plan, random: () => 0 })).toBe(window.startMs);
      const nowMs = NOW_MS + 5 * DAY_MS;
      expect(momentIn(window, life, { ...plan, nowMs })).toBe(nowMs);
    });

    test('Renewal-1: a planned time in the window stays, so that renewals stay spread over the window', () => {
      const plannedMs = window.endMs - 1;
      expect(momentIn(window, life, { ...plan, plannedMs })).toBeNull();
      expect(momentIn(window, life, { ...plan, plannedMs: window.endMs + 1 })).toBe(NOW_MS + 2 * DAY_MS);
    });

    test('Renewal-2: of a late window only the part counts that leaves 2.5 days of a six-day certificate', () => {
      const sixDays = { notBeforeMs: NOW_MS, notAfterMs: NOW_MS + 6 * DAY_MS };
      const late = { startMs: NOW_MS + 3 * DAY_MS, endMs: NOW_MS + 6 * DAY_MS };
      expect(momentIn(late, sixDays, { ...plan, random: () => 1 })).toBe(sixDays.notAfterMs - 2.7 * DAY_MS);
      const tooLate = { startMs: NOW_MS + 4 * DAY_MS, endMs: NOW_MS + 5 * DAY_MS };
      expect(momentIn(tooLate, sixDays, plan)).toBeNull();
    });
  });
});

describe('requests and certificates as DER', () => {
  test.each([
    ['of one byte', 'a.test'],
    ['of two bytes', `${'long-label.'.repeat(5)}example.com`],
    ['of three bytes', `${'a'.repeat(60)}.`.repeat(4).concat('example')],
  ])(
    'Certificates-1: a request has its name, its key and their signature; lengths %s',
    async (_, hostname) => {
      const key = await generateKey();
      const request = new Pkcs10CertificateRequest(certificateRequest(hostname, key));
      expect(await request.verify()).toBe(true);
      expect(request.subject).toBe('');
      const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
      expect(publicKey.equals(Buffer.from(request.publicKey.rawData))).toBe(true);
      const names = request.extensions.map(({ rawData }) =>
        new SubjectAlternativeNameExtension(rawData).names.toJSON(),
      );
      expect(names).toEqual([[{ type: 'dns', value: hostname }]]);
    },
  );

  test('Certificates-2: a renewal id is that of RFC 9773; a certificate without a key identifier has none', async () => {
    expect(renewalId(new X509Certificate(RFC_9773_EXAMPLE))).toBe('aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE');
    const { certificatePem } = await createTestTls();
    expect(renewalId(new X509Certificate(certificatePem))).toBeNull();
  });

  test('Certificates-3: no bytes in the place of the key identifier make reading a certificate fail', () => {
    const { raw, serialNumber } = new X509Certificate(RFC_9773_EXAMPLE);
    const at = raw.indexOf(Buffer.from('0603551d23', 'hex')) + 5;
    for (let index = at; index < at + 6; index += 1) {
      for (let value = 0; value < 256; value += 1) {
        const changed = Buffer.from(raw);
        changed[index] = value;
        const id = renewalId({ raw: changed, serialNumber } as X509Certificate);
        if (id !== null) expect(id).toMatch(/^[\w-]*\.AIdlQyE$/);
      }
    }
  });
});

describe('private keys at rest', () => {
  const [older, newer] = [randomBytes(32), randomBytes(32)];

  test('sealed text reveals nothing, differs each time, and opens', () => {
    const sealer = new Sealer([older]);
    const [first, second] = [sealer.seal('secret text', 'a'), sealer.seal('secret text', 'a')];
    expect(first).not.toBe(second);
    expect(first).not.toContain(Buffer.from('secret').toString('base64url').slice(0, 6));
    expect(sealer.open(first, 'a')).toBe('secret text');
    expect(sealer.open(second, 'a')).toBe('secret text');
  });

  test('during a rotation both keys open and the new key seals; then the old key can be removed', () => {
    const before = new Sealer([older]);
    const during = new Sealer([newer, older]);
    const after = new Sealer([newer]);
    const sealed = before.seal('text', 'a');
    expect(during.open(sealed, 'a')).toBe('text');
    expect([before.isOutdated(sealed), during.isOutdated(sealed)]).toEqual([false, true]);
    const anew = during.seal(during.open(sealed, 'a'), 'a');
    expect(during.isOutdated(anew)).toBe(false);
    expect(after.open(anew, 'a')).toBe('text');
    expect(() => after.open(sealed, 'a')).toThrow('SECRET_KEY');
  });

  test('a changed text or another context does not open', () => {
    const sealer = new Sealer([older]);
    const sealed = sealer.seal('a private key', certificateKeyContext('a.test'));
    expect(() => sealer.open(sealed, certificateKeyContext('b.test'))).toThrow();
    const [version, id, body = ''] = sealed.split('.');
    const bytes = Buffer.from(body, 'base64url');
    for (let index = 0; index < bytes.length; index += 1) {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ 1;
      const text = `${version}.${id}.${changed.toString('base64url')}`;
      expect(() => sealer.open(text, certificateKeyContext('a.test'))).toThrow();
    }
    for (const text of ['', 'v1', `v1.${id}`, `v1.${id}.`, `v1.${id}.AAAA`, `v2.${id}.${body}`]) {
      expect(() => sealer.open(text, certificateKeyContext('a.test'))).toThrow();
    }
  });

  test('sealing needs a key', () => {
    expect(() => new Sealer([]).seal('text', 'a')).toThrow('SECRET_KEY');
  });
});
