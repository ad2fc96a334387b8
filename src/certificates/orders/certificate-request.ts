import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { ALTERNATIVE_NAME, BITS, der, ECDSA_WITH_SHA256, INTEGER, OCTETS, SEQUENCE, SET } from './der.js';

const EXTENSION_REQUEST = Buffer.from('06092a864886f70d01090e', 'hex');
const DNS_NAME = 0x82;
const ATTRIBUTES = 0xa0;
/** No common name: it is limited to 64 characters, and no client reads it any more. */
const NO_SUBJECT = der(SEQUENCE);
const VERSION = der(INTEGER, Buffer.from([0]));

/** A PKCS #10 request (RFC 2986) for one host name, as DER. `key` is a P-256 private key. RFC 8555 §7.4. */
export function certificateRequest(hostname: string, key: KeyObject): Buffer {
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const names = der(SEQUENCE, der(DNS_NAME, Buffer.from(hostname)));
  const extensions = der(SEQUENCE, der(SEQUENCE, ALTERNATIVE_NAME, der(OCTETS, names)));
  const attributes = der(ATTRIBUTES, der(SEQUENCE, EXTENSION_REQUEST, der(SET, extensions)));
  const request = der(SEQUENCE, VERSION, NO_SUBJECT, publicKey, attributes);
  const signature = der(BITS, Buffer.from([0]), sign('sha256', request, key));
  return der(SEQUENCE, request, ECDSA_WITH_SHA256, signature);
}
