import type { ErrorCode } from '../../../ground/kernel/errors.js';
import { type GatewayDescription, joined, sampleIdempotencyKey } from '../../../noun-words.js';
import type { NounDescription } from '../../../nouns.js';
import { ownNames } from '../../../request/http/headers.js';
import { type DocumentedOperation, READ_HEADERS, type RestDocument, type Write } from '../rest-document.js';
import { rateLimitSchema } from '../schemas.js';
import { errorSchema, Responses } from './responses.js';

const EVERY_OPERATION: ErrorCode[] = [
  'invalid_request',
  'unauthorized',
  'forbidden',
  'not_acceptable',
  'misdirected',
  'rate_limited_minute',
  'rate_limited_day',
  'key_banned',
  'internal',
  'unavailable',
];
const WRITING: ErrorCode[] = ['conflict', 'idempotency_mismatch'];
const WITH_BODY: ErrorCode[] = ['payload_too_large', 'unsupported_media_type'];
const ownExamples = ({ nouns }: GatewayDescription): RestDocument['examples'] => ({
  RateLimit: {
    standing: {
      summary: `The plan FREE after one request for ${joined(nouns)}`,
      value: {
        minute: { limit: 60, remaining: 59, resetAtSeconds: 1764892860 },
        day: { limit: 1000, remaining: 999, resetAtSeconds: 1764979200 },
        ban: { strikes: 0, untilSeconds: null, nextStepMinutes: 1 },
      },
    },
  },
});

interface FileWords {
  summary: string;
  description: string;
  name: string;
  known: string;
}
const OPENAPI_FILE: FileWords = {
  summary: 'Get this document',
  description: 'The OpenAPI 3.1 document of this API, for generators of clients and for other tools.',
  name: 'The OpenAPI document',
  known: 'this document',
};
const POSTMAN_FILE: FileWords = {
  summary: 'Get the Postman collection',
  description:
    'Every request of this document as a Postman collection (v2.1). Import it by its URL, and enter an API key as its variable `apiKey`. Each send of a write has a new `Idempotency-Key`.',
  name: 'The collection',
  known: 'this collection',
};

/** The OpenAPI 3.1 description of `/v1`, built from the error table and from the schemas that validate and serialize. */
export function openApiDocument(
  gateway: GatewayDescription,
  servers: readonly object[],
  nouns: readonly RestDocument[],
): object {
  const [first] = nouns;
  if (!first) throw new Error('the gateway serves no noun');
  const examples = Object.assign({}, ...nouns.map((noun) => noun.examples), ownExamples(gateway));
  const refusals = Object.assign({}, ...nouns.map((noun) => noun.refusals));
  const responses = new Responses(gateway.nouns[0], examples, refusals, ownNames(gateway.slug));
  const own = first.tag.name;
  return published({
    openapi: '3.1.0',
    info: {
      title: gateway.name,
      version: '1.0.0',
      summary: first.summary,
      description:
        'Every request needs an API key as a bearer token. Integers of format int64 are exact over their whole range: read them with a parser that keeps every digit.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers,
    security: [{ apiKey: [] }],
    tags: nouns.map(({ tag }) => tag),
    paths: {
      ...Object.assign({}, ...nouns.map((noun) => pathsOf(noun, responses))),
      '/rate_limit': { get: getRateLimit(own, responses) },
      '/openapi.json': { get: getFile('getOpenApi', OPENAPI_FILE, own, responses) },
      '/postman.json': { get: getFile('getPostman', POSTMAN_FILE, own, responses) },
    },
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'The API key, as `Authorization: Bearer <API_KEY>`.',
        },
      },
      schemas: {
        ...Object.assign({}, ...nouns.map((noun) => noun.schemas)),
        RateLimit: rateLimitSchema,
        Error: errorSchema(responses.noun, responses.codes),
      },
      // Only now all responses are made.
      headers: responses.namedHeaders,
    },
  });
}

