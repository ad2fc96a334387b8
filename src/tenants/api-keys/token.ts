import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_BITS = 160;
/** 62^27 > 2^160 and 62^6 > 2^32. */
const RANDOM_LENGTH = 27;
const CHECKSUM_LENGTH = 6;
const TOKEN = new RegExp(`^pk_([0-9A-Za-z]{${RANDOM_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`);

/** A new bearer token: `pk_`, 160 random bits in base62, and their CRC32 in base62. */
export function newToken(): string {
  const random = base62(BigInt(`0x${randomBytes(RANDOM_BITS / 8).toString('hex')}`), RANDOM_LENGTH);
  return `pk_${random}${checksum(random)}`;
}

/**
 * Whether the text has a token's form and checksum. A typing error or a guess costs no query, and secret scanners can
 * recognise tokens.
 */
export function isToken(text: string): boolean {
  const [, random, check] = TOKEN.exec(text) ?? [];
  return random !== undefined && checksum(random) === check;
}

/** SHA-256 of the token in hex: the form that is stored and looked up. */
export function digestOf(token: string): string {
  return hash('sha256', token, 'hex');
}

/** The part of a token that lists show. */
export function prefixOf(token: string): string {
  return token.slice(0, 'pk_'.length + 6);
}

function checksum(random: string): string {
  return base62(BigInt(crc32(random)), CHECKSUM_LENGTH);
}

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = ALPHABET[Number(rest % 62n)] + text;
  return text.padStart(length, '0');
}
