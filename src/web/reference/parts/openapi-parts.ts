/** The parts of OpenAPI 3.1 and of JSON Schema that the reference shows. */
export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  format?: string;
  description?: string;
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  examples?: readonly unknown[];
  required?: readonly string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  deprecated?: boolean;
  allOf?: readonly Schema[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
}

export interface Parameter {
  name: string;
  in: 'query' | 'path' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
}

export interface Example {
  summary?: string;
  value: unknown;
}

type Content = Record<string, { schema: Schema; examples?: Record<string, Example> }>;

export interface Response {
  description: string;
  headers?: Record<string, { $ref: string }>;
  content?: Content;
}

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  deprecated?: boolean;
  'x-stability'?: string;
  'x-deprecated-sunset'?: string;
  security?: readonly Record<string, readonly string[]>[];
  parameters?: readonly Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, Response>;
}

export interface OpenApi {
  info: { title: string; version: string; summary?: string; description?: string };
  servers: readonly { url: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, Schema>;
    headers: Record<string, { description?: string; schema?: Schema }>;
  };
}

export interface LocatedOperation extends Operation {
  method: string;
  /** With the prefix `/v1`. */
  path: string;
}

const JSON_TYPE = 'application/json';

export function operationsOf({ paths }: OpenApi): LocatedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path: `/v1${path}`,
    })),
  );
}

/** The last part of a reference: the name of its target. */
export function nameOfRef(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}

export function bodySchemaOf({ requestBody }: LocatedOperation): Schema | null {
  return requestBody?.content[JSON_TYPE]?.schema ?? null;
}

/** The examples of a request or a response, by name. */
export function examplesOf({ content }: { content?: Content }): [name: string, example: Example][] {
  return Object.entries(content?.[JSON_TYPE]?.examples ?? {});
}

export function bodyExamplesOf({ requestBody }: LocatedOperation): [name: string, example: Example][] {
  return requestBody ? examplesOf(requestBody) : [];
}

export function isPublic({ security }: LocatedOperation): boolean {
  return security?.length === 0;
}

/** The scopes that the key of a request needs. */
export function scopesOf({ security = [] }: LocatedOperation): readonly string[] {
  return security.flatMap((schemes) => Object.values(schemes).flat());
}
