import { generateKeyPairSync, sign } from 'node:crypto';
import type { AcmeClient } from '../../../src/domains/certificates/acme/acme-client.js';
import { AcmeProblem, AcmeUnreachable } from '../../../src/domains/certificates/acme/acme-problem.js';
import type { Order, RenewalWindow } from '../../../src/domains/certificates/acme/acme-resources.js';
import {
  ALTERNATIVE_NAME,
  BITS,
  der,
  ECDSA_WITH_SHA256,
  INTEGER,
  OCTETS,
  SEQUENCE,
  SET,
} from '../../../src/domains/certificates/orders/x509.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
const CA_URL = 'https://ca.test';

/** How the authority works at present. */
export interface Policy {
  /** Lifetime of new certificates. */
  lifetimeMs: number;
  /** How long a validated authorization is reused. */
  reuseMs: number;
  /** `half`: orders are accepted, and every later request fails. `busy`: refuses with a Retry-After of a month. */
  reach: 'whole' | 'half' | 'busy' | 'away';
  /** The suggested renewal window of a certificate; null = no renewal information. */
  window: ((certificate: IssuedCertificate) => RenewalWindow) | null;
  /** False = the certificates to replace belong to another account. */
  knowsReplaced: boolean;
}

interface IssuedCertificate {
  hostname: string;
  notBeforeMs: number;
  notAfterMs: number;
  issuedAtMs: number;
  /** Ordered with `replaces`. */
  isReplacement: boolean;
}

/** A third of the lifetime before the end, half of a short one, as Let's Encrypt advises. */
export const usualWindow: Policy['window'] = ({ notBeforeMs, notAfterMs }) => {
  const lifetimeMs = notAfterMs - notBeforeMs;
  const idealMs = notAfterMs - lifetimeMs / (lifetimeMs < 10 * DAY_MS ? 2 : 3);
  return { startMs: idealMs - lifetimeMs / 100, endMs: idealMs + lifetimeMs / 100 };
};
const LIMITS = { ordersIn3Hours: 300, certificatesInAWeek: 50 };
/** Let's Encrypt in January 2027. */
export const PRESENT: Policy = {
  lifetimeMs: 90 * DAY_MS,
  reuseMs: 30 * DAY_MS,
  window: usualWindow,
  reach: 'whole',
  knowsReplaced: true,
};

interface PlacedOrder extends Pick<Order, 'url' | 'status'> {
  hostname: string;
  isReplacement: boolean;
  chainPem: string;
}

interface Setting {
  now(): number;
  policy: Policy;
  /** The key authorization that the host answers for the token; null = 404. */
  challengeAnswer(token: string, hostname: string): Promise<string | null>;
}

export interface SimulatedAuthority {
  client: AcmeClient;
  /** Oldest first. */
  issued: IssuedCertificate[];
  /** The rate limits that orders met. */
  limitsMet: string[];
}

/**
 * A CA on a simulated clock, with the rate limits and exemptions of Let's Encrypt (https://letsencrypt.org/docs/rate-limits/).
 * It has the methods of the ACME client, because thousands of orders over HTTPS would take minutes. Its certificates are real,
 * and have dates of the simulated clock.
 */
