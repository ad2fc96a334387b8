import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { connect, isIPv6 } from 'node:net';
import type { DnsServer } from '../../ground/config/config.js';
import { startDeadline } from '../../ground/kernel/deadline.js';
import { EventLoopTurns } from '../../ground/scheduling/event-loop-turns.js';
import { FairSemaphore } from '../../ground/scheduling/fair-semaphore.js';
import { type Answer, DnsUnreachable, type Question, type Silence } from './dns-message.js';
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
 * Always settles within `timeoutMs`. Throws `DnsUnreachable`; SERVFAIL is an answer, not an error.
 */
export async function askServer(
  server: DnsServer,
  question: Question,
  { recursionDesired, checkingDisabled = false, timeoutMs, asker, now, monotonicNow }: AskOptions,
): Promise<Answer> {
  const { projectId, signal } = asker;
  const deadline = startDeadline(timeoutMs, signal, monotonicNow);
  const inTurn = async <T>(work: () => T): Promise<Awaited<T>> => {
    await TURNS.next(projectId);
    if (deadline.isOver()) throw new Failure('timeout');
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
    if (exchanged === null) throw new Failure('not asked');
    return { server, question, ...exchanged.result, atMs: now() };
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

/** Each query has a new socket, so the system chooses a random source port: a forger must guess the port and the id. */
function overUdp(server: DnsServer, query: Buffer, end: AbortSignal): Promise<Buffer> {
  const socket = createSocket(isIPv6(server.address) ? 'udp6' : 'udp4');
  const send = () => socket.send(query, (error) => error && socket.emit('error', error));
  let resend: NodeJS.Timeout | undefined;
  let packets = 0;
  return settled<Buffer>(
    end,
    (resolve, reject) => {
      socket.on('error', () => reject(new Failure('unreachable')));
      socket.on('message', (datagram) => {
        if (isReplyTo(query, datagram)) resolve(datagram);
        packets += 1;
        if (packets >= MAX_PACKETS) reject(new Failure('malformed'));
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

function overTcp(server: DnsServer, query: Buffer, end: AbortSignal): Promise<Buffer> {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(query.length);
  const socket = connect({ host: server.address, port: server.port });
  let received = Buffer.alloc(0);
  let packets = 0;
  return settled<Buffer>(
    end,
    (resolve, reject) => {
      socket.on('error', () => reject(new Failure('unreachable')));
      socket.on('close', () => reject(new Failure('unreachable')));
      socket.on('data', (bytes) => {
        received = Buffer.concat([received, bytes]);
        packets += 1;
        if (packets > MAX_PACKETS) reject(new Failure('malformed'));
        if (received.length < 2) return;
        const end = 2 + received.readUInt16BE(0);
        const isTooLarge = end > 2 + MAX_MESSAGE_BYTES;
        if (received.length < end && !isTooLarge) return;
        const message = received.subarray(2, end);
        if (!isTooLarge && isReplyTo(query, message)) resolve(message);
        reject(new Failure('malformed'));
      });
      socket.write(Buffer.concat([length, query]));
    },
    () => socket.destroy(),
  );
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
