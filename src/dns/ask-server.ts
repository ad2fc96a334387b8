import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import type { DnsServer } from '../config/config.js';
import { startDeadline } from '../kernel/deadline.js';
import { FairSemaphore } from '../scheduling/fair-semaphore.js';
import type { Answer, Question } from './dns-message.js';
import { decodeReply, encodeQuery, type Query, type Reply } from './dns-packets.js';
import { DnsUnreachable, type Silence } from './dns-unreachable.js';

/** After this time without an answer the packet is sent again, once. */
const RESEND_MS = 250;
/** Each question takes a file descriptor; this is a quarter of a process's default limit. */
const SOCKETS = new FairSemaphore({ most: 256 });
/** Bounds packets that are not the answer: forged ones, or a flood from a hostile server. */
const MAX_STRAY_PACKETS = 100;

export interface AskOptions {
  recursionDesired: boolean;
  checkingDisabled?: boolean;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** Scarce sockets are shared equally among askers. */
  asker?: unknown;
  now: () => number;
}

/**
 * A server's answer to a question: over UDP with one resend, over TCP when the answer is truncated.
 * Always settles within `timeoutMs`. Throws `DnsUnreachable`; SERVFAIL is an answer, not an error.
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
    const exchanged = await SOCKETS.run(asker, deadline.signal, async () => {
      const reply = await exchange(server, query(true), deadline.signal);
      return reply.rcode === 'FORMERR' ? exchange(server, query(false), deadline.signal) : reply;
    });
    if (exchanged === null) throw new Failure('not asked');
    const { isTruncated: _, ...said } = exchanged.result;
    return { server, question, ...said, atMs: now() };
  } catch (error) {
    const reason = error instanceof Failure ? error.reason : 'malformed';
    throw new DnsUnreachable(server, question, reason, now());
  } finally {
    deadline.cancelWork();
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

/** Each query has a new socket, so the system chooses a random source port: a forger must guess the port and the id. */
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
      // On a connected socket the system drops packets from other senders, and reports a closed port.
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

/** A promise that settles no later than `end` aborts, and always cleans up. */
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
