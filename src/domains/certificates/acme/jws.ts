import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  sign,
} from 'node:crypto';
import { promisify } from 'node:util';

/** The key of an ACME account: ES256 (RFC 7518 §3.4). */
export class AccountKey {
  private readonly privateKey: KeyObject;
  /** RFC 7638; the part after the token in a key authorization. */
  readonly thumbprint: string;
  private readonly jwk: Readonly<Record<string, string>>;

  /** Throws when the PEM is not a P-256 private key. */
  constructor(pem: string) {
    this.privateKey = createPrivateKey(pem);
    const { crv, kty, x, y } = createPublicKey(this.privateKey).export({ format: 'jwk' });
    if (crv !== 'P-256' || !kty || !x || !y) throw new Error('an ACME account key must be on P-256');
    // In the order of RFC 7638 §3.2: the thumbprint depends on it.
    this.jwk = { crv, kty, x, y };
    this.thumbprint = createHash('sha256').update(JSON.stringify(this.jwk)).digest('base64url');
  }

  /** A signed request (RFC 8555 §6.2). A null payload reads a resource (§6.3); without `accountUrl` it contains the public key. */
  sign(payload: object | null, header: { url: string; nonce: string; accountUrl: string | null }): string {
    const { url, nonce, accountUrl } = header;
    const who = accountUrl === null ? { jwk: this.jwk } : { kid: accountUrl };
    const protectedHeader = base64url(JSON.stringify({ alg: 'ES256', ...who, nonce, url }));
    const body = payload === null ? '' : base64url(JSON.stringify(payload));
    const signature = sign('sha256', Buffer.from(`${protectedHeader}.${body}`), {
      key: this.privateKey,
      dsaEncoding: 'ieee-p1363',
    });
    return JSON.stringify({
      protected: protectedHeader,
      payload: body,
      signature: signature.toString('base64url'),
    });
  }
}

export async function generateKey(): Promise<KeyObject> {
  return (await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' })).privateKey;
}

export function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

const base64url = (text: string) => Buffer.from(text).toString('base64url');
