import type { FastifyReply, FastifyRequest } from 'fastify';
import Negotiator from 'negotiator';
import { invalidField } from '../../ground/kernel/errors.js';
import { errorHeaders, logFault, toAppError } from '../../request/http/error-reply.js';
import { clientCode, refusalBody } from './execution/errors.js';
import { MULTIPART, SERVER_SENT_EVENTS, type StreamFormat } from './streams/stream-format.js';

/** Apollo's own media types: among types that a client accepts equally, the first one wins. */
const TYPES = ['application/json; charset=utf-8', 'application/graphql-response+json; charset=utf-8'];

/** The media type of an answer; undefined = the client accepts none. */
export function answerType({ headers }: FastifyRequest): string | undefined {
  return headers.accept === undefined ? TYPES[0] : new Negotiator({ headers }).mediaType(TYPES);
}

/** Whether the client is a browser that wants the page. Nothing is executed. */
export function isPage({ method, headers }: FastifyRequest): boolean {
  const isRead = (method === 'GET' || method === 'HEAD') && headers.accept !== undefined;
  return isRead && new Negotiator({ headers }).mediaType([...TYPES, 'text/html']) === 'text/html';
}

// A client must name the format of a stream: `*/*` asks for one answer.
const STREAMS = [
  { type: 'text/event-stream', name: /\btext\/event-stream\b/i, format: SERVER_SENT_EVENTS },
  { type: 'multipart/mixed', name: /\bmultipart\/mixed\b[^,]*\bsubscriptionSpec=/i, format: MULTIPART },
];
/** Negotiator compares all parameters but the weight, and clients choose any boundary. */
const PARAMETERS = /;\s*(?!q\s*=)[\w-]+\s*=\s*(?:"[^"]*"|[^\s;,]*)/gi;

/** The format that the client prefers; null = it accepts no stream. RFC 9110 §12.4.2. */
export function streamFormatOf({ method, headers: { accept } }: FastifyRequest): StreamFormat | null {
  if (accept === undefined || (method !== 'GET' && method !== 'POST')) return null;
  const named = STREAMS.filter(({ name }) => name.test(accept));
  if (named.length === 0) return null;
  const negotiator = new Negotiator({ headers: { accept: accept.replace(PARAMETERS, '') } });
  const preferred = negotiator.mediaType(named.map(({ type }) => type));
  return named.find(({ type }) => type === preferred)?.format ?? null;
}

/** Makes the reply a refusal in GraphQL's form. Returns its body. */
export function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): string {
  const appError = toAppError(error);
  request.errorCode = clientCode(appError);
  logFault(request, appError);
  reply
    .code(appError.status)
    .headers(errorHeaders(appError, reply.server.names))
    .type(answerType(request) ?? String(TYPES[0]));
  return refusalBody(appError);
}

/** A longer batch gets the refusal once. */
const MAX_ANSWERED = 100;

/**
 * As `refuse`, for an array of operations: one refusal for each. Apollo's BatchHttpLink shows no reason if the answer has
 * another length.
 */
export function refuseBatch(
  { length }: readonly unknown[],
  request: FastifyRequest,
  reply: FastifyReply,
): string {
  const problem = invalidField('body', 'must be one operation: send each in a request of its own');
  const body = refuse(problem, request, reply);
  return length >= 1 && length <= MAX_ANSWERED ? `[${Array(length).fill(body).join()}]` : body;
}
