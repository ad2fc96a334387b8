import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { type AppError, invalidRequest } from '../../kernel/errors.js';
import { parametersOf } from './request-parameters.js';

const FIELD = 'extensions.persistedQuery';
const SHA_256 = /^[0-9a-f]{64}$/i;

/**
 * The problem with the persisted query of a request; null = none, or the request has no persisted query. Apollo treats
 * malformed input as an internal error, and responds with 500 to a hash that is not a string.
 */
export function persistedQueryProblem(request: FastifyRequest): AppError | null {
  const { query, persistedQuery: asked } = parametersOf(request);
  if (!asked) return null;
  if (typeof asked !== 'object') return problem(FIELD, 'must be an object');
  const { version, sha256Hash } = asked as { version?: unknown; sha256Hash?: unknown };
  if (version !== 1) return problem(`${FIELD}.version`, 'must be 1');
  if (typeof sha256Hash !== 'string' || !SHA_256.test(sha256Hash)) {
    return problem(`${FIELD}.sha256Hash`, 'must be a SHA-256 in hexadecimal');
  }
  if (typeof query === 'string' && createHash('sha256').update(query).digest('hex') !== sha256Hash) {
    return problem(`${FIELD}.sha256Hash`, 'must be the SHA-256 of the query, in lower case');
  }
  return null;
}

function problem(field: string, message: string): AppError {
  return invalidRequest([{ field, message }]);
}
