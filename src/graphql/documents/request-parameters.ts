import type { FastifyRequest } from 'fastify';
import { JsonBody } from '../../http/content/json-body.js';
import { scanJson } from '../../http/content/json-scan.js';

export interface RequestParameters {
  query?: unknown;
  operationName?: unknown;
  persistedQuery?: unknown;
}

/** The document of a request, or its hash, as Apollo reads them. Apollo refuses malformed parts. Parses no variables. */
export function parametersOf({ method, body, query }: FastifyRequest): RequestParameters {
  const isPost = method === 'POST';
  const posted = body instanceof JsonBody ? body.members('query', 'operationName', 'extensions') : body;
  const given = (isPost ? posted : query) as Record<string, unknown> | null | undefined;
  const extensions = isPost ? given?.extensions : jsonIn(given?.extensions);
  return {
    query: given?.query,
    operationName: given?.operationName,
    persistedQuery: (extensions as { persistedQuery?: unknown } | null | undefined)?.persistedQuery,
  };
}

/** Counts the values in the parameters of a GET. Throws `AppError invalid_request` if one has too many, or nests too deep. */
export function countParameterValues({ query }: FastifyRequest): number {
  const { variables = '', extensions = '' } = query as Record<string, unknown>;
  return scanJson('variables', String(variables)) + scanJson('extensions', String(extensions));
}

function jsonIn(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}
