import { SocketAddress } from 'node:net';
import packet from 'dns-packet';
import type { Answer, Question, ResourceRecord } from './dns-message.js';

/** The size that avoids IP fragmentation (DNS flag day 2020). */
const UDP_PAYLOAD_BYTES = 1232;
const EXTENDED_ERROR_OPTION = 15;

export interface Query {
  id: number;
  question: Question;
  recursionDesired: boolean;
  /** The resolver answers even when DNSSEC validation fails. */
  checkingDisabled: boolean;
  /** EDNS0: servers from before 1999, and some middleboxes, answer FORMERR to it. */
  hasEdns: boolean;
}

export type Reply = Omit<Answer, 'server' | 'question' | 'atMs'> & { isTruncated: boolean };

/** Throws `RangeError` when the name can't be sent. */
export function encodeQuery({ id, question, recursionDesired, checkingDisabled, hasEdns }: Query): Buffer {
  // The codec does not check label lengths, and would encode another name.
  if (!isSendable(question.name)) throw new RangeError(`not a name: ${question.name}`);
  return packet.encode({
    type: 'query',
    id,
    flags:
      (recursionDesired ? packet.RECURSION_DESIRED : 0) | (checkingDisabled ? packet.CHECKING_DISABLED : 0),
    questions: [{ name: question.name, type: question.type }],
    additionals: hasEdns
      ? [
          {
            type: 'OPT',
            name: '.',
            udpPayloadSize: UDP_PAYLOAD_BYTES,
            extendedRcode: 0,
            ednsVersion: 0,
            flags: 0,
            flag_do: false,
            options: [],
          },
        ]
      : [],
  });
}

/** Null = not the answer to this query: late or forged. Throws when the message is malformed. */
export function decodeReply(message: Buffer, { id, question }: Query): Reply | null {
  if (message.length < 12 || message.readUInt16BE(0) !== id) return null;
  const decoded = packet.decode(message) as packet.DecodedPacket & { rcode: string };
  if (!decoded.flag_qr || !repeats(decoded, question)) return null;
  const edns = decoded.additionals?.find((record) => record.type === 'OPT');
  return {
    rcode: edns && edns.extendedRcode > 0 ? extendedRcode(message, edns) : decoded.rcode,
    isAuthoritative: decoded.flag_aa,
    isTruncated: decoded.flag_tc,
    records: recordsOf(decoded.answers),
    authority: recordsOf(decoded.authorities),
    extendedError: edns ? extendedError(edns.options) : null,
  };
}

export function isSendable(name: string): boolean {
  const labels = name.split('.');
  return name === '' || (name.length <= 253 && labels.every((label) => /^[\x21-\x7e]{1,63}$/.test(label)));
}

/** Whether the reply repeats the question. Servers that refuse a query often omit it. */
function repeats({ questions = [], rcode }: packet.Packet & { rcode: string }, question: Question): boolean {
  const [repeated, ...more] = questions;
  if (!repeated) return rcode !== 'NOERROR' && rcode !== 'NXDOMAIN';
  return more.length === 0 && plainName(repeated.name) === question.name && repeated.type === question.type;
}

function recordsOf(answers: readonly packet.Answer[] = []): ResourceRecord[] {
  return answers.flatMap((answer) => (answer.type === 'OPT' ? [] : [recordOf(answer)]));
}

function recordOf(answer: Exclude<packet.Answer, packet.OptAnswer>): ResourceRecord {
  const ttlSeconds = answer.ttl ?? 0;
  return {
    name: plainName(answer.name),
    type: answer.type,
    // RFC 2181 §8: a TTL with the highest bit set means 0.
    ttlSeconds: ttlSeconds > 0x7fffffff ? 0 : ttlSeconds,
    value: presentation(answer),
    caa:
      answer.type === 'CAA'
        ? {
            isCritical: answer.data.issuerCritical === true,
            tag: answer.data.tag.toLowerCase(),
            value: answer.data.value,
          }
        : null,
  };
}

function presentation(answer: Exclude<packet.Answer, packet.OptAnswer>): string {
  switch (answer.type) {
    case 'A':
      return answer.data;
    case 'AAAA':
      return plainAddress(answer.data);
    case 'CNAME':
    case 'DNAME':
    case 'NS':
    case 'PTR':
      return plainName(answer.data);
    case 'SOA': {
      const { mname, rname, serial, refresh, retry, expire, minimum } = answer.data;
      return [plainName(mname), plainName(rname), serial, refresh, retry, expire, minimum].join(' ');
    }
    case 'TXT':
      return Buffer.concat([answer.data].flat().map((part) => Buffer.from(part))).toString('utf8');
    case 'CAA':
      return `${answer.data.flags ?? 0} ${answer.data.tag} "${answer.data.value}"`;
    default:
      return Buffer.isBuffer(answer.data) ? `\\# ${answer.data.length}` : JSON.stringify(answer.data);
  }
}

/** The upper eight bits are in the EDNS0 record. */
function extendedRcode(message: Buffer, edns: packet.OptAnswer): string {
  return `RCODE_${(edns.extendedRcode << 4) | (message.readUInt8(3) & 0x0f)}`;
}

function extendedError(options: readonly packet.PacketOpt[]): string | null {
  const option = options.find(({ code }) => (code as number) === EXTENDED_ERROR_OPTION);
  if (!option?.data || option.data.length < 2) return null;
  return `${option.data.readUInt16BE(0)} ${option.data.toString('utf8', 2)}`.trim();
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}

/** The canonical spelling of an IPv6 address. */
function plainAddress(address: string): string {
  return new SocketAddress({ address, family: 'ipv6' }).address;
}