function pathsOf({ paths, tag }: RestDocument, responses: Responses): object {
  const ofPath = (operations: Readonly<Record<string, DocumentedOperation>>) =>
    Object.entries(operations).map(([method, each]) => [method, operation(each, tag.name, responses)]);
  return Object.fromEntries(
    Object.entries(paths).map(([path, operations]) => [path, Object.fromEntries(ofPath(operations))]),
  );
}

function operation(
  { operationId, summary, description, sunsetDate, isBeta, scope, ...rest }: DocumentedOperation,
  tag: string,
  responses: Responses,
): object {
  const { parameters, writes, answers, errors = [], headers = [] } = rest;
  const codes = [...EVERY_OPERATION, ...(writes ? WRITING : []), ...(writes?.schema ? WITH_BODY : [])];
  const answered = Object.entries(answers).map(([status, answer]) => [
    status,
    responses.of(answer.description, [...headers, ...answer.headers], answer.schema),
  ]);
  return {
    operationId,
    summary,
    description,
    ...(sunsetDate === undefined ? {} : { deprecated: true, 'x-deprecated-sunset': sunsetDate }),
    ...(isBeta ? { 'x-stability': 'beta' } : {}),
    tags: [tag],
    security: needs(scope),
    parameters: writes ? [idempotencyKey(responses.noun, writes), ...parameters] : parameters,
    ...(writes?.schema && {
      requestBody: { required: true, content: bodyOf(writes.schema, writes.mediaType, responses) },
    }),
    responses: {
      ...Object.fromEntries(answered),
      ...responses.ofErrors(operationId, [...codes, ...errors], headers),
    },
  };
}

function bodyOf(schema: string, mediaType: string | undefined, responses: Responses): object {
  const content = responses.json(schema);
  return mediaType === undefined ? content : { ...content, [mediaType]: Object.values(content)[0] };
}

const idempotencyKey = (noun: NounDescription, { verb }: Write) => ({
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: `Any value that is new to this project, of visible ASCII characters without spaces. For 24 hours a repeated request with the same value gets the first response again and ${verb} nothing.`,
  schema: {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    pattern: '^[!-~]+$',
    examples: [sampleIdempotencyKey(noun, { creates: 'add', changes: 'change', deletes: 'delete' }[verb])],
  },
});

function getRateLimit(tag: string, responses: Responses): object {
  return {
    operationId: 'getRateLimit',
    summary: 'Get the remaining quota',
    description: 'Costs no quota, and works also while the key is banned.',
    'x-stability': 'beta',
    tags: [tag],
    responses: {
      200: responses.of(
        'Both windows and the ban state of the key.',
        ['Cache-Control', 'Vary', 'ETag'],
        'RateLimit',
      ),
      304: responses.of('Not modified.', READ_HEADERS),
      ...responses.ofErrors('getRateLimit', [
        'invalid_request',
        'unauthorized',
        'not_acceptable',
        'rate_limited_minute',
        'internal',
        'unavailable',
      ]),
    },
  };
}

/** A file for tools, which needs no key. */
function getFile(operationId: string, words: FileWords, tag: string, responses: Responses): object {
  return {
    operationId,
    summary: words.summary,
    description: words.description,
    'x-stability': 'beta',
    tags: [tag],
    security: [],
    responses: {
      200: {
        ...responses.of(`${words.name}.`, READ_HEADERS),
        content: { 'application/json': { schema: { type: 'object' } } },
      },
      304: responses.of(`Not modified: the client has ${words.known}.`, READ_HEADERS),
      ...responses.ofErrors(operationId, [
        'invalid_request',
        'not_acceptable',
        'misdirected',
        'rate_limited_minute',
        'internal',
        'unavailable',
      ]),
    },
  };
}

/** OpenAPI 3.1 allows the roles of a key here, for every scheme. */
function needs(scope: DocumentedOperation['scope']): object[] {
  return [{ apiKey: [scope].flat() }];
}

/** The document without the keyword that only our own validation uses. */
function published(document: object): object {
  return JSON.parse(JSON.stringify(document, (key, value) => (key === 'rule' ? undefined : value)));
}
