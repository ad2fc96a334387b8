import type { Scope } from '../../ground/kernel/caller.js';
import type { ErrorCode, FieldProblem } from '../../ground/kernel/errors.js';
import type { ObjectSchema } from '../../ground/kernel/validation.js';
import type { OwnNames } from '../../request/http/headers.js';

/** The part of the OpenAPI document that is about a noun. `document/openapi.ts` adds what every operation has. */
export interface RestDocument {
  /** Of the whole interface, for people. */
  readonly summary: string;
  readonly tag: { readonly name: string; readonly description: string };
  /** By path, such as `/books/{bookId}`, and method. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  /** JSON schemas of bodies, by name. */
  readonly schemas: Readonly<Record<string, object>>;
  /** Bodies by the schema that they fit. A test compares each with what the gateway sends. */
  readonly examples: Readonly<Record<string, Readonly<Record<string, { summary: string; value: unknown }>>>>;
  /** Examples of refusals that differ from those of other operations, by operation id. */
  readonly refusals: Readonly<Record<string, Readonly<Partial<Record<ErrorCode, ErrorExample>>>>>;
}

/** The message of an error, or the problems of the fields in a 400. */
export type ErrorExample = string | FieldProblem[];

export interface DocumentedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  /** The date of its removal, such as `2030-12-05`; absent = it is not deprecated. */
  readonly sunsetDate?: string;
  /** Its fields may still change. */
  readonly isBeta?: boolean;
  /** A key needs all of them. */
  readonly scope: Scope | readonly Scope[];
  readonly parameters: readonly object[];
  /** It writes, so it takes an Idempotency-Key. Absent = it reads. */
  readonly writes?: Write;
  /** By status. The headers are those beside the headers of every response; without a schema there is no body. */
  readonly answers: Readonly<
    Record<number, { description: string; headers: readonly string[]; schema?: string }>
  >;
  /** Beside the errors of every operation. */
  readonly errors?: readonly ErrorCode[];
  /** On every response of the operation, errors included. */
  readonly headers?: readonly string[];
}

export interface Write {
  /** The act that a repeated Idempotency-Key does not repeat. */
  readonly verb: 'creates' | 'changes' | 'deletes';
  /** The schema of its body; absent = it takes none. */
  readonly schema?: string;
  /** Beside `application/json`. */
  readonly mediaType?: string;
}

/** The headers that every GET of the door can have. */
export const READ_HEADERS = ['ETag', 'Cache-Control', 'Vary'] as const;

/** The answers of a GET with a body of this schema; `known` is what a client has that gets 304. */
export function readAnswers(
  { ignoredParameters }: OwnNames,
  schema: string,
  description: string,
  known: string,
  more: readonly string[] = [],
): DocumentedOperation['answers'] {
  const headers = [...more, ignoredParameters, ...READ_HEADERS];
  return {
    200: { description, headers, schema },
    304: { description: `Not modified: the client has ${known}.`, headers },
  };
}

/** The parameters of a list, as OpenAPI has them. */
export function queryParameters({ properties }: ObjectSchema): object[] {
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: false,
    description,
    schema,
  }));
}
