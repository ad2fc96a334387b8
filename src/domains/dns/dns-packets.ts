import { SocketAddress } from 'node:net';
import type { Answer, CaaRecord, Question, ResourceRecord } from './dns-message.js';
import type { ExtendedError } from './extended-error.js';

/** A zone with 60 TXT records at its apex answers with 5 KB. Signatures are requested for single questions only. */
export const MAX_MESSAGE_BYTES = 8_192;
/** A hundred, and the one of EDNS0. */
const MAX_RECORDS = 101;
/** Labels and compression pointers of all names together: 100 records may have names of 18 labels. D-167. */
const MAX_NAME_STEPS = 2_000;
const MAX_NAME_BYTES = 255;
const MAX_LABEL_BYTES = 63;
/** The size that avoids IP fragmentation (DNS flag day 2020). */
const UDP_PAYLOAD_BYTES = 1232;
const EXTENDED_ERROR_OPTION = 15;
const HEADER_BYTES = 12;
const IN = 1;
const FLAGS = { response: 0x8000, authoritative: 0x400, truncated: 0x200, recursion: 0x100, unchecked: 0x10 };
/** EDNS0: the answer may have signatures (RFC 3225). */
const DNSSEC_OK = 0x8000;
const TYPES = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  TXT: 16,
  AAAA: 28,
  DNAME: 39,
  OPT: 41,
  DS: 43,
  RRSIG: 46,
  CAA: 257,
};
const ADDRESS_TYPES = [TYPES.A, TYPES.AAAA];
const TYPE_NAMES = new Map(Object.entries(TYPES).map(([name, number]) => [number, name]));
const RCODES =
  'NOERROR FORMERR SERVFAIL NXDOMAIN NOTIMP REFUSED YXDOMAIN YXRRSET NXRRSET NOTAUTH NOTZONE'.split(' ');

export interface Query {
  id: number;
  question: Question;
  recursionDesired: boolean;
  /** The resolver answers even when DNSSEC validation fails, with the signatures. */
  checkingDisabled: boolean;
  /** EDNS0: servers from before 1999, and some middleboxes, answer FORMERR to it. */
  hasEdns: boolean;
}

type DecodedAnswer = Omit<Answer, 'server' | 'question' | 'atMs'>;

/** Throws `RangeError` when the name can't be sent. */
export function encodeQuery({ id, question, recursionDesired, checkingDisabled, hasEdns }: Query): Buffer {
  if (!isSendable(question.name)) throw new RangeError(`not a name: ${question.name}`);
  const flags = (recursionDesired ? FLAGS.recursion : 0) | (checkingDisabled ? FLAGS.unchecked : 0);
  const labels = question.name === '' ? [] : question.name.split('.');
  return Buffer.concat([
    numbers16(id, flags, 1, 0, 0, hasEdns ? 1 : 0),
    ...labels.map((label) => Buffer.from(String.fromCharCode(label.length) + label)),
    Buffer.of(0),
    numbers16(TYPES[question.type], IN),
    ...(hasEdns
      ? [Buffer.of(0), numbers16(TYPES.OPT, UDP_PAYLOAD_BYTES, 0, checkingDisabled ? DNSSEC_OK : 0, 0)]
      : []),
  ]);
}

/**
 * Whether the message answers the query: neither late nor forged. Servers that refuse a query often omit its question. A
 * message with several questions is left to `decodeAnswer`, which refuses it.
 */
export function isReplyTo(query: Buffer, message: Buffer): boolean {
  if (message.length < HEADER_BYTES || message.readUInt16BE(0) !== query.readUInt16BE(0)) return false;
  const flags = message.readUInt16BE(2);
  if ((flags & FLAGS.response) === 0) return false;
  const questions = message.readUInt16BE(4);
  if (questions === 0) return !['NOERROR', 'NXDOMAIN'].includes(RCODES[flags & 0xf] ?? '');
  const end = query.indexOf(0, HEADER_BYTES) + 5;
  const questionOf = (bytes: Buffer) => bytes.toString('latin1', HEADER_BYTES, end).toLowerCase();
  return questions > 1 || questionOf(message) === questionOf(query);
}

