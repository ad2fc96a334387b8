import { Ajv, type ErrorObject } from 'ajv';
import type { FieldProblem } from './errors.js';
import { INT64_MAX, INT64_MIN } from './int64.js';

/** A JSON Schema of a flat object. `rule` states a field's constraint; it is the error message for that field. */
export interface ObjectSchema {
  readonly type: 'object';
  readonly required?: readonly string[];
  readonly properties: Readonly<
    Record<string, Readonly<Record<string, unknown>> & { readonly rule: string }>
  >;
}

/** Of every list that has pages, at every door. */
export const MAX_PAGE_SIZE = 100;

const NAME_LENGTH = 255;

/** The schema of a display name: one rule for every door and every noun. */
export const NAME = {
  type: 'string',
  minLength: 1,
  maxLength: NAME_LENGTH,
  // Refused: NUL, which ends a text in some databases; a lone surrogate, which UTF-8 cannot encode; only blanks.
  pattern: '^(?=[\\s\\S]*\\S)[^\\u0000\\uD800-\\uDFFF]*$',
  rule: `must be text of 1 to ${NAME_LENGTH} characters, not only blanks`,
} as const;

// Reports all problems at once.
const ajv = new Ajv({ allErrors: true, keywords: ['rule'] });
// `approximate` checks the range on the exact value: as a JavaScript number, 2^63 - 1 equals 2^63.
ajv.addFormat('int64', true);

/** Returns a function that lists a value's problems, at most one per field; empty = valid. Unknown fields are ignored. */
export function validator(schema: ObjectSchema): (value: unknown) => FieldProblem[] {
  const validate = ajv.compile(schema);
  return (value) => {
    if (validate(approximate(value, schema))) return [];
    const fields = new Set((validate.errors ?? []).map((error) => fieldOf(error)));
    return [...fields].map((field) => ({
      field,
      message: schema.properties[field]?.rule ?? 'must be a JSON object',
    }));
  };
}

function fieldOf(error: ErrorObject): string {
  if (error.keyword === 'required') return String(error.params.missingProperty);
  return error.instancePath.split('/')[1] ?? 'body';
}

/**
 * A copy of the value for Ajv, which does not support bigint: each bigint becomes the nearest number. A bigint outside int64,
 * and a number that may have lost digits, become NaN. Unknown fields are left out, as there may be thousands.
 */
function approximate(value: unknown, { properties }: ObjectSchema): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const view = Object.create(null);
  for (const field of Object.keys(properties)) {
    if (!Object.hasOwn(value, field)) continue;
    const item = (value as Record<string, unknown>)[field];
    view[field] = typeof item === 'bigint' ? Number(item) : item;
    const isWrong =
      typeof item === 'bigint'
        ? item < INT64_MIN || item > INT64_MAX
        : typeof item === 'number' && Math.abs(item) > Number.MAX_SAFE_INTEGER;
    if (isWrong) view[field] = Number.NaN;
  }
  return view;
}
