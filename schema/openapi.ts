import { listQuerySchema, petSchema, petsSchema, rateLimitSchema } from '../src/doors/rest/schemas.js';
import type { Scope } from '../src/ground/kernel/caller.js';
import type { ErrorCode } from '../src/ground/kernel/errors.js';
import { GET_PET_DEPRECATION, newPetSchema } from '../src/pets/pet.rules.js';
import { IGNORED_PARAMETERS, REPLAYED } from '../src/request/http/headers.js';
import {
  errorResponses,
  errorSchema,
  HEADERS,
  type HeaderName,
  json,
  response,
} from './openapi-responses.js';

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
const SUNSET_HEADERS: HeaderName[] = ['Deprecation', 'Sunset', 'Link'];
const READ_HEADERS: HeaderName[] = ['ETag', 'Cache-Control', 'Vary'];
const LIST_HEADERS: HeaderName[] = ['Link', IGNORED_PARAMETERS, ...READ_HEADERS];
const PET_HEADERS: HeaderName[] = [...SUNSET_HEADERS, IGNORED_PARAMETERS, ...READ_HEADERS];

/** The OpenAPI 3.1 description of `/v1`, built from the error table and from the schemas that validate and serialize. */
export function openApiDocument(servers: readonly object[]): object {
  return published({
    openapi: '3.1.0',
    info: {
      title: 'Petstore Gateway',
      version: '1.0.0',
      summary: 'Browse and manage pets available for adoption.',
      description:
        'Every request needs an API key as a bearer token. Integers of format int64 are exact over their whole range: read them with a parser that keeps every digit.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers,
    security: [{ apiKey: [] }],
    tags: [{ name: 'animals', description: 'Pets of the project that the API key belongs to.' }],
    paths: {
      '/pets': { get: listPets(), post: createPet() },
      '/pets/{petId}': { get: getPet() },
      '/rate_limit': { get: getRateLimit() },
      '/openapi.json': { get: getOpenApi() },
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
        NewPet: { description: 'A pet to create.', ...newPetSchema },
        Pet: petSchema,
        Pets: { ...petsSchema, items: { $ref: '#/components/schemas/Pet' } },
        RateLimit: rateLimitSchema,
        Error: errorSchema,
      },
      headers: HEADERS,
    },
  });
}

function listPets(): object {
  return {
    operationId: 'listPets',
    summary: 'List all animals',
    description: 'A page of pets, oldest first. The `Link` header has the URL of the next page.',
    tags: ['animals'],
    security: needs('pets:read'),
    parameters: Object.entries(listQuerySchema.properties).map(([name, { description, ...schema }]) => ({
      name,
      in: 'query',
      required: false,
      description,
      schema,
    })),
    responses: {
      200: response('A page of pets.', LIST_HEADERS, 'Pets'),
      304: response('Not modified: the client has this page.', LIST_HEADERS),
      ...errorResponses('listPets', EVERY_OPERATION),
    },
  };
}

function createPet(): object {
  return {
    operationId: 'createPet',
    summary: 'Add an animal',
    description:
      'With an `Idempotency-Key` the request can be repeated when its answer got lost: only the first one creates a pet.',
    tags: ['animals'],
    security: needs('pets:write'),
    parameters: [
      {
        name: 'Idempotency-Key',
        in: 'header',
        required: false,
        description:
          'Any value that is new to this project, of visible ASCII characters without spaces. For 24 hours a repeated request with the same value gets the first response again and creates nothing.',
        schema: {
          type: 'string',
          minLength: 1,
          maxLength: 255,
          pattern: '^[!-~]+$',
          examples: ['7b1f0c52-add-rex'],
        },
      },
    ],
    requestBody: { required: true, content: json('NewPet') },
    responses: {
      201: response(
        'The created pet with its assigned `id`.',
        ['Location', REPLAYED, IGNORED_PARAMETERS],
        'Pet',
      ),
      ...errorResponses('createPet', [
        ...EVERY_OPERATION,
        'conflict',
        'payload_too_large',
        'unsupported_media_type',
        'idempotency_mismatch',
      ]),
    },
  };
}

function getPet(): object {
  const { sunsetDate } = GET_PET_DEPRECATION;
  const codes: ErrorCode[] = [...EVERY_OPERATION, 'not_found', 'gone'];
  return {
    operationId: 'getPet',
    summary: 'Get an animal',
    description: `Deprecated, to be removed on ${sunsetDate}: use \`GET /pets\` with a \`status\` filter. Over GraphQL, \`pets(ids: […])\` reads pets by identifier.`,
    deprecated: true,
    'x-deprecated-sunset': sunsetDate,
    tags: ['animals'],
    security: needs('pets:read'),
    parameters: [
      {
        name: 'petId',
        in: 'path',
        required: true,
        description: 'The identifier of the pet.',
        schema: { type: 'integer', format: 'int64', examples: [4711] },
      },
    ],
    responses: {
      200: response('The pet.', PET_HEADERS, 'Pet'),
      304: response('Not modified: the client has this pet.', PET_HEADERS),
      ...errorResponses('getPet', codes, SUNSET_HEADERS),
    },
  };
}

function getRateLimit(): object {
  return {
    operationId: 'getRateLimit',
    summary: 'Get the remaining quota',
    description: 'Costs no quota, and works also while the key is banned.',
    'x-stability': 'beta',
    tags: ['animals'],
    responses: {
      200: response(
        'Both windows and the ban state of the key.',
        ['Cache-Control', 'Vary', 'ETag'],
        'RateLimit',
      ),
      304: response('Not modified.', READ_HEADERS),
      ...errorResponses('getRateLimit', [
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

function getOpenApi(): object {
  return {
    operationId: 'getOpenApi',
    summary: 'Get this document',
    description: 'The OpenAPI 3.1 document of this API, for generators of clients and for other tools.',
    'x-stability': 'beta',
    tags: ['animals'],
    security: [],
    responses: {
      200: {
        ...response('The OpenAPI document.', READ_HEADERS),
        content: { 'application/json': { schema: { type: 'object' } } },
      },
      304: response('Not modified: the client has this document.', READ_HEADERS),
      ...errorResponses('getOpenApi', [
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
function needs(scope: Scope): object[] {
  return [{ apiKey: [scope] }];
}

/** The document without the keyword that only our own validation uses. */
function published(document: object): object {
  return JSON.parse(JSON.stringify(document, (key, value) => (key === 'rule' ? undefined : value)));
}