/** Whether the rest of the answer must be fetched over TCP. */
export function isTruncated(message: Buffer): boolean {
  return (message.readUInt16BE(2) & FLAGS.truncated) !== 0;
}

export function isFormatError(message: Buffer): boolean {
  return RCODES[message.readUInt8(3) & 0xf] === 'FORMERR';
}

/** Throws when the message is malformed or exceeds a bound. */
export function decodeAnswer(message: Buffer): DecodedAnswer {
  const [flags = 0, questions = 0, ...counts] = [2, 4, 6, 8, 10].map((at) => message.readUInt16BE(at));
  if (message.length > MAX_MESSAGE_BYTES || questions > 1 || counts.reduce((a, b) => a + b) > MAX_RECORDS) {
    throw new RangeError('the message is too large');
  }
  const reader = new Reader(message);
  if (questions === 1) reader.skipQuestion();
  const [records = [], authority = [], additional = []] = counts.map((count) =>
    Array.from({ length: count }, () => reader.record()),
  );
  const edns = additional.find(({ type }) => type === TYPES.OPT);
  // The upper eight bits of the code are in the EDNS0 record.
  const rcode = (((edns?.ttl ?? 0) >>> 24) << 4) | (flags & 0xf);
  return {
    rcode: RCODES[rcode] ?? `RCODE_${rcode}`,
    isAuthoritative: (flags & FLAGS.authoritative) !== 0,
    records: records.map((raw) => recordOf(raw, reader)),
    authority: authority.map((raw) => recordOf(raw, reader)),
    glue: additional.filter(({ type }) => ADDRESS_TYPES.includes(type)).map((raw) => recordOf(raw, reader)),
    extendedError: edns ? extendedError(edns.data) : null,
  };
}

/** False for a name with an escaped character, which no host has. */
export function isSendable(name: string): boolean {
  const labels = name.split('.');
  return name === '' || (name.length <= 253 && labels.every((label) => /^[!-[\]-~]{1,63}$/.test(label)));
}

interface RawRecord {
  name: string;
  type: number;
  ttl: number;
  data: Buffer;
  /** Where `data` begins in the message. */
  at: number;
}

/** Reads a message from its first question on. Throws at the end of the message. */
class Reader {
  private at = HEADER_BYTES;
  private stepsLeft = MAX_NAME_STEPS;

  constructor(private readonly bytes: Buffer) {}

  skipQuestion(): void {
    this.at = this.nameAt(this.at).end + 4;
  }

  record(): RawRecord {
    const { name, end } = this.nameAt(this.at);
    const at = end + 10;
    this.at = at + this.bytes.readUInt16BE(end + 8);
    if (this.at > this.bytes.length) throw new RangeError('the record is cut off');
    const [type, ttl] = [this.bytes.readUInt16BE(end), this.bytes.readUInt32BE(end + 4)];
    return { name, type, ttl, data: this.bytes.subarray(at, this.at), at };
  }

  /** The name in lower case, without a trailing dot, and the place behind it. The steps end a loop of pointers. */
  nameAt(start: number): { name: string; end: number } {
    const labels: string[] = [];
    let end = 0;
    let size = 0;
    for (let at = start; ; ) {
      const length = this.bytes.readUInt8(at);
      if (length === 0) return { name: labels.join('.').toLowerCase(), end: end || at + 1 };
      const isPointer = length >= 0xc0;
      this.stepsLeft -= 1;
      size += isPointer ? 0 : 1 + length;
      if (this.stepsLeft < 0 || size >= MAX_NAME_BYTES || (length > MAX_LABEL_BYTES && !isPointer)) {
        throw new RangeError('the name is too long');
      }
      if (isPointer) {
        end ||= at + 2;
        at = this.bytes.readUInt16BE(at) & 0x3fff;
      } else {
        at += 1 + length;
        const label = this.bytes.toString('latin1', at - length, at);
        labels.push(/[.\\]/.test(label) ? label.replaceAll(/[.\\]/g, '\\$&') : label);
      }
    }
  }
}

