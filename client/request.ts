import type { CallOptions } from './calls.js';
import type { Operation, Shapes } from './description.js';
import { requireExact, toJson } from './json.js';

export interface Request {
  readonly operation: Operation;
  readonly path: string;
  /** With its `?`; empty = no parameters. */
  readonly search: string;
  readonly body: string | undefined;
}

/** The request of a call. Its values are, in this order: the parameters of the path, the body, the query, and the options. */
export function requestOf(
  operation: Operation,
  shapes: Shapes,
  values: readonly unknown[],
): { request: Request; options: CallOptions | undefined } {
  const rest = [...values];
  const path = operation.path.replace(/\{([^}]+)\}/g, (_, name: string) => pathValue(name, rest.shift()));
  const body = operation.body === undefined ? undefined : toJson(rest.shift() ?? {}, operation.body, shapes);
  const search = operation.query ? searchOf(rest.shift() as object | undefined) : '';
  return { request: { operation, path, search, body }, options: rest[0] as CallOptions | undefined };
}

/** Undefined and null are left out, the items of an array are repeated. */
export function searchOf(query: object = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, values] of Object.entries(query)) {
    for (const value of [values].flat()) {
      if (value !== undefined && value !== null) parameters.append(name, asText(value));
    }
  }
  const text = String(parameters);
  return text === '' ? '' : `?${text}`;
}

function pathValue(name: string, value: unknown): string {
  const text = asText(value ?? '');
  // Dots would lead to another path.
  if (/^\.{0,2}$/.test(text)) throw new TypeError(`${name} must not be "${text}"`);
  return encodeURIComponent(text);
}

function asText(value: unknown): string {
  if (Number.isInteger(value)) requireExact(value);
  return String(value);
}
