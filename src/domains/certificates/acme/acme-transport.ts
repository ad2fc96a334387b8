import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import { withinDeadline } from '../../../ground/kernel/deadline.js';
import { parseUrl } from '../../../ground/kernel/url.js';
import { AcmeProblem, AcmeUnreachable, parseRetryAfter } from './acme-problem.js';

const TIMEOUT_MS = 10_000;
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

interface AcmeCall {
  method: 'GET' | 'HEAD' | 'POST';
  url: string;
  /** A JWS; null = no body. */
  body: string | null;
  signal: AbortSignal;
  /** The call changes nothing at the CA, so it may be sent twice. */
  isRead: boolean;
  /** Called with the nonce of the answer, for any status. */
  onNonce?: (nonce: string) => void;
}

/** HTTPS to a CA: every call has a timeout, a bounded body and typed errors. */
export class AcmeTransport {
  private readonly agent: Agent;

  constructor(
    /** PEM; null = the roots of Node. */
    roots: string | null,
    private readonly now: () => number,
    private readonly timeoutMs = TIMEOUT_MS,
  ) {
    this.agent = new Agent({
      keepAlive: true,
      maxSockets: SOCKETS,
      maxTotalSockets: SOCKETS_IN_ALL,
      timeout: IDLE_SOCKET_MS,
      ...(roots === null ? {} : { ca: roots }),
    });
  }

  /**
   * The answer, if its status is 2xx. Never waits for a Retry-After, which is part of the error.
   * Throws `AcmeProblem`, `AcmeUnreachable`, or the reason of the signal.
   */
  async call(call: AcmeCall): Promise<AcmeResponse> {
    const { url, signal } = call;
    const timeoutMs = this.timeoutMs;
    const onTimeout = () => new AcmeUnreachable(`no answer within ${timeoutMs} ms`, { url });
    const response = await withinDeadline(signal, { timeoutMs, onTimeout }, (deadline) =>
      this.exchangeWithRetry({ ...call, signal: deadline }),
    );
    const nonce = response.headers['replay-nonce'];
    if (typeof nonce === 'string') call.onNonce?.(nonce);
    if (response.status < 200 || response.status > 299) throw this.refusal(response);
    return response;
  }

  /** Closes idle connections. */
  close(): void {
    this.agent.destroy();
  }

  private async exchangeWithRetry(call: AcmeCall): Promise<AcmeResponse> {
    try {
      return await exchange(call, this.agent);
    } catch (error) {
      // The CA may have closed an idle connection while the request was sent.
      if (error instanceof LostConnection && call.isRead) return exchange(call, this.agent);
      throw error;
    }
  }

  private refusal({ url, status, headers, body }: AcmeResponse): Error {
    const retryAfterSeconds = parseRetryAfter(headers['retry-after'], this.now());
    const document = isJson(headers) ? parseObject(body) : null;
    if (document) return new AcmeProblem(document, { url, status, retryAfterSeconds });
    if (status >= 400 && status < 500) {
      const type = status === 429 ? 'urn:ietf:params:acme:error:rateLimited' : 'about:blank';
      const detail = `HTTP ${status} without a reason`;
      return new AcmeProblem({ type, detail }, { url, status, retryAfterSeconds });
    }
    return new AcmeUnreachable(`HTTP ${status} without a reason`, { url, retryAfterSeconds });
  }
}

/** Throws `AcmeUnreachable` for anything but a JSON object. */
export function jsonOf({ url, body }: AcmeResponse): Record<string, unknown> {
  const document = parseObject(body);
  if (!document) throw new AcmeUnreachable('the answer is not a JSON object', { url });
  return document;
}

class LostConnection extends AcmeUnreachable {}

function exchange({ method, url, body, signal }: AcmeCall, agent: Agent): Promise<AcmeResponse> {
  return new Promise((resolve, reject) => {
    if (parseUrl(url)?.protocol !== 'https:') {
      reject(new AcmeUnreachable('the CA names an address that is not https', { url }));
      return;
    }
    const sent = request(url, {
      method,
      agent,
      signal,
      headers: {
        'user-agent': USER_AGENT,
        accept: 'application/json, application/problem+json, application/pem-certificate-chain',
        ...(body === null
          ? {}
          : { 'content-type': 'application/jose+json', 'content-length': Buffer.byteLength(body) }),
      },
    });
    let hasAnswer = false;
    const fail = (cause: NodeJS.ErrnoException) => {
      const isLost = !hasAnswer && /^(ECONNRESET|EPIPE)$/.test(cause.code ?? '');
      reject(new (isLost ? LostConnection : AcmeUnreachable)(cause.message, { url, cause }));
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
      // The body has a single Buffer: a chunk of one byte costs a hundred.
      const answer = Buffer.allocUnsafe(LONGEST_BODY_BYTES);
      let bytes = 0;
      let pieces = 0;
      response.on('data', (chunk: Buffer) => {
        pieces += 1;
        if (bytes + chunk.length > LONGEST_BODY_BYTES) {
          sent.destroy(new Error(`the answer is larger than ${LONGEST_BODY_BYTES} bytes`));
        } else if (pieces > MOST_PIECES) sent.destroy(new Error('the answer is in too many pieces'));
        bytes += chunk.copy(answer, bytes);
      });
      response.on('error', fail);
      response.on('end', () => {
        const { statusCode: status = 0, headers } = response;
        resolve({ url, status, headers, body: answer.toString('utf8', 0, bytes) });
      });
    });
    sent.end(body ?? undefined);
  });
}

function isJson(headers: IncomingHttpHeaders): boolean {
  return /^application\/(problem\+)?json\b/.test(headers['content-type'] ?? '');
}

function parseObject(body: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
