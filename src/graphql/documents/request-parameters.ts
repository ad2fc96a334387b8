import type { FastifyRequest } from 'fastify';
import { JsonBody } from '../../http/content/json-body.js';
import { scanJson } from '../../http/content/json-scan.js';

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
  const extensions = isPost ? given?.extensions : jsonIn(given?.extensions);
  return {
    query: given?.query,
    operationName: given?.operationName,
    persistedQuery: (extensions as { persistedQuery?: unknown } | null | undefined)?.persistedQuery,
  };
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

function jsonIn(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}
