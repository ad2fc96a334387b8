import type { Socket as TcpSocket } from 'node:net';
import packet, { type DecodedPacket, type OptAnswer, type Packet } from 'dns-packet';
import type { Said } from './dns-zones.js';

/**
 * A fault of a DNS server.
 * `drop`: no answer.
 * `truncate`: the UDP answer only says to ask by TCP.
 * `lame`: answers without authority.
 * `bogus`: fails DNSSEC validation: SERVFAIL with an Extended DNS Error, except when checking is disabled.
 * `wrong id` and `wrong question`: a forged packet and no other.
 * `garbage`: a packet that cannot be decoded.
 * `no edns`: FORMERR to EDNS0.
 * `delayMs`: the right answer, late; with `isQuickUnchecked` at once when checking is disabled.
 * `dropFirst`: the first packets are lost, later ones are answered.
 * `failFirst`: the first questions are answered with SERVFAIL unless checking is disabled, later ones rightly.
 * `says`: this code, with an Extended DNS Error; with `isBogus` only while checking is not disabled.
 * `hostile`: the UDP answer says to ask by TCP, where this function has the connection.
 */
export type DnsFault =
  | 'servfail'
  | 'refused'
  | 'formerr'
  | 'notimp'
  | 'drop'
  | 'truncate'
  | 'lame'
  | 'bogus'
  | 'wrong id'
  | 'wrong question'
  | 'garbage'
  | 'no edns'
  | { delayMs: number; isQuickUnchecked?: boolean }
  | { dropFirst: number }
  | { failFirst: number }
  | {
      says: 'SERVFAIL' | 'REFUSED';
      code?: number;
      text?: string;
      isAuthoritative?: boolean;
      isBogus?: boolean;
    }
  | { hostile: (query: Buffer, socket: TcpSocket) => void };

const RCODES = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 };
const REFUSALS = { servfail: 2, refused: 5, formerr: 1, notimp: 4 };
const BOGUS = {
  says: 'SERVFAIL',
  code: 9,
  text: 'DNSKEY Missing: no SEP matching the DS found',
  isBogus: true,
} as const;

interface Occasion {
  query: DecodedPacket;
  said: Said;
  fault: DnsFault | undefined;
  protocol: 'udp' | 'tcp';
}

export function messageFor({ query, said, fault, protocol }: Occasion): Buffer {
  if (fault === 'garbage') return Buffer.concat([idOf(query), Buffer.from('ffffffffffffffffffff', 'hex')]);
  const edns = query.additionals?.find((record): record is OptAnswer => record.type === 'OPT');
  const refusal = refusalOf(fault, query);
  let rcode = refusal ? RCODES[refusal.says] : RCODES[said.rcode];
  if (typeof fault === 'string' && fault in REFUSALS) rcode = REFUSALS[fault as keyof typeof REFUSALS];
  if (fault === 'no edns' && edns) rcode = RCODES.FORMERR;
  const isEmpty = rcode !== RCODES[said.rcode];
  const isAuthoritative = refusal?.isAuthoritative ?? (said.isAuthoritative && fault !== 'lame' && !isEmpty);
  const [question] = query.questions ?? [];
  // Signatures are only for those who ask for them.
  const answers = said.answers.filter(({ type }) => type !== 'RRSIG' || edns?.flag_do);
  const options = refusal?.code === undefined ? [] : [{ code: 15, data: extendedError(refusal) }];
  const message: Packet = {
    type: 'response',
    id: fault === 'wrong id' ? ((query.id ?? 0) + 1) & 0xffff : (query.id ?? 0),
    flags:
      rcode |
      (isAuthoritative ? packet.AUTHORITATIVE_ANSWER : 0) |
      (query.flag_rd ? packet.RECURSION_DESIRED | packet.RECURSION_AVAILABLE : 0),
    questions:
      fault === 'wrong question' && question
        ? [{ ...question, name: 'forged.test' }]
        : [question].flatMap((q) => q ?? []),
    answers: isEmpty ? [] : answers,
    authorities: isEmpty ? [] : said.authorities,
    additionals: [
      ...(isEmpty ? [] : said.additionals),
      ...(edns && fault !== 'no edns' ? [{ ...edns, options: options as never }] : []),
    ],
  };
  const encoded = packet.encode(message);
  const fits = protocol === 'tcp' || encoded.length <= (edns?.udpPayloadSize ?? 512);
  if (fits && !(fault === 'truncate' && protocol === 'udp')) return encoded;
  const flags = (message.flags ?? 0) | packet.TRUNCATED_RESPONSE;
  return packet.encode({ ...message, flags, answers: [], authorities: [] });
}

type Refusal = Extract<DnsFault, { says: unknown }>;

function refusalOf(fault: DnsFault | undefined, query: DecodedPacket): Refusal | null {
  if (fault === 'bogus') return query.flag_cd ? null : BOGUS;
  if (typeof fault !== 'object') return null;
  if ('failFirst' in fault) return query.flag_cd ? null : { says: 'SERVFAIL' };
  if (!('says' in fault) || (fault.isBogus && query.flag_cd)) return null;
  return fault;
}

function extendedError({ code = 0, text = '' }: Refusal): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(code);
  return Buffer.concat([bytes, Buffer.from(text)]);
}

function idOf({ id = 0 }: DecodedPacket): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(id);
  return bytes;
}
