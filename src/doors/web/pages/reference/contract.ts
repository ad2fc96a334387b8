import { parse, parseNumberAndBigInt, stringify } from 'lossless-json';
import type { GatewayDescription } from '../../../../noun-words.js';
import type { OwnNames } from '../../../../request/http/headers.js';

/** The address in guides, recipes, samples and the document's examples, until a script writes the reader's there. */
export const SAMPLE_ORIGIN = 'http://127.0.0.1:4000';

/** The parts of OpenAPI 3.1 and of JSON Schema that the document of this gateway has. */
export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  format?: string;
  description?: string;
  enum?: readonly unknown[];
  default?: unknown;
  examples?: readonly unknown[];
  required?: readonly string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  minimum?: bigint;
  maximum?: bigint;
  minLength?: bigint;
  maxLength?: bigint;
}

export interface Parameter {
  name: string;
  in: 'query' | 'path' | 'header';
  required: boolean;
  description: string;
  schema: Schema;
}

interface Example {
  summary: string;
  value: unknown;
}

interface Body {
  content?: { 'application/json': { schema: Schema; examples: Record<string, Example> } };
}

export interface Response extends Body {
  description: string;
  headers: Record<string, object>;
}

export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  deprecated?: boolean;
  'x-stability'?: string;
  'x-deprecated-sunset'?: string;
  /** Absent = the key of any scope; empty = no key. */
  security?: readonly Record<string, readonly string[]>[];
  parameters?: readonly Parameter[];
  requestBody?: Body;
  responses: Record<string, Response>;
}

interface OpenApi {
  info: { title: string; version: string; summary: string; description: string };
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    headers: Record<string, { description: string; schema: Schema }>;
  };
}

/** With its method and its path, `/v1` included. */
export type LocatedOperation = Operation & { method: string; path: string };

/** The document, and its operations in reading order. Integers are bigint, so that none loses a digit. */
export interface Contract extends OpenApi {
  operations: readonly LocatedOperation[];
  nouns: GatewayDescription['nouns'];
  /** Of its headers. */
  names: OwnNames;
}

export function readContract(text: string, nouns: Contract['nouns'], names: OwnNames): Contract {
  const document = parse(text, null, parseNumberAndBigInt) as OpenApi;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path: `/v1${path}`,
    })),
  );
  return { ...document, operations, nouns, names };
}

/** A value as indented JSON. */
export const laidOut = (value: unknown) => stringify(value, null, 2) ?? '';

/** The last part of a reference: the name of its target. */
export const nameOfRef = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1);

export const schemaOf = ({ content }: Body) => content?.['application/json'].schema;

export function examplesOf({ content }: Body): [name: string, example: Example][] {
  return Object.entries(content?.['application/json'].examples ?? {});
}

/** The example of an operation's request as JSON; null = it has no body. */
export function bodyOf({ requestBody }: Operation): string | null {
  const [[, example] = []] = requestBody ? examplesOf(requestBody) : [];
  return example ? laidOut(example.value) : null;
}

export const isPublic = ({ security }: Operation) => security?.length === 0;

/** The scopes that the key of a request needs. */
export function scopesOf({ security = [] }: Operation): readonly string[] {
  return security.flatMap((schemes) => Object.values(schemes).flat());
}
