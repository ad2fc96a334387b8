import { createSocket } from 'node:dgram';
import packet, { type Answer, type RecordClass, type RecordType } from 'dns-packet';
import type { DnsServer } from '../../../src/ground/config/config.js';

interface RawQuestion {
  name: string;
  type: RecordType;
  class?: RecordClass;
  /** Asks a validating resolver to answer even if validation fails. */
  isCheckingDisabled?: boolean;
}

interface RawAnswer {
  rcode: string;
  /** The server has validated the answer. */
  isAuthentic: boolean;
  /** Without signatures. */
  answers: Answer[];
  /** Extended DNS Error (RFC 8914); null = none. */
  extendedError: { code: number; text: string } | null;
}

const EXTENDED_ERROR_OPTION = 15;

/** Sends one question by UDP, with DNSSEC requested, without any code of the product. Rejects after `withinMs`. */
export async function askRaw(server: DnsServer, question: RawQuestion, withinMs = 2_000): Promise<RawAnswer> {
  const { name, type, class: recordClass = 'IN', isCheckingDisabled = false } = question;
  const query = packet.encode({
    type: 'query',
    id: 4711,
    flags: packet.RECURSION_DESIRED | (isCheckingDisabled ? packet.CHECKING_DISABLED : 0),
    questions: [{ name, type, class: recordClass }],
    additionals: [
      {
        type: 'OPT',
        name: '.',
        udpPayloadSize: 1232,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: packet.DNSSEC_OK,
        flag_do: true,
        options: [],
      },
    ],
  });
  return read(await exchange(server, query, withinMs));
}

function exchange({ address, port }: DnsServer, query: Buffer, withinMs: number): Promise<Buffer> {
  const socket = createSocket('udp4');
  return new Promise<Buffer>((resolve, reject) => {
    const noAnswer = () => reject(new Error(`no answer from ${address}:${port} within ${withinMs} ms`));
    const timer = setTimeout(noAnswer, withinMs);
    const end = (settle: () => void) => {
      clearTimeout(timer);
      settle();
    };
    socket.once('message', (message) => end(() => resolve(message)));
    socket.once('error', (error) => end(() => reject(error)));
    // A connected socket reports a closed port as an error at once.
    socket.connect(port, address, () => socket.send(query));
  }).finally(() => socket.close());
}

function read(message: Buffer): RawAnswer {
  const decoded = packet.decode(message) as packet.DecodedPacket & { rcode: string };
  const options =
    decoded.additionals?.flatMap((record) => (record.type === 'OPT' ? record.options : [])) ?? [];
  const extended = options.find(({ code }) => Number(code) === EXTENDED_ERROR_OPTION) as
    | { data: Buffer }
    | undefined;
  return {
    rcode: decoded.rcode,
    isAuthentic: decoded.flag_ad,
    answers: (decoded.answers ?? []).filter(({ type }) => type !== 'RRSIG'),
    extendedError: extended
      ? { code: extended.data.readUInt16BE(0), text: extended.data.subarray(2).toString() }
      : null,
  };
}
