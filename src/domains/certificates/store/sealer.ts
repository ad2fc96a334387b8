import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts private keys for the database: AES-256-GCM with the first key. Any of the keys decrypts. To rotate, put a new key
 * in front, and drop the old one once no row is sealed with it.
 */
export class Sealer {
  private readonly keys: readonly { id: string; key: Buffer }[];

  constructor(keys: readonly Buffer[]) {
    this.keys = keys.map((key) => {
      // An id that distinguishes keys and reveals nothing about them.
      const digest = createHash('sha256').update('petstore-secret-key-id').update(key).digest('hex');
      return { id: digest.slice(0, 8), key };
    });
  }

  /** `context` is the purpose of the text. Only the same context opens it, so that rows can't be swapped. */
  seal(text: string, context: string): string {
    const [current] = this.keys;
    if (!current) throw new Error('nothing can be sealed without SECRET_KEY');
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, current.key, iv).setAAD(Buffer.from(context));
    const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `v1.${current.id}.${sealed.toString('base64url')}`;
  }

  /** Throws when none of the keys sealed it, when it was changed, or for another context. */
  open(sealed: string, context: string): string {
    const [version, id, body = ''] = sealed.split('.');
    const known = this.keys.find((candidate) => candidate.id === id);
    if (version !== 'v1' || !known) {
      throw new Error(
        'a private key is sealed with a SECRET_KEY that is not set here; see SECRET_KEY_PREVIOUS',
      );
    }
    const bytes = Buffer.from(body, 'base64url');
    const tagAt = bytes.length - TAG_BYTES;
    const decipher = createDecipheriv(ALGORITHM, known.key, bytes.subarray(0, IV_BYTES))
      .setAAD(Buffer.from(context))
      .setAuthTag(bytes.subarray(tagAt));
    return decipher.update(bytes.subarray(IV_BYTES, tagAt), undefined, 'utf8') + decipher.final('utf8');
  }

  /** Whether the text should be sealed again, because another than the first key sealed it. */
  isOutdated(sealed: string): boolean {
    return sealed.split('.')[1] !== this.keys[0]?.id;
  }
}

export function certificateKeyContext(hostname: string): string {
  return `certificate:${hostname}`;
}