export function createSimulatedAuthority({ now, policy, challengeAnswer }: Setting): SimulatedAuthority {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const orders = new Map<string, PlacedOrder>();
  /** By host name. */
  const pending = new Map<string, PlacedOrder[]>();
  const authorizedUntilMs = new Map<string, number>();
  const issued: IssuedCertificate[] = [];
  const certified = new Set<string>();
  const replaced = new Set<string>();
  const firstOrdersAtMs: number[] = [];
  const limitsMet: string[] = [];

  const answer = (isNewOrder = false) => {
    const { reach } = policy;
    if (reach === 'whole' || (reach === 'half' && isNewOrder)) return;
    const retryAfterSeconds = reach === 'busy' ? 30 * 86_400 : null;
    throw new AcmeUnreachable('no answer', { url: CA_URL, retryAfterSeconds });
  };
  const limit = (what: string, count: number, most: number) => {
    if (count < most) return;
    limitsMet.push(`${new Date(now()).toISOString()} ${most} ${what}`);
    throw problem('rateLimited', what, 429);
  };
  const requireWithinLimits = (hostname: string) => {
    const atMs = now();
    const lastWeek: IssuedCertificate[] = [];
    for (let at = issued.length - 1; (issued[at]?.issuedAtMs ?? 0) > atMs - WEEK_MS; at -= 1) {
      lastWeek.push(issued[at] as IssuedCertificate);
    }
    const counted = lastWeek.filter(({ isReplacement }) => !isReplacement);
    const same = counted.filter((certificate) => certificate.hostname === hostname);
    limit(`certificates for ${hostname} in a week`, same.length, 5);
    // A name that had a certificate before is exempt from the other limits.
    if (certified.has(hostname)) return;
    const zone = registered(hostname);
    const ofZone = counted.filter((certificate) => registered(certificate.hostname) === zone);
    limit(`certificates for ${zone} in a week`, ofZone.length, 50);
    const recent = firstOrdersAtMs.filter((placedAtMs) => placedAtMs > atMs - 3 * HOUR_MS);
    limit('orders in three hours', recent.length, 300);
    firstOrdersAtMs.push(atMs);
  };
  const isAuthorized = (hostname: string) => (authorizedUntilMs.get(hostname) ?? 0) > now();
  const orderAt = (url: string) => {
    const order = orders.get(url);
    if (!order) throw problem('malformed', 'no such order', 404);
    if (order.status === 'ready' && !isAuthorized(order.hostname)) order.status = 'invalid';
    return order;
  };
  const shown = ({ url, status, hostname }: PlacedOrder): Order => ({
    url,
    status,
    authorizations: [`${CA_URL}/authz/${hostname}`],
    finalize: `${url}/finalize`,
    certificate: status === 'valid' ? `${url}/certificate` : null,
    error: null,
    retryAfterSeconds: null,
  });

  const client: Pick<AcmeClient, keyof AcmeClient> = {
    settings: {
      directoryUrl: CA_URL,
      email: null,
      caFile: null,
      caaIdentities: ['ca.test'],
      profile: null,
      limits: LIMITS,
    },
    caaIdentities: ['ca.test'],
    async directory() {
      answer(true);
      const urls = { newNonce: CA_URL, newAccount: CA_URL, newOrder: CA_URL };
      const renewalInfo = policy.window && CA_URL;
      return { ...urls, renewalInfo, caaIdentities: ['ca.test'], dateMs: now() };
    },
    async account() {
      answer(true);
      return `${CA_URL}/account`;
    },
    async newOrder(_, { hostname, replaces }) {
      answer(true);
      if (replaces === null) requireWithinLimits(hostname);
      else if (!policy.knowsReplaced) throw problem('unauthorized', 'the certificate is of another account');
      else if (replaced.has(replaces)) throw problem('alreadyReplaced', 'replaced', 409);
      if (replaces !== null) replaced.add(replaces);
      const url = `${CA_URL}/order/${orders.size + 1}`;
      const status = isAuthorized(hostname) ? 'ready' : 'pending';
      const order: PlacedOrder = { url, status, hostname, isReplacement: replaces !== null, chainPem: '' };
      orders.set(url, order);
      if (status === 'pending') pending.set(hostname, [...(pending.get(hostname) ?? []), order]);
      return shown(order);
    },
    async order(_, url) {
      answer();
      return shown(orderAt(url));
    },
    async authorization(_, url) {
      answer();
      const hostname = url.split('/').at(-1) ?? '';
      const status = isAuthorized(hostname) ? 'valid' : 'pending';
      return { status, challenge: { url, status, token: tokenOf(hostname), error: null } };
    },
    async respond({ key }, url) {
      answer();
      const hostname = url.split('/').at(-1) ?? '';
      const token = tokenOf(hostname);
      if ((await challengeAnswer(token, hostname)) !== `${token}.${key.thumbprint}`) {
        throw new Error(`${hostname} does not answer its challenge`);
      }
      authorizedUntilMs.set(hostname, now() + policy.reuseMs);
      for (const order of pending.get(hostname) ?? []) order.status = 'ready';
      pending.delete(hostname);
    },
    async finalize(_, { url }, csr) {
      answer();
      const order = orderAt(url);
      const { status, hostname, isReplacement } = order;
      if (status !== 'ready') throw problem('orderNotReady', status);
      const issuedAtMs = now();
      const notBeforeMs = issuedAtMs - HOUR_MS;
      const certificate = { hostname, notBeforeMs, notAfterMs: notBeforeMs + policy.lifetimeMs };
      issued.push({ ...certificate, issuedAtMs, isReplacement });
      certified.add(hostname);
      const signed = signCertificate({ ...certificate, serial: issued.length, csr }, (tbs) =>
        sign('sha256', tbs, privateKey),
      );
      const base64 = signed.toString('base64');
      order.chainPem = `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`;
      order.status = 'valid';
      return shown(order);
    },
    async chain(_, url) {
      answer();
      return orderAt(url.slice(0, -'/certificate'.length)).chainPem;
    },
    async renewalWindow(renewalId) {
      answer();
      const serial = Buffer.from(renewalId.split('.')[1] ?? '', 'base64url').readUInt32BE();
      return policy.window?.(issued[serial - 0x10_00_00_01] as IssuedCertificate) ?? null;
    },
  };
  return { client: client as AcmeClient, issued, limitsMet };
}

