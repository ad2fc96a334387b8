import { HeaderMap } from '@apollo/server';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import type { AppError } from '../errors.js';
import { errorHeaders } from '../http/error-reply.js';
import { toAppError } from '../http/to-app-error.js';

/** Apollo's own refusals, all of them faults of the request. Their messages show nothing of the inside. */
const OF_APOLLO: ReadonlySet<unknown> = new Set([
  'BAD_REQUEST',
  'BAD_USER_INPUT',
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'PERSISTED_QUERY_NOT_FOUND',
  'PERSISTED_QUERY_NOT_SUPPORTED',
]);

/** Of a long message, at either end. */
const KEPT_CHARACTERS = 500;

/** Our code for what Apollo refuses as HTTP: it has but one, and puts the difference into the status. */
function ofHttp(error: unknown): string | null {
  const http = error instanceof GraphQLError ? error.extensions.http : undefined;
  const { status } = (http ?? {}) as { status?: number };
  return status === 405 ? 'METHOD_NOT_ALLOWED' : status === 406 ? 'NOT_ACCEPTABLE' : null;
}

export function isOfApollo(code: unknown): boolean {
  return OF_APOLLO.has(code);
}

/** The error that a resolver or a plugin threw, without the wrapping of graphql. */
export function causeOf(error: unknown): unknown {
  return error instanceof GraphQLError ? (error.originalError ?? error) : error;
}

/** `extensions` of an error: REST's code in upper case, the status it would have there, and its details. */
function errorExtensions({ code, status, errors, retryAfterSeconds, limit }: AppError) {
  return {
    code: code.toUpperCase(),
    status,
    ...(errors ? { errors } : {}),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(limit === undefined ? {} : { limit }),
  };
}

/** What a client sees of an error: ours in full, Apollo's with a status, anything else masked. */
export function formatError(formatted: GraphQLFormattedError, error: unknown): GraphQLFormattedError {
  if (isOfApollo(formatted.extensions?.code)) {
    const code = ofHttp(error) ?? formatted.extensions?.code;
    const status = code === 'METHOD_NOT_ALLOWED' ? 405 : code === 'NOT_ACCEPTABLE' ? 406 : 400;
    const message = shortened(formatted.message);
    return { ...formatted, message, extensions: { ...formatted.extensions, code, status } };
  }
  const appError = toAppError(causeOf(error));
  return { ...formatted, message: shortened(appError.message), extensions: errorExtensions(appError) };
}

/** graphql repeats values in its messages, at any length; what is wrong stands before and after them. */
function shortened(message: string): string {
  if (message.length <= 2 * KEPT_CHARACTERS) return message;
  return `${message.slice(0, KEPT_CHARACTERS)}…${message.slice(-KEPT_CHARACTERS)}`;
}

/** A refusal of the whole request, with its HTTP status and headers. */
export function refusal(error: AppError): GraphQLError {
  const headers = new HeaderMap(Object.entries(errorHeaders(error)));
  return new GraphQLError(error.message, {
    originalError: error,
    extensions: { ...errorExtensions(error), http: { status: error.status, headers } },
  });
}

/** The body with which the door refuses a request before Apollo sees it. */
export function refusalBody(error: AppError): string {
  return JSON.stringify({ errors: [{ message: error.message, extensions: errorExtensions(error) }] });
}
