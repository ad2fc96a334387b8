import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { on } from 'node:events';
import { connect, isIPv6 } from 'node:net';
import type { DnsServer } from '../../ground/config/config.js';
import { startDeadline } from '../../ground/kernel/deadline.js';
import { EventLoopTurns } from '../../ground/scheduling/event-loop-turns.js';
import { FairSemaphore } from '../../ground/scheduling/fair-semaphore.js';
import { type Answer, DnsUnreachable, type Question } from './dns-message.js';
import {
  decodeAnswer,
  encodeQuery,
  isFormatError,
  isReplyTo,
  isTruncated,
  MAX_MESSAGE_BYTES,
} from './dns-packets.js';
import { Tally } from './tally.js';

/** After this time without an answer the packet is sent again, once. */
const RESEND_MS = 250;
/** Each question takes a file descriptor; 256 are a quarter of a process's default limit. */
const SOCKETS = new FairSemaphore({ most: 256, mostOfKey: 128 });
/** Bounds packets that are not the answer, and the pieces of one over TCP. 8 KB in the smallest usual packets are 17. */
const MAX_PACKETS = 32;
/**
 * Exchanges of each project in a minute: questions over UDP and over TCP. Each takes at most 0.5 ms of processor time.
 * D-168.
 */
export const EXCHANGES = new Tally<bigint>(60_000);
/** In a turn of the event loop at most this many sockets are opened and messages decoded: 4 ms, or 1 of usual messages. */
const TURNS = new EventLoopTurns(8);

/** The project for which DNS is asked, and the end of its interest. */
export interface Asker {
  projectId: bigint;
  signal: AbortSignal;
}

export interface AskOptions {
  recursionDesired: boolean;
  checkingDisabled?: boolean;
  timeoutMs: number;
  /** Projects share sockets equally. */
  asker: Asker;
  now: () => number;
  monotonicNow?: () => number;
}

/**
 * A server's answer to a question: over UDP with one resend, over TCP when the answer is truncated.
 * Always settles within `timeoutMs`, with `DnsUnreachable` if need be; SERVFAIL is an answer.
 */
export async function askServer(
  server: DnsServer,
  question: Question,
  { recursionDesired, checkingDisabled = false, timeoutMs, asker, now, monotonicNow }: AskOptions,
): Promise<Answer> {
  const { projectId, signal } = asker;
  const deadline = startDeadline(timeoutMs, signal, monotonicNow);
  let silence: 'not asked' | 'timeout' = 'not asked';
  const inTurn = async <T>(work: () => T): Promise<Awaited<T>> => {
    await TURNS.next(projectId);
    if (deadline.isOver()) throw new Error('the deadline has passed');
    silence = 'timeout';
    return await work();
  };
  const ask = async (over: typeof overUdp, hasEdns: boolean): Promise<Buffer> => {
    const id = randomInt(0x10000);
    const query = encodeQuery({ id, question, recursionDesired, checkingDisabled, hasEdns });
    EXCHANGES.add(projectId);
    const message = await inTurn(() => over(server, query, deadline.signal));
    if (isTruncated(message) && over === overUdp) return ask(overTcp, hasEdns);
    return isFormatError(message) && hasEdns ? ask(overUdp, false) : message;
  };
  try {
    const exchanged = await SOCKETS.run(projectId, deadline.signal, async () => {
      const message = await ask(overUdp, true);
      return inTurn(() => decodeAnswer(message));
    });
    return exchanged
      ? { server, question, ...exchanged.result, atMs: now() }
      : new DnsUnreachable(server, question, 'not asked', now());
  } catch (error) {
    const isMalformed = error instanceof RangeError;
    const reason = deadline.isOver() ? silence : isMalformed ? 'malformed' : 'unreachable';
    return new DnsUnreachable(server, question, reason, now());
  } finally {
    deadline.cancelWork();
  }
}

/** Each query has a new socket, so the system chooses a random source port: a forger must guess the port and the id. */
async function overUdp(server: DnsServer, query: Buffer, signal: AbortSignal): Promise<Buffer> {
  const socket = createSocket(isIPv6(server.address) ? 'udp6' : 'udp4');
  const send = () => socket.send(query, (error) => error && socket.emit('error', error));
  let resend: NodeJS.Timeout | undefined;
  // On a connected socket the system drops packets from other senders, and reports a closed port.
  socket.on('connect', () => {
    send();
    resend = setTimeout(send, RESEND_MS);
  });
  try {
    const datagrams = on(socket, 'message', { signal });
    socket.connect(server.port, server.address);
    let packets = 0;
    for await (const [datagram] of datagrams) {
      if (isReplyTo(query, datagram)) return datagram;
      packets += 1;
      if (packets >= MAX_PACKETS) break;
    }
    throw new RangeError('too many packets are no answer');
  } finally {
    clearTimeout(resend);
    socket.on('error', () => {}).close();
  }
}

async function overTcp(server: DnsServer, query: Buffer, signal: AbortSignal): Promise<Buffer> {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(query.length);
  const socket = connect({ host: server.address, port: server.port, signal });
  socket.write(Buffer.concat([length, query]));
  let received = Buffer.alloc(0);
  let packets = 0;
  for await (const bytes of socket) {
    received = Buffer.concat([received, bytes]);
    packets += 1;
    if (packets > MAX_PACKETS) throw new RangeError('too many pieces');
    if (received.length < 2) continue;
    const end = 2 + received.readUInt16BE(0);
    if (end > 2 + MAX_MESSAGE_BYTES) throw new RangeError('the message is too large');
    if (received.length < end) continue;
    const message = received.subarray(2, end);
    if (isReplyTo(query, message)) return message;
    throw new RangeError('another message');
  }
  throw new Error('the server closed the connection');
}