function problem(type: string, detail: string, status = 403): AcmeProblem {
  const document = { type: `urn:ietf:params:acme:error:${type}`, detail };
  return new AcmeProblem(document, { url: CA_URL, status });
}

function registered(hostname: string): string {
  return hostname.split('.').slice(-2).join('.');
}

function tokenOf(hostname: string): string {
  return hostname.replaceAll('.', '_');
}

interface CertificateFacts {
  serial: number;
  hostname: string;
  notBeforeMs: number;
  notAfterMs: number;
  /** DER. Its key is on P-256. */
  csr: Buffer;
}

const [UTF8, TIME] = [0x0c, 0x18];
const P256_KEY = Buffer.from('3059301306072a8648ce3d020106082a8648ce3d030107034200', 'hex');
const COMMON_NAME = Buffer.from('0603550403', 'hex');
const AUTHORITY_KEY = Buffer.from('0603551d23', 'hex');

/** RFC 5280 §4.1. A library takes ten times as long. */
function signCertificate(
  { serial, hostname, notBeforeMs, notAfterMs, csr }: CertificateFacts,
  signed: (tbs: Buffer) => Buffer,
): Buffer {
  const keyAt = csr.indexOf(P256_KEY);
  const number = Buffer.alloc(4);
  number.writeUInt32BE(0x10_00_00_00 + serial);
  const issuer = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8, Buffer.from('Simulated CA')))));
  const authorityKey = der(SEQUENCE, der(0x80, Buffer.from('simulated')));
  const alternativeName = der(SEQUENCE, der(0x82, Buffer.from(hostname)));
  const tbs = der(
    SEQUENCE,
    der(0xa0, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, number),
    ECDSA_WITH_SHA256,
    issuer,
    der(SEQUENCE, time(notBeforeMs), time(notAfterMs)),
    der(SEQUENCE),
    csr.subarray(keyAt, keyAt + 91),
    der(
      0xa3,
      der(
        SEQUENCE,
        der(SEQUENCE, AUTHORITY_KEY, der(OCTETS, authorityKey)),
        der(SEQUENCE, ALTERNATIVE_NAME, der(OCTETS, alternativeName)),
      ),
    ),
  );
  return der(SEQUENCE, tbs, ECDSA_WITH_SHA256, der(BITS, Buffer.from([0]), signed(tbs)));
}

function time(ms: number): Buffer {
  return der(TIME, Buffer.from(`${new Date(ms).toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`));
}
