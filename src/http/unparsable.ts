import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyBaseLogger } from 'fastify';
import { AppError } from '../errors.js';
import { errorBody } from './error-reply.js';

/** To the last request that was parsed on each connection. */
const latestAnswers = new WeakMap<Socket, ServerResponse>();

/** Must be told of every request that was parsed, so that a refusal never takes the place of its answer. */
export function noteParsed(socket: Socket, response: ServerResponse): void {
  latestAnswers.set(socket, response);
}

/** What Node could not parse never reaches a route: answered here in our form, then the connection is closed. */
export function refuseUnparsable(log: FastifyBaseLogger, cause: NodeJS.ErrnoException, socket: Socket): void {
  const latest = latestAnswers.get(socket);
  const isAnswered = latest?.headersSent && !latest.req.complete;
  if (cause.code === 'ECONNRESET' || !socket.writable || isAnswered) {
    socket.destroy();
  } else if (latest?.req.complete && !latest.writableFinished) {
    // Ours would be taken for the answer to the request before.
    latest.once('close', () => refuseUnparsable(log, cause, socket));
  } else {
    refuseRaw(log, socket, inWords(cause.code));
  }
}

/** Writes a 400 that no route and no hook has part in, and closes the connection. */
export function refuseRaw(log: FastifyBaseLogger, socket: Socket, reason: string): void {
  const requestId = randomUUID();
  log.info({ requestId, reason }, 'request refused before it was parsed');
  const body = JSON.stringify(errorBody(new AppError('invalid_request', reason)));
  socket.end(
    [
      'HTTP/1.1 400 Bad Request',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Cache-Control: no-store',
      'Connection: close',
      `X-Request-Id: ${requestId}`,
      '',
      body,
    ].join('\r\n'),
  );
}

function inWords(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') return 'The request headers are larger than 16 KB.';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'The request did not arrive in time.';
  return 'The request is not valid HTTP/1.1.';
}
