import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import type { DnsServer } from '../config.js';
import { startDeadline } from '../deadline.js';
import type { Answer, Question } from './dns-message.js';
import { decodeReply, encodeQuery, type Query, type Reply } from './dns-packets.js';
import { DnsUnreachable, type Silence } from './dns-unreachable.js';
import { FairTurns } from './fair-turns.js';

/** A lost packet is sent again after this time, once. */
const RESEND_MS = 250;
/** A quarter of the descriptors that a process has by default, and each question takes one. */
const SOCKETS = new FairTurns({ most: 256 });
/** Packets that are not the answer, from forgers or from a server that would keep this process busy. */
const MAX_STRAY_PACKETS = 100;

export interface AskOptions {
  recursionDesired: boolean;
  checkingDisabled?: boolean;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** When sockets are scarce, those who ask get as many each. */
  asker?: unknown;
  now: () => number;
}

/**
 * What one server says to one question: by UDP, again by UDP when nothing comes back, by TCP when the answer is truncated.
 * Always settles within `timeoutMs`. Throws `DnsUnreachable`; an answer such as SERVFAIL is an answer.
 */
export async function askServer(
  server: DnsServer,
  question: Question,
  { recursionDesired, checkingDisabled = false, timeoutMs, signal, asker = server, now }: AskOptions,
): Promise<Answer> {
  const deadline = startDeadline(timeoutMs, signal);
  const query = (hasEdns: boolean): Query => {
    return { id: randomInt(0x10000), question, recursionDesired, checkingDisabled, hasEdns };
  };
  try {
    const turn = await SOCKETS.run(asker, deadline.signal, async () => {
      const reply = await exchange(server, query(true), deadline.signal);
      return reply.rcode === 'FORMERR' ? exchange(server, query(false), deadline.signal) : reply;
    });
    if (turn === null) throw new Failure('not asked');
    const { isTruncated: _, ...said } = turn.result;
    return { server, question, ...said, atMs: now() };
  } catch (error) {
    const reason = error instanceof Failure ? error.reason : 'malformed';
    throw new DnsUnreachable(server, question, reason, now());
  } finally {
    deadline.end();
  }
}

class Failure extends Error {
  constructor(readonly reason: Silence) {
    super(reason);
  }
}

async function exchange(server: DnsServer, query: Query, end: AbortSignal): Promise<Reply> {
  const reply = await overUdp(server, query, end);
  return reply.isTruncated ? overTcp(server, query, end) : reply;
}

/** The source port is chosen by the system, anew for each query; with the id it is what a forger must guess. */
function overUdp(server: DnsServer, query: Query, end: AbortSignal): Promise<Reply> {
  const message = encodeQuery(query);
  const socket = createSocket(isIPv6(server.address) ? 'udp6' : 'udp4');
  const send = () => socket.send(message, (error) => error && socket.emit('error', error));
  let resend: NodeJS.Timeout | undefined;
  let strays = 0;
  return settled<Reply>(
    end,
    (resolve, reject) => {
      socket.on('error', () => reject(new Failure('unreachable')));
      socket.on('message', (datagram) => {
        answered(datagram, query, resolve, reject);
        strays += 1;
        if (strays > MAX_STRAY_PACKETS) reject(new Failure('malformed'));
      });
      // Connected: the system drops what others send, and says when nobody listens there.
      socket.on('connect', () => {
        send();
        resend = setTimeout(send, RESEND_MS);
      });
      socket.connect(server.port, server.address);
    },
    () => {
      clearTimeout(resend);
      socket.removeAllListeners('error').on('error', () => {});
      socket.close();
    },
  );
}

function overTcp(server: DnsServer, query: Query, end: AbortSignal): Promise<Reply> {
  const message = encodeQuery(query);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  const socket = connect({ host: server.address, port: server.port });
  let received = Buffer.alloc(0);
  return settled<Reply>(
    end,
    (resolve, reject) => {
      socket.on('error', () => reject(new Failure('unreachable')));
      socket.on('close', () => reject(new Failure('unreachable')));
      socket.on('data', (bytes) => {
        received = Buffer.concat([received, bytes]);
        if (received.length < 2) return;
        const whole = 2 + received.readUInt16BE(0);
        if (received.length < whole) return;
        answered(received.subarray(2, whole), query, resolve, reject);
        reject(new Failure('malformed'));
      });
      socket.write(Buffer.concat([length, message]));
    },
    () => socket.destroy(),
  );
}

function answered(
  message: Buffer,
  query: Query,
  resolve: (reply: Reply) => void,
  reject: (reason: Failure) => void,
): void {
  try {
    const reply = decodeReply(message, query);
    if (reply) resolve(reply);
  } catch {
    reject(new Failure('malformed'));
  }
}

/** A promise that ends with `end` at the latest, and cleans up either way. */
async function settled<T>(
  end: AbortSignal,
  start: (resolve: (value: T) => void, reject: (reason: Failure) => void) => void,
  cleanUp: () => void,
): Promise<T> {
  let giveUp = () => {};
  try {
    return await new Promise<T>((resolve, reject) => {
      giveUp = () => reject(new Failure('timeout'));
      end.addEventListener('abort', giveUp);
      start(resolve, reject);
      if (end.aborted) giveUp();
    });
  } finally {
    end.removeEventListener('abort', giveUp);
    cleanUp();
  }
}
