import { ERRORS, type ErrorCode } from '../kernel/errors.js';
import { EXAMPLES, errorExample } from './openapi-examples.js';
import type { HeaderName } from './openapi-headers.js';

const EVERY_RESPONSE: HeaderName[] = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
];

/** The response of a success with a body. `names` are its headers beside those of every response. */
export function ok(description: string, schema: keyof typeof EXAMPLES, names: HeaderName[]): object {
  return { description, headers: headers(names), content: json(schema) };
}

/** A body of a schema, with examples. */
export function json(schema: keyof typeof EXAMPLES): object {
  return { 'application/json': { schema: reference(schema), examples: EXAMPLES[schema] } };
}

/** Each status has one response. Its description lists the possible codes, and each code has an example. */
export function errorResponses(
  operationId: string,
  codes: ErrorCode[],
  names: HeaderName[] = [],
): Record<number, object> {
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))];
  return Object.fromEntries(
    statuses.map((status) => {
      const ofStatus = codes.filter((code) => ERRORS[code].status === status);
      const examples = Object.fromEntries(ofStatus.map((code) => [code, errorExample(operationId, code)]));
      return [
        status,
        {
          description: ofStatus.map((code) => `\`${code}\`: ${ERRORS[code].when}`).join('\n\n'),
          headers: headers([...names, ...errorHeaderNames(status)]),
          content: { 'application/json': { schema: reference('Error'), examples } },
        },
      ];
    }),
  );
}

/** The headers of every response and those of `names`, as references. */
export function headers(names: HeaderName[]): object {
  const all: HeaderName[] = [...EVERY_RESPONSE, ...names];
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function errorHeaderNames(status: number): HeaderName[] {
  if (status === 401) return ['WWW-Authenticate'];
  return status === 409 || status === 429 || status === 503 ? ['Retry-After'] : [];
}

function reference(schema: string): object {
  return { $ref: `#/components/schemas/${schema}` };
}
