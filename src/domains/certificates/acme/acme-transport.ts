import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import { parseUrl } from '../../../ground/kernel/networks.js';
import { AcmeUnreachable } from './acme-problem.js';

/** Longer than a chain that fits into the database. */
const LONGEST_BODY_BYTES = 100_000;
/** Each chunk costs an event, so a body in chunks of one byte costs seconds. A slow network makes 70 pieces of 100 KB. */
const MOST_PIECES = 500;
/** Answers before the answer, such as 103. RFC 9110 §15.2. */
const MOST_INTERIM_ANSWERS = 10;
/** More than there are concurrent orders and checks, so those that hang do not block another. */
const SOCKETS = 48;
/** A CA can name URLs on any number of hosts. */
const SOCKETS_IN_ALL = 64;
/** Shorter than the idle timeout of any CA: an order would fail if the CA closed its connection at that moment. */
const IDLE_SOCKET_MS = 5_000;
/** A CA may refuse requests without a user agent. RFC 8555 §6.1. */
const USER_AGENT = 'petstore-gateway';

export interface AcmeResponse {
  url: string;
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface AcmeCall {
  url: string;
  /** A JWS, which is posted; null = a GET. */
  body: string | null;
  /** The call changes nothing at the CA, so it may be sent twice. */
  isRead: boolean;
}

/** Connections to a CA; idle ones keep no process alive. `roots`: PEM; null = the roots of Node. */
export function acmeAgent(roots: string | null): Agent {
  return new Agent({
    keepAlive: true,
    maxSockets: SOCKETS,
    maxTotalSockets: SOCKETS_IN_ALL,
    timeout: IDLE_SOCKET_MS,
    ...(roots === null ? {} : { ca: roots }),
  });
}

/** The answer of any status, with a bounded body. Throws `AcmeUnreachable`, or the reason of the signal. */
export function exchange(
  call: AcmeCall,
  agent: Agent,
  signal: AbortSignal,
  mayRepeat = call.isRead,
): Promise<AcmeResponse> {
  const { url, body } = call;
  const headers = {
    'user-agent': USER_AGENT,
    accept: 'application/json, application/problem+json, application/pem-certificate-chain',
    ...(body === null ? {} : { 'content-type': 'application/jose+json' }),
  };
  const method = body === null ? 'GET' : 'POST';
  return new Promise((resolve, reject) => {
    if (parseUrl(url)?.protocol !== 'https:') {
      throw new AcmeUnreachable('the CA names an address that is not https', { url });
    }
    const sent = request(url, { method, agent, signal, headers });
    let hasAnswer = false;
    const fail = (cause: NodeJS.ErrnoException) => {
      const isLost = !hasAnswer && /^(ECONNRESET|EPIPE)$/.test(cause.code ?? '');
      // The CA may have closed an idle connection while the request was sent.
      if (isLost && mayRepeat) resolve(exchange(call, agent, signal, false));
      else reject(new AcmeUnreachable(cause.message, { url, cause }));
    };
    sent.on('error', fail);
    // After a 101 Node closes the connection, without an error.
    sent.on('close', () => fail(new Error('the CA gave no answer')));
    let interim = 0;
    sent.on('information', () => {
      interim += 1;
      if (interim > MOST_INTERIM_ANSWERS) sent.destroy(new Error('the CA sent too many interim answers'));
    });
    sent.on('response', (response) => {
      hasAnswer = true;
      const pieces: Buffer[] = [];
      let bytes = 0;
      response.on('data', (piece: Buffer) => {
        pieces.push(piece);
        bytes += piece.length;
        if (bytes > LONGEST_BODY_BYTES) {
          sent.destroy(new Error(`the answer is larger than ${LONGEST_BODY_BYTES} bytes`));
        } else if (pieces.length > MOST_PIECES) sent.destroy(new Error('the answer is in too many pieces'));
      });
      response.on('error', fail);
      response.on('end', () => {
        const { statusCode: status = 0, headers } = response;
        resolve({ url, status, headers, body: Buffer.concat(pieces).toString() });
      });
    });
    sent.end(body ?? undefined);
  });
}
