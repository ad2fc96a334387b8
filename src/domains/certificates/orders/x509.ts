import { createPublicKey, type KeyObject, sign, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';

/** The CA issued a certificate that can't be served. */
export class UnusableCertificate extends Error {}

/** Tags of ITU-T X.690. */
export const [INTEGER, BITS, OCTETS, SEQUENCE, SET] = [0x02, 0x03, 0x04, 0x30, 0x31];
/** Algorithm identifiers and object identifiers, encoded. */
export const ECDSA_WITH_SHA256 = Buffer.from('300a06082a8648ce3d040302', 'hex');
export const ALTERNATIVE_NAME = Buffer.from('0603551d11', 'hex');
const ISSUER_CHARACTERS = 255;
const AUTHORITY_KEY = Buffer.from('0603551d23', 'hex');
const KEY_ID = 0x80;
/** Longer contents have a length of several bytes. */
const SHORT_BYTES = 0x80;
/** The lengths of database columns. */
const CHAIN_CHARACTERS = 60_000;
const SERIAL_CHARACTERS = 64;
const EXTENSION_REQUEST = Buffer.from('06092a864886f70d01090e', 'hex');
const DNS_NAME = 0x82;
const ATTRIBUTES = 0xa0;
/** No common name: it is limited to 64 characters, and no client reads it any more. */
const NO_SUBJECT = der(SEQUENCE);
const VERSION = der(INTEGER, Buffer.from([0]));

/** A PKCS #10 request (RFC 2986) for one host name, as DER. `key` is a P-256 private key. RFC 8555 §7.4. D-191. */
export function certificateRequest(hostname: string, key: KeyObject): Buffer {
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const names = der(SEQUENCE, der(DNS_NAME, Buffer.from(hostname)));
  const extensions = der(SEQUENCE, der(SEQUENCE, ALTERNATIVE_NAME, der(OCTETS, names)));
  const attributes = der(ATTRIBUTES, der(SEQUENCE, EXTENSION_REQUEST, der(SET, extensions)));
  const request = der(SEQUENCE, VERSION, NO_SUBJECT, publicKey, attributes);
  const signature = der(BITS, Buffer.from([0]), sign('sha256', request, key));
  return der(SEQUENCE, request, ECDSA_WITH_SHA256, signature);
}

/**
 * Reads a chain (PEM, leaf first) and checks that its leaf can be served: for this host, with this key, now.
 * Returns facts from the leaf. Throws `UnusableCertificate`.
 */
export function readChain(
  chainPem: string,
  { hostname, key, nowMs }: { hostname: string; key: KeyObject; nowMs: number },
) {
  if (chainPem.length > CHAIN_CHARACTERS)
    throw new UnusableCertificate('the CA sent a chain that is too long');
  const leaf = leafOf(chainPem);
  if (leaf.serialNumber.length > SERIAL_CHARACTERS) {
    throw new UnusableCertificate('the serial number of the certificate is too long');
  }
  if (leaf.checkHost(hostname, { subject: 'never' }) === undefined) {
    throw new UnusableCertificate(`the certificate is not for ${hostname}`);
  }
  if (!leaf.checkPrivateKey(key)) {
    throw new UnusableCertificate('the certificate is for another key');
  }
  const notAfterMs = Date.parse(leaf.validTo);
  if (!(notAfterMs > nowMs)) throw new UnusableCertificate('the certificate has expired');
  return {
    /** For people: `Let's Encrypt R11`. */
    issuer: issuerName(leaf),
    serialNumber: leaf.serialNumber.toLowerCase(),
    notBeforeMs: Date.parse(leaf.validFrom),
    notAfterMs,
    /** RFC 9773 §4.1; null when the certificate names no authority key. */
    renewalId: renewalId(leaf),
  };
}

function leafOf(chainPem: string): X509Certificate {
  try {
    // Reads the whole chain, as each TLS server will.
    createSecureContext({ cert: chainPem });
    return new X509Certificate(chainPem);
  } catch (error) {
    throw new UnusableCertificate('the CA sent a chain that cannot be read', { cause: error });
  }
}

function issuerName(leaf: X509Certificate): string {
  const { O, CN } = leaf.toLegacyObject().issuer;
  const [organization, name] = [String(O ?? ''), String(CN ?? '')];
  const readable = name.includes(organization) ? name : `${organization} ${name}`.trim();
  return (readable || leaf.issuer.replaceAll('\n', ', ')).slice(0, ISSUER_CHARACTERS);
}

/**
 * The authority's key identifier and the serial number, as DER contents; null = not readable. RFC 9773 §4.1. Its extension
 * is found by its name, and has a key identifier only (RFC 5280 §4.2.1.1): each of the elements around that is short.
 */
export function renewalId({ raw, serialNumber }: X509Certificate): string | null {
  const at = raw.indexOf(AUTHORITY_KEY) + AUTHORITY_KEY.length;
  const [octets, , sequence, , tag, length = SHORT_BYTES] = raw.subarray(at, at + 6);
  if (octets !== OCTETS || sequence !== SEQUENCE || tag !== KEY_ID || length >= SHORT_BYTES) return null;
  const keyId = raw.subarray(at + 6, at + 6 + length);
  const serial = Buffer.from(serialNumber, 'hex');
  // A positive integer begins with a zero bit.
  const sign = (serial[0] ?? 0) < 0x80 ? [] : [0];
  return `${keyId.toString('base64url')}.${Buffer.from([...sign, ...serial]).toString('base64url')}`;
}

/** One element, encoded. Its parts have less than 64 KB. */
export function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  // DER demands the shortest form.
  const form = length < SHORT_BYTES ? [] : length < 0x100 ? [0x81] : [0x82, length >> 8];
  return Buffer.concat([Buffer.from([tag, ...form, length & 0xff]), content]);
}
