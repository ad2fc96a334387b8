import { randomUUID } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { AppError } from '../../ground/kernel/errors.js';
import type { OpenConnection } from './connections/open-connection.js';
import { errorBody } from './error-reply.js';

/** The headers with an address's remaining quota. */
export type QuotaHeadersOf = (address: string) => Promise<Record<string, string>>;

/**
 * Refuses input that never becomes a request. Sends the error in the gateway's format after earlier responses, then ends
 * the connection. D-21.
 */
export class UnparsableRefusals {
  /** Connections that are refused, or will be after their earlier responses. */
  private readonly refused = new WeakSet<OpenConnection>();

  constructor(
    private readonly log: FastifyBaseLogger,
    private readonly quotaHeadersOf: QuotaHeadersOf,
  ) {}

  /** Refuses input that Node could not parse, or that did not arrive in time. */
  refuseUnparsable(connection: OpenConnection, cause: NodeJS.ErrnoException): void {
    if (cause.code === 'ECONNRESET') connection.destroy();
    else this.refuse(connection, inWords(cause.code));
  }

  refuse(connection: OpenConnection, reason: string): void {
    if (this.refused.has(connection) || connection.state === 'ending') return;
    this.refused.add(connection);
    void this.refuseInTurn(connection, reason);
  }

  private async refuseInTurn(connection: OpenConnection, reason: string): Promise<void> {
    const { current, latest } = connection;
    const isInBody = latest?.req.complete === false;
    if (current && !(isInBody && current === latest)) {
      // Otherwise the client would take this for the response to its previous request.
      current.once('close', () => void this.refuseInTurn(connection, reason));
    } else if (isInBody && (!current || current.headersSent)) {
      // The request with this body already has its response.
      connection.destroy();
    } else {
      const answer = await this.answer(connection.address, reason);
      // Meanwhile the request may have been refused because of its head.
      connection.endInStages(current?.headersSent ? '' : answer);
    }
  }

  private async answer(address: string, reason: string): Promise<string> {
    const requestId = randomUUID();
    this.log.info({ requestId, reason }, 'request refused before it was parsed');
    const quota = await this.quotaHeadersOf(address).catch(() => ({}));
    const body = JSON.stringify(errorBody(new AppError('invalid_request', reason)));
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      'cache-control': 'no-store',
      connection: 'close',
      'x-content-type-options': 'nosniff',
      'x-request-id': requestId,
      ...quota,
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    return ['HTTP/1.1 400 Bad Request', ...lines, '', body].join('\r\n');
  }
}

function inWords(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') return 'The request headers are larger than 16 KB.';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'The request did not arrive in time.';
  return 'The request is not valid HTTP/1.1.';
}
