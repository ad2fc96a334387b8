import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { type AppError, invalidField } from '../../ground/kernel/errors.js';
import { jsonIn } from '../../ground/kernel/json.js';
import { JsonBody } from '../../request/http/content/json-body.js';
import { scanJson } from '../../request/http/content/json-scan.js';
import type { PersistedQueries } from './known-documents.js';

export interface RequestParameters {
  query?: unknown;
  operationName?: unknown;
  persistedQuery?: unknown;
}

/** The document of a request, or its hash, as Apollo reads them. Apollo refuses malformed parts. Parses no variables. */
export function parametersOf({ method, body, url }: FastifyRequest): RequestParameters {
  const isPost = method === 'POST';
  const posted = body instanceof JsonBody ? body.members('query', 'operationName', 'extensions') : body;
  const given = (isPost ? posted : parametersIn(url)) as Record<string, unknown> | null | undefined;
  const extensions = isPost ? given?.extensions : jsonIn(String(given?.extensions));
  return {
    query: given?.query,
    operationName: given?.operationName || undefined,
    persistedQuery: (extensions as { persistedQuery?: unknown } | null | undefined)?.persistedQuery,
  };
}

const MAY_BE_EMPTY = /[?&](?:variables|extensions)=(?:&|$)/;

/** Removes empty parameters of a GET, which Apollo would parse as JSON. GraphQL over HTTP: as if the client had sent none. */
export function dropEmptyParameters({ method, raw, url }: FastifyRequest): void {
  if (method !== 'GET' || !MAY_BE_EMPTY.test(url)) return;
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  for (const name of ['variables', 'extensions']) {
    if (searchParams.getAll(name).every((value) => value === '')) searchParams.delete(name);
  }
  raw.url = `${pathname}?${searchParams}`;
}

/** Counts the values in the parameters of a GET. Throws `AppError invalid_request` if one has too many, or nests too deep. */
export function countParameterValues({ url }: FastifyRequest): number {
  const { variables = '', extensions = '' } = parametersIn(url);
  return scanJson('variables', variables) + scanJson('extensions', extensions);
}

/**
 * With Apollo's parser: Fastify's reads other texts after a "#", and beside a "%" that encodes nothing. Apollo refuses a
 * repeated parameter.
 */
function parametersIn(url: string): Record<string, string> {
  return Object.fromEntries(new URL(url, 'http://localhost').searchParams);
}

const FIELD = 'extensions.persistedQuery';
const SHA_256 = /^[0-9a-f]{64}$/i;

/**
 * The problem with the persisted query of a request; null = none, or the request has no persisted query. Apollo treats
 * malformed input as an internal error, and responds with 500 to a hash that is not a string.
 */
export function persistedQueryProblem(request: FastifyRequest): AppError | null {
  const { query, persistedQuery: asked } = parametersOf(request);
  if (!asked) return null;
  if (typeof asked !== 'object') return invalidField(FIELD, 'must be an object');
  const { version, sha256Hash } = asked as { version?: unknown; sha256Hash?: unknown };
  if (version !== 1) return invalidField(`${FIELD}.version`, 'must be 1');
  if (typeof sha256Hash !== 'string' || !SHA_256.test(sha256Hash)) {
    return invalidField(`${FIELD}.sha256Hash`, 'must be a SHA-256 in hexadecimal');
  }
  if (typeof query === 'string' && hash('sha256', query, 'hex') !== sha256Hash) {
    return invalidField(`${FIELD}.sha256Hash`, 'must be the SHA-256 of the query, in lower case');
  }
  return null;
}

/** The parameters of a POST in the form that nearly all clients send. GraphQL over HTTP. */
export interface PostedOperation {
  readonly source: string;
  readonly operationName: string | null;
  readonly variables: Record<string, unknown>;
}

/** Null for any other form, and for an unknown persisted query: Apollo reads those. */
export function postedOperationIn(body: unknown, persistedQueries: PersistedQueries): PostedOperation | null {
  if (!isRecord(body)) return null;
  const { query = null, variables, extensions } = body;
  const operationName = body.operationName || null;
  if (operationName !== null && typeof operationName !== 'string') return null;
  if (variables != null && !isRecord(variables)) return null;
  const hash = query === null ? hashIn(extensions) : null;
  const source = hash === null ? query : persistedQueries.sourceOf(hash);
  // A query with extensions needs more than a response.
  if (typeof source !== 'string' || (query !== null && extensions != null)) return null;
  return { source, operationName, variables: variables ?? {} };
}

/** The SHA-256 of a persisted query, if it is the only extension. Apollo's automatic persisted queries. */
function hashIn(extensions: unknown): string | null {
  if (!isRecord(extensions) || Object.keys(extensions).length !== 1) return null;
  const { persistedQuery } = extensions;
  if (!isRecord(persistedQuery) || persistedQuery.version !== 1) return null;
  return typeof persistedQuery.sha256Hash === 'string' ? persistedQuery.sha256Hash : null;
}

// Not the one of the kernel: each request needs it, and would need a further file.
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
