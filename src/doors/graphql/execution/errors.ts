import { HeaderMap } from '@apollo/server';
import type { FastifyRequest } from 'fastify';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import type { AppError } from '../../../ground/kernel/errors.js';
import { errorHeaders, logFault, toAppError } from '../../../request/http/error-reply.js';
import type { OwnNames } from '../../../request/http/headers.js';

/** Apollo's own refusals. The request causes all of them, and their messages reveal no internals. */
const OF_APOLLO: ReadonlySet<unknown> = new Set([
  'BAD_REQUEST',
  'BAD_USER_INPUT',
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'PERSISTED_QUERY_NOT_FOUND',
  'PERSISTED_QUERY_NOT_SUPPORTED',
]);

/** An unavailable database fails every field of an operation for the same reason. */
const MAX_LOGGED_FAULTS = 3;

/** Characters kept at each end of a long message. */
const KEPT_CHARACTERS = 500;

/** Apollo has one code for all of its HTTP refusals, and only the status differs. */
const OF_HTTP: Record<number, string> = { 405: 'METHOD_NOT_ALLOWED', 406: 'NOT_ACCEPTABLE' };

/** The error that a resolver or a plugin threw, without graphql's wrapper. */
export function causeOf(error: unknown): unknown {
  return error instanceof GraphQLError ? (error.originalError ?? error) : error;
}

/** Logs what clients must not see. */
export function logFaults(errors: readonly GraphQLError[], request: Pick<FastifyRequest, 'log'>): void {
  const faults = errors
    .filter(({ extensions }) => !OF_APOLLO.has(extensions.code))
    .map((error) => toAppError(causeOf(error)))
    .filter(({ code }) => code === 'internal' || code === 'unavailable');
  for (const fault of faults.slice(0, MAX_LOGGED_FAULTS)) logFault(request, fault);
}

export function clientCode({ code }: AppError): string {
  return code.toUpperCase();
}

/** `extensions` of an error: its code, REST's status, and the details. */
function errorExtensions(error: AppError) {
  const { status, errors, retryAfterSeconds, limit, strikes, advice } = error;
  // Undefined ones are not written.
  return { code: clientCode(error), status, errors, retryAfterSeconds, limit, strikes, advice };
}

/** The error as a client sees it: ours in full, Apollo's with a status, anything else masked. */
export function formatError(formatted: GraphQLFormattedError, error: unknown): GraphQLFormattedError {
  if (OF_APOLLO.has(formatted.extensions?.code)) {
    const http = error instanceof GraphQLError ? error.extensions.http : undefined;
    const { status = 400 } = (http ?? {}) as { status?: number };
    const code = OF_HTTP[status];
    const shown = code ? { code, status } : { status: 400 };
    const message = shortened(formatted.message);
    return { ...formatted, message, extensions: { ...formatted.extensions, ...shown } };
  }
  const appError = toAppError(causeOf(error));
  return { ...formatted, message: shortened(appError.message), extensions: errorExtensions(appError) };
}

/** graphql repeats values of any length in its messages, and states the problem before and after them. */
function shortened(message: string): string {
  if (message.length <= 2 * KEPT_CHARACTERS) return message;
  return `${message.slice(0, KEPT_CHARACTERS)}…${message.slice(-KEPT_CHARACTERS)}`;
}

/** The refusal of a whole request, with its HTTP status and headers. `names` as in `errorHeaders`. */
export function refusal(error: AppError, names: OwnNames | null = null): GraphQLError {
  const headers = new HeaderMap(Object.entries(errorHeaders(error, names)));
  return new GraphQLError(error.message, {
    originalError: error,
    extensions: { ...errorExtensions(error), http: { status: error.status, headers } },
  });
}

/** The body of a refusal that the door sends before Apollo sees the request. */
export function refusalBody(error: AppError): string {
  return JSON.stringify({ errors: [{ message: error.message, extensions: errorExtensions(error) }] });
}
