/** As much of OpenAPI 3.1 and of JSON Schema as the reference shows. */
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
  pattern?: string;
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

type Content = Record<string, { schema: Schema }>;

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  deprecated?: boolean;
  'x-stability'?: string;
  'x-deprecated-sunset'?: string;
  security?: readonly object[];
  parameters?: readonly Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, { description: string; headers?: Record<string, object>; content?: Content }>;
}

export interface OpenApi {
  info: { title: string; version: string; summary?: string; description?: string };
  servers: readonly { url: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema>; headers: Record<string, { description?: string }> };
}

export interface LocatedOperation extends Operation {
  method: string;
  path: string;
}

export function operationsOf({ paths }: OpenApi): LocatedOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
    })),
  );
}

/** The last part of a reference, which is the name of what it refers to. */
export function nameOfRef(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}

/** A value that fits the schema, from its examples. */
export function exampleOf(schema: Schema, document: OpenApi): unknown {
  if (schema.$ref) {
    const target = document.components.schemas[nameOfRef(schema.$ref)];
    return target && exampleOf(target, document);
  }
  if (schema.examples?.length) return schema.examples[0];
  if (schema.default !== undefined) return schema.default;
  if (schema.enum?.length) return schema.enum[0];
  if (schema.items) return [exampleOf(schema.items, document)];
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length === 0) return schema.type === 'integer' || schema.type === 'number' ? 1 : '';
  return Object.fromEntries(properties.map(([name, property]) => [name, exampleOf(property, document)]));
}
