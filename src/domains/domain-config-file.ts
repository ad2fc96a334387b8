import { type FieldProblem, invalidRequest } from '../kernel/errors.js';
import { type DomainConfig, MAX_REDIRECTS } from './domain-config.js';

/** The largest configuration. A reader needs at most one byte more to see that a file is too large. */
export const MAX_BYTES = 100_000;

/**
 * Parses SPEC's configuration shape: `{"domains": {"primary", "redirects": [{"from", "to", "status"}]}}`. Does not check
 * the names. Throws `AppError invalid_request`. Spec: Custom domains 10.
 */
export function readDomainConfig(json: string): DomainConfig {
  const problems: FieldProblem[] = [];
  const refuse = (field: string, message: string): null => {
    problems.push({ field, message });
    return null;
  };
  const domains = objectOf(objectOf(parse(json))?.domains);
  if (!domains) throw invalidRequest([{ field: 'domains', message: 'must be an object in a JSON file' }]);
  const { primary = null, redirects = [] } = domains;
  if (primary !== null && typeof primary !== 'string') refuse('primary', 'must be a domain or null');
  if (!Array.isArray(redirects)) refuse('redirects', 'must be a list');
  else if (redirects.length > MAX_REDIRECTS) {
    throw invalidRequest([{ field: 'redirects', message: `must have at most ${MAX_REDIRECTS} entries` }]);
  }
  const entries = (Array.isArray(redirects) ? redirects : []).map((item, at) => {
    const { from, to, status = 301 } = objectOf(item) ?? {};
    if (typeof from !== 'string') refuse(`redirects[${at}].from`, 'must be a domain');
    if (typeof to !== 'string') refuse(`redirects[${at}].to`, 'must be a domain');
    if (!Number.isInteger(status)) refuse(`redirects[${at}].status`, 'must be 301, 302, 307 or 308');
    return { from: String(from), to: String(to), status: Number(status) };
  });
  if (problems.length > 0) throw invalidRequest(problems);
  return { primary: primary as string | null, redirects: entries };
}

function parse(json: string): unknown {
  if (json.length > MAX_BYTES) throw invalidRequest([{ field: 'file', message: 'is larger than 100 KB' }]);
  try {
    return JSON.parse(json);
  } catch (error) {
    throw invalidRequest([{ field: 'file', message: `must be JSON: ${(error as Error).message}` }]);
  }
}

function objectOf(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}
