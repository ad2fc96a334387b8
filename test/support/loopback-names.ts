import { type AddressInfo, createServer } from 'node:net';
import { decode, encode } from 'dns-packet';

export interface LoopbackNames {
  /** `127.0.0.1:5300` */
  address: string;
  stop(): Promise<void>;
}

const NXDOMAIN = 3;
const SERVFAIL = 2;
/** Recursion desired and available. */
const RECURSIVE = 0x0180;

/**
 * A DNS server for a validating CA: every name resolves to 127.0.0.1, names below `missing.test` do not exist, and
 * names below `broken.test` fail to resolve.
 */
export async function startLoopbackNames(): Promise<LoopbackNames> {
  // Pebble asks by TCP only.
  const tcp = createServer((socket) => {
    let received = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0);
        const answer = answerTo(received.subarray(2, end));
        const length = Buffer.alloc(2);
        length.writeUInt16BE(answer.length);
        socket.write(Buffer.concat([length, answer]));
        received = received.subarray(end);
      }
    });
  });
  await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
  const { port } = tcp.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    async stop() {
      tcp.close();
    },
  };
}

function answerTo(message: Buffer): Buffer {
  const { id, questions = [] } = decode(message);
  const [question] = questions;
  const name = question?.name.toLowerCase() ?? '';
  const rcode = name.endsWith('missing.test') ? NXDOMAIN : name.endsWith('broken.test') ? SERVFAIL : 0;
  const answers =
    rcode === 0 && question?.type === 'A'
      ? [{ type: 'A' as const, name: question.name, ttl: 0, data: '127.0.0.1' }]
      : [];
  return encode({ type: 'response', id: id ?? 0, flags: RECURSIVE | rcode, questions, answers });
}
