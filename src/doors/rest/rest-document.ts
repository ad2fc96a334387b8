import type { Scope } from '../../ground/kernel/caller.js';
import type { ErrorCode, FieldProblem } from '../../ground/kernel/errors.js';
import { got } from '../../ground/kernel/got.js';
import type { ObjectSchema } from '../../ground/kernel/validation.js';
import { capitalized, type NounDescription, type NounField } from '../../nouns.js';
import { CHANGES_CURSOR, IGNORED_PARAMETERS, REPLAYED } from '../../request/http/headers.js';

/** The part of the OpenAPI document that is about a noun. `schema/openapi.ts` adds what every operation has. */
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
  readonly scope: Scope;
  readonly parameters: readonly object[];
  /** It creates something, so it takes a body of this schema and an Idempotency-Key. */
  readonly creates?: string;
  /** By status. The headers are those beside the headers of every response; without a schema there is no body. */
  readonly answers: Readonly<
    Record<number, { description: string; headers: readonly string[]; schema?: string }>
  >;
  /** Beside the errors of every operation. */
  readonly errors?: readonly ErrorCode[];
  /** On every response of the operation, errors included. */
  readonly headers?: readonly string[];
}

/** The headers that every GET of the door can have. */
export const READ_HEADERS = ['ETag', 'Cache-Control', 'Vary'] as const;

interface UsualParts {
  readonly noun: NounDescription;
  /** The query parameters of its list. */
  readonly listQuery: ObjectSchema;
  readonly newSchema: ObjectSchema;
  readonly schema: object;
}

interface UsualDocument extends RestDocument {
  readonly operations: Readonly<Record<'list' | 'create' | 'get', DocumentedOperation>>;
}

/**
 * The document of a noun with the usual operations: its list, its creation, and reading one by its id. The examples are those
 * of the description's fields. A noun whose specification has other words replaces these.
 */
export function usualDocument(parts: UsualParts): UsualDocument {
  const { noun, listQuery, newSchema, schema } = parts;
  const { singular, plural, type, withArticle, fields, hasChanges } = noun;
  const whole = valuesOf(fields);
  const smallest = valuesOf(fields.filter(({ isRequired }) => isRequired));
  const page = capitalized(plural);
  const listHeaders = ['Link', ...(hasChanges ? [CHANGES_CURSOR] : [])];
  const list: DocumentedOperation = {
    operationId: `list${page}`,
    summary: `List all ${plural}`,
    description: `A page of ${plural}. The \`Link\` header has the URL of the next page. [Pages](/v1/docs/pagination#changes) have each ${singular} that existed before the first one exactly once.`,
    scope: `${plural}:read`,
    parameters: queryParameters(listQuery),
    answers: readAnswers(page, `A page of ${plural}.`, 'this page', listHeaders),
  };
  const create: DocumentedOperation = {
    operationId: `create${type}`,
    summary: `Add ${withArticle}`,
    description: `With an \`Idempotency-Key\` the request can be repeated when its answer got lost: only the first one creates ${withArticle}.`,
    scope: `${plural}:write`,
    parameters: [],
    creates: `New${type}`,
    answers: {
      201: {
        description: `The created ${singular} with its assigned \`id\`.`,
        headers: ['Location', REPLAYED, IGNORED_PARAMETERS],
        schema: type,
      },
    },
  };
  const id = { type: 'integer', format: 'int64', examples: [4711] };
  const get: DocumentedOperation = {
    operationId: `get${type}`,
    summary: `Get ${withArticle}`,
    description: `The ${singular} of the project with this identifier.`,
    scope: `${plural}:read`,
    parameters: [
      {
        name: `${singular}Id`,
        in: 'path',
        required: true,
        description: `The identifier of the ${singular}.`,
        schema: id,
      },
    ],
    answers: readAnswers(type, `The ${singular}.`, `this ${singular}`),
    errors: ['not_found'],
  };
  return {
    operations: { list, create, get },
    summary: `Browse and manage ${plural}.`,
    tag: { name: plural, description: `${page} of the project that the API key belongs to.` },
    paths: { [`/${plural}`]: { get: list, post: create }, [`/${plural}/{${singular}Id}`]: { get } },
    schemas: {
      [`New${type}`]: { description: `${capitalized(withArticle)} to create.`, ...newSchema },
      [type]: schema,
      [page]: {
        type: 'array',
        description: `A page of ${plural}.`,
        items: { $ref: `#/components/schemas/${type}` },
      },
    },
    examples: {
      [`New${type}`]: {
        whole: { summary: 'With every field', value: whole },
        smallest: { summary: 'With the required fields only', value: smallest },
      },
      [type]: { whole: { summary: capitalized(withArticle), value: { id: 4711, ...whole } } },
      [page]: {
        page: {
          summary: `A page of two ${plural}`,
          value: [
            { id: 4711, ...whole },
            { id: 4712, ...smallest },
          ],
        },
        empty: { summary: `No ${singular} matches`, value: [] },
      },
    },
    refusals: {
      [list.operationId]: { invalid_request: problemsOf(listQuery, '') },
      [create.operationId]: {
        invalid_request: problemsOf(newSchema, undefined),
        forbidden: `This API key lacks the scope ${plural}:write. Use a key that has it.`,
      },
    },
  };
}

/** The answers of a GET with a body of this schema; `known` is what a client has that gets 304. */
export function readAnswers(
  schema: string,
  description: string,
  known: string,
  more: readonly string[] = [],
): DocumentedOperation['answers'] {
  const headers = [...more, IGNORED_PARAMETERS, ...READ_HEADERS];
  return {
    200: { description, headers, schema },
    304: { description: `Not modified: the client has ${known}.`, headers },
  };
}

/** The examples of fields, as JSON has them. */
function valuesOf(fields: readonly NounField[]): object {
  const isNumber = (kind: string) => kind === 'int64' || kind === 'integer';
  return Object.fromEntries(
    fields.map(({ name, kind, example }) => [name, isNumber(kind) ? Number(example) : example]),
  );
}

/** The problems of a request of which the first two fields have the wrong value `sent`. */
function problemsOf({ properties }: ObjectSchema, sent: string | undefined): FieldProblem[] {
  return Object.entries(properties)
    .slice(0, 2)
    .map(([field, { rule }]) => ({ field, message: got(rule, sent) }));
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
