import type { Shape, Shapes } from './description.js';

/** Strings, in which digits mean nothing, and numbers. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/**
 * The value of a JSON text, with a bigint at each place of the shape that is an int64. Throws for a text that is no JSON.
 * The same on every engine: `JSON.parse` shows the digits of a number only from Node 21 on. So the text is parsed with each
 * number as a string: `n` marks those, and `s` every other string. D-276.
 */
export function parseJson(text: string, shape: Shape | undefined, shapes: Shapes): unknown {
  const marked = text.replace(TOKENS, (token) => (token[0] === '"' ? `"s${token.slice(1)}` : `"n${token}"`));
  return unmarked(JSON.parse(marked), shape, shapes);
}

function unmarked(value: unknown, shape: Shape | undefined, shapes: Shapes): unknown {
  const place = named(shape, shapes);
  if (place === 'int64' && value !== null) {
    const digits = typeof value === 'string' ? /^n(-?(?:0|[1-9]\d*))$/.exec(value)?.[1] : undefined;
    if (digits === undefined) throw new SyntaxError('An int64 of the document is no integer.');
    return BigInt(digits);
  }
  if (typeof value === 'string') return value[0] === 's' ? value.slice(1) : JSON.parse(value.slice(1));
  if (Array.isArray(value)) return value.map((item) => unmarked(item, itemOf(place), shapes));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => {
    if (key[0] !== 's') throw new SyntaxError('A name is a number.');
    const name = key.slice(1);
    return [name, unmarked(item, propertyOf(place, name), shapes)];
  });
  // Not by assignment: `__proto__` is a name like any other.
  return Object.fromEntries(entries);
}

/** The JSON text of a value. A bigint is written digit for digit; throws `TypeError` for an int64 that is a rounded number. */
export function toJson(value: unknown, shape: Shape | undefined, shapes: Shapes): string | undefined {
  if (typeof value === 'bigint') return String(value);
  const place = named(shape, shapes);
  if (place === 'int64') requireExact(value);
  if (Array.isArray(value)) {
    return `[${Array.from(value, (item) => toJson(item, itemOf(place), shapes) ?? 'null').join()}]`;
  }
  // A Date, for example, says itself what it is in JSON.
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return JSON.stringify(value);
  const members = Object.entries(value).flatMap(([name, item]) => {
    const text = toJson(item, propertyOf(place, name), shapes);
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
  });
  return `{${members.join()}}`;
}

/** A number above 2^53 has lost digits before it came here. */
export function requireExact(value: unknown): void {
  if (typeof value === 'number' && !Number.isInteger(value)) throw new TypeError(`${value} is no integer.`);
  if (typeof value === 'number' && !Number.isSafeInteger(value))
    throw new TypeError(`${value} is not exact as a number: use a bigint, such as 9223372036854775807n.`);
}

function named(shape: Shape | undefined, shapes: Shapes): Shape | undefined {
  return typeof shape === 'string' && shape !== 'int64' ? named(shapes[shape], shapes) : shape;
}

function itemOf(shape: Shape | undefined): Shape | undefined {
  return Array.isArray(shape) ? shape[0] : undefined;
}

function propertyOf(shape: Shape | undefined, name: string): Shape | undefined {
  if (typeof shape !== 'object' || Array.isArray(shape)) return undefined;
  const properties = shape as Readonly<Record<string, Shape>>;
  return Object.hasOwn(properties, name) ? properties[name] : properties['*'];
}
