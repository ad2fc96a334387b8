import type { FastifyRequest } from 'fastify';

interface RequestParameters {
  query?: unknown;
  operationName?: unknown;
  persistedQuery?: unknown;
}

/** The document of a request, or its hash, as Apollo reads them. Apollo refuses malformed parts. */
export function parametersOf({ method, body, query }: FastifyRequest): RequestParameters {
  const isPost = method === 'POST';
  const given = (isPost ? body : query) as Record<string, unknown> | null | undefined;
  const extensions = isPost ? given?.extensions : jsonIn(given?.extensions);
  return {
    query: given?.query,
    operationName: given?.operationName,
    persistedQuery: (extensions as { persistedQuery?: unknown } | null | undefined)?.persistedQuery,
  };
}

function jsonIn(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}