function recordOf(raw: RawRecord, reader: Reader): ResourceRecord {
  const caa = raw.type === TYPES.CAA ? caaOf(raw.data) : null;
  return {
    name: raw.name,
    type: TYPE_NAMES.get(raw.type) ?? `TYPE${raw.type}`,
    // RFC 2181 §8: a TTL with the highest bit set means 0.
    ttlSeconds: raw.ttl > 0x7fffffff ? 0 : raw.ttl,
    value: caa ? `${raw.data[0]} ${caa.tag} "${caa.value}"` : presentation(raw, reader),
    caa,
  };
}

function presentation({ type, data, at }: RawRecord, reader: Reader): string {
  switch (type) {
    case TYPES.A:
      return sized(data, 4).join('.');
    case TYPES.AAAA: {
      const groups = sized(data, 16).toString('hex').match(/.{4}/g) ?? [];
      // The canonical spelling.
      return new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address;
    }
    case TYPES.CNAME:
    case TYPES.DNAME:
    case TYPES.NS:
      return reader.nameAt(at).name;
    case TYPES.SOA: {
      const primary = reader.nameAt(at);
      const mailbox = reader.nameAt(primary.end);
      const numbers = [0, 4, 8, 12, 16].map((offset) => data.readUInt32BE(mailbox.end - at + offset));
      return [primary.name, mailbox.name, ...numbers].join(' ');
    }
    case TYPES.TXT:
      return joinedStrings(data);
    case TYPES.RRSIG:
      return signature(data);
    default:
      return `\\# ${data.length}`;
  }
}

function sized(data: Buffer, size: number): Buffer {
  if (data.length !== size) throw new RangeError('the address has another size');
  return data;
}

/** `A 13 3 300 20261231235959 20261201000000 4711`: without the signer and the signature. */
function signature(data: Buffer): string {
  const type = data.readUInt16BE(0);
  const dates = [8, 12].map((at) => new Date(data.readUInt32BE(at) * 1_000).toISOString());
  return [
    TYPE_NAMES.get(type) ?? `TYPE${type}`,
    data.readUInt8(2),
    data.readUInt8(3),
    data.readUInt32BE(4),
    ...dates.map((date) => date.replace(/\D/g, '').slice(0, 14)),
    data.readUInt16BE(16),
  ].join(' ');
}

function joinedStrings(data: Buffer): string {
  const strings: Buffer[] = [];
  for (let at = 0; at < data.length; at += 1 + data.readUInt8(at)) {
    strings.push(data.subarray(at + 1, at + 1 + data.readUInt8(at)));
  }
  return Buffer.concat(strings).toString();
}

function caaOf(data: Buffer): CaaRecord {
  const end = 2 + data.readUInt8(1);
  const tag = data.toString('latin1', 2, end).toLowerCase();
  return { isCritical: (data.readUInt8(0) & 0x80) !== 0, tag, value: data.toString('utf8', end) };
}

function extendedError(options: Buffer): ExtendedError | null {
  for (let at = 0; at < options.length; ) {
    const end = at + 4 + options.readUInt16BE(at + 2);
    const isError = options.readUInt16BE(at) === EXTENDED_ERROR_OPTION && end >= at + 6;
    if (isError) {
      return { code: options.readUInt16BE(at + 4), text: options.toString('utf8', at + 6, end).trim() };
    }
    at = end;
  }
  return null;
}

function numbers16(...values: number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, 2 * index);
  return bytes;
}
