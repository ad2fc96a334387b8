import { Ajv, type ErrorObject } from 'ajv';
import type { FieldProblem } from './errors.js';
import { INT64_MAX, INT64_MIN } from './int64.js';

/** A JSON Schema of a flat object. `rule` says a field's constraint in words; it is the message when the field is refused. */
export interface ObjectSchema {
  readonly type: 'object';
  readonly required?: readonly string[];
  readonly properties: Readonly<
    Record<string, Readonly<Record<string, unknown>> & { readonly rule: string }>
  >;
}

const NAME_LENGTH = 255;

/** What people call a thing: one rule for every door and every noun. */
export const NAME = {
  type: 'string',
  minLength: 1,
  maxLength: NAME_LENGTH,
  // NUL ends a text in some databases, a lone surrogate has no UTF-8; a name of blanks is no name.
  pattern: '^(?=[\\s\\S]*\\S)[^\\u0000\\uD800-\\uDFFF]*$',
  rule: `must be text of 1 to ${NAME_LENGTH} characters, not only blanks`,
} as const;

// Everything wrong is told at once.
const ajv = new Ajv({ allErrors: true, keywords: ['rule'] });
// The range is checked on the exact value, below: as a JavaScript number 2^63 - 1 equals 2^63.
ajv.addFormat('int64', true);

/** A function that lists what is wrong with a value, each field once; empty = valid. Unknown fields are ignored. */
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
 * Ajv knows no bigint: it sees the nearest number, and one that is no integer when the value is outside int64. It does not
 * see unknown fields, of which there may be thousands.
 */
function approximate(value: unknown, { properties }: ObjectSchema): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const view = Object.create(null);
  for (const field of Object.keys(properties)) {
    if (!Object.hasOwn(value, field)) continue;
    const item = (value as Record<string, unknown>)[field];
    const isOutside = typeof item === 'bigint' && (item < INT64_MIN || item > INT64_MAX);
    view[field] = isOutside ? Number.NaN : typeof item === 'bigint' ? Number(item) : item;
  }
  return view;
}
