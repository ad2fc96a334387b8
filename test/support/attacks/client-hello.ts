import { createECDH, randomBytes } from 'node:crypto';

/** Key-agreement groups of TLS 1.3, each with a valid share that costs the client little. */
export const GROUPS = {
  p384: { id: 0x18, share: () => createECDH('secp384r1').generateKeys() },
  /** Any number below the prime is valid: RFC 8446 §4.2.8.1. */
  ffdhe8192: { id: 0x104, share: () => Buffer.concat([Buffer.of(1), randomBytes(1_023)]) },
};

/** Returns the first message of a TLS 1.3 handshake, which offers only this group. */
export function clientHello(serverName: string, { id, share }: (typeof GROUPS)[keyof typeof GROUPS]): Buffer {
  const [AES_128_GCM_SHA256, TLS_1_2, TLS_1_3] = [0x1301, 0x0303, 0x0304];
  const [ECDSA_P256_SHA256, RSA_PSS_SHA256] = [0x0403, 0x0804];
  const extensions = Buffer.concat([
    extension(0, withLength16(Buffer.of(0), withLength16(Buffer.from(serverName)))),
    extension(10, withLength16(number16(id))),
    extension(13, withLength16(number16(ECDSA_P256_SHA256), number16(RSA_PSS_SHA256))),
    extension(43, withLength8(number16(TLS_1_3))),
    extension(51, withLength16(number16(id), withLength16(share()))),
  ]);
  const message = withLength16(
    number16(TLS_1_2),
    randomBytes(32),
    withLength8(),
    withLength16(number16(AES_128_GCM_SHA256)),
    withLength8(Buffer.of(0)),
    withLength16(extensions),
  );
  const handshake = Buffer.concat([Buffer.of(1, 0), message]);
  return Buffer.concat([Buffer.of(22, 3, 1), withLength16(handshake)]);
}

function extension(type: number, content: Buffer): Buffer {
  return Buffer.concat([number16(type), withLength16(content)]);
}

function withLength8(...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(content.length), content]);
}

function withLength16(...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([number16(content.length), content]);
}

function number16(value: number): Buffer {
  return Buffer.of(value >> 8, value & 0xff);
}
