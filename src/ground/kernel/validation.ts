import { Ajv, type AnySchemaObject, type ErrorObject } from 'ajv';
import { compareDecimals } from './decimals.js';
import type { FieldProblem } from './errors.js';
import { got } from './got.js';
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

/** The sizes of a noun's pages. */
export const PAGE_SIZE = { minimum: 1, maximum: MAX_PAGE_SIZE, default: 20 } as const;

export function pageSizeSchema(plural: string) {
  return {
    type: 'integer',
    ...PAGE_SIZE,
    description: `Maximum number of ${plural} returned.`,
    rule: `must be a whole number from ${PAGE_SIZE.minimum} to ${PAGE_SIZE.maximum}`,
  } as const;
}

/** The orders of a noun's list. `NEWEST` is the exact reverse of `OLDEST`. */
export const LIST_ORDERS = ['OLDEST', 'NEWEST'] as const;
export type ListOrder = (typeof LIST_ORDERS)[number];

const NAME_LENGTH = 255;

/** The schema of a display name: one rule for every door and every noun. */
export const NAME = {
  type: 'string',
  minLength: 1,
  maxLength: NAME_LENGTH,
  // Not only blanks. Generators copy it into validators of any language, with or without the flag `u`. D-270.
  pattern: '\\S',
  rule: `must be text of 1 to ${NAME_LENGTH} characters, not only blanks`,
} as const;

/** No text may have NUL, which ends a text in some databases, or a lone surrogate, which UTF-8 cannot encode. D-270. */
const UNSTORABLE = { pattern: '[\\u0000\\uD800-\\uDFFF]' };

// Reports all problems at once.
const ajv = new Ajv({ allErrors: true, ownProperties: true, keywords: ['rule'] });
// Only the length and the digits: `pattern` checks them.
ajv.addFormat('decimal', true);
for (const [keyword, sign] of Object.entries({ 'x-minimum': 1, 'x-maximum': -1 }))
  ajv.addKeyword({ keyword, type: 'string', compile: boundCheck(sign) });
// Ajv knows no bigint, so `int64` has all keywords of a property with `format: int64`.
ajv.addKeyword({ keyword: 'int64', schemaType: 'object', compile: int64Check });
ajv.addFormat('date', isDate);
ajv.addFormat('date-time', isDateTime);

type Compare = (one: string, other: string) => number;
/** The order of the values of a format, which texts do not have. */
const ORDERS: Readonly<Record<string, Compare>> = {
  decimal: compareDecimals,
  'date-time': (one, other) => Date.parse(one) - Date.parse(other),
  date: (one, other) => Date.parse(one) - Date.parse(other),
};

/** JSON Schema has bounds for numbers alone. */
function boundCheck(sign: number) {
  return (bound: string, { format }: AnySchemaObject) => {
    const compare = ORDERS[format ?? ''] as Compare;
    return (value: string) => compare(value, bound) * sign >= 0;
  };
}

/** A day of the calendar, such as `2026-11-24`. JavaScript would read `2026-02-30` as one in March. */
function isDate(value: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(value)) return false;
  const timeMs = Date.parse(value);
  return !Number.isNaN(timeMs) && new Date(timeMs).toISOString().startsWith(value);
}

/**
 * RFC 3339 §5.6 without leap seconds, which no database keeps, in milliseconds at most, from the year 1 to 9999 in UTC.
 * JavaScript would read 24:00 and the 30th of February.
 */
function isDateTime(value: string): boolean {
  const [, day = '', hour, minute, second, offset = ''] = DATE_TIME.exec(value) ?? [];
  if (!isDate(day) || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return false;
  const [offsetHour = 0, offsetMinute = 0] = offset.split(':').map(Number);
  if (offsetHour > 23 || offsetMinute > 59) return false;
  const timeMs = Date.parse(value.toUpperCase());
  return timeMs >= FIRST_MS && timeMs <= LAST_MS;
}

const DATE_TIME = /^(\d{4}-\d\d-\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d{1,3}0*)?(?:Z|[+-](\d\d:\d\d))$/i;
const FIRST_MS = Date.parse('0001-01-01T00:00:00Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/** JSON Schema's keywords for numbers, for 64-bit integers: bigints compare exactly with the numbers of a schema. */
export const INT64_KEYWORDS: Readonly<Record<string, (value: bigint, stated: never) => boolean>> = {
  minimum: (value, least: number) => value >= least,
  maximum: (value, most: number) => value <= most,
  exclusiveMinimum: (value, bound: number) => value > bound,
  exclusiveMaximum: (value, bound: number) => value < bound,
  multipleOf: (value, step: number) => value % BigInt(step) === 0n,
  const: (value, only: number) => value === BigInt(only),
  enum: (value, choices: readonly number[]) => choices.some((choice) => value === BigInt(choice)),
};

function int64Check(property: object): (value: unknown) => boolean {
  const checks = Object.entries(property).flatMap(([keyword, stated]) => {
    const check = INT64_KEYWORDS[keyword];
    return check ? [(value: bigint) => check(value, stated as never)] : [];
  });
  return (value) => isInt64(value) && checks.every((check) => check(BigInt(value)));
}

/** A number beyond 2^53 may have lost digits. */
function isInt64(value: unknown): value is bigint | number {
  return typeof value === 'bigint' ? value >= INT64_MIN && value <= INT64_MAX : Number.isSafeInteger(value);
}

/** Returns a function that lists a value's problems, at most one per field; empty = valid. Unknown fields are ignored. */
export function validator(schema: ObjectSchema): (value: unknown) => FieldProblem[] {
  const properties = Object.entries(schema.properties).map(([field, property]) => [field, checked(property)]);
  const validate = ajv.compile({ ...schema, properties: Object.fromEntries(properties) });
  return (value) => {
    if (validate(value)) return [];
    const fields = new Set((validate.errors ?? []).map((error) => fieldOf(error)));
    return [...fields].map((field) => {
      const rule = schema.properties[field]?.rule;
      const sent = rule === undefined ? value : (value as Record<string, unknown>)[field];
      return { field, message: got(rule ?? 'must be a JSON object', sent) };
    });
  };
}

function checked(property: ObjectSchema['properties'][string]): object {
  if (property.format === 'int64') return { int64: property };
  const { items } = property;
  if (items) return { ...property, items: checked(items as typeof property) };
  return property.type === 'string' ? { ...property, not: UNSTORABLE } : property;
}

function fieldOf(error: ErrorObject): string {
  if (error.keyword === 'required') return String(error.params.missingProperty);
  return error.instancePath.split('/')[1] ?? 'body';
}
