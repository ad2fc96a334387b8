import { ERRORS, type ErrorCode } from '../errors.js';
import { GET_PET_DEPRECATION } from '../pets/get-pet-deprecation.js';
import { newPetSchema } from '../pets/pet.rules.js';
import { HEADERS, type HeaderName } from './openapi-headers.js';
import { errorSchema, listQuerySchema, petSchema, petsSchema, rateLimitSchema } from './schemas.js';

export interface ServerAddresses {
  /** SPEC's base addresses, `/v1` included. */
  production: string;
  staging: string;
}

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
const EVERY_RESPONSE: HeaderName[] = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit-Policy',
  'RateLimit',
];
const SUNSET_HEADERS: HeaderName[] = ['Deprecation', 'Sunset', 'Link'];
const READ_HEADERS: HeaderName[] = ['ETag', 'Cache-Control', 'Vary'];

/** The OpenAPI 3.1 description of `/v1`, made from the schemas that validate and serialise and from the error table. */
export function openApiDocument({ production, staging }: ServerAddresses): object {
  return published({
    openapi: '3.1.0',
    info: {
      title: 'Petstore Gateway',
      version: '1.0.0',
      summary: 'Browse and manage animals available for adoption.',
      description:
        'Every request needs an API key as a bearer token. Integers of format int64 are exact over their whole range: read them with a parser that keeps every digit.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [server('Production', production), server('Staging', staging)],
    security: [{ apiKey: [] }],
    tags: [{ name: 'animals', description: 'Animals of the project that the API key belongs to.' }],
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
        NewPet: { description: 'An animal to create.', ...newPetSchema },
        Pet: petSchema,
        Pets: { ...petsSchema, items: { $ref: '#/components/schemas/Pet' } },
        RateLimit: rateLimitSchema,
        Error: errorSchema,
      },
      headers: HEADERS,
    },
  });
}

function server(description: string, url: string): object {
  return { url, description };
}

function listPets(): object {
  return {
    operationId: 'listPets',
    summary: 'List all animals',
    description: 'A page of animals, oldest first. `Link` leads to the next page.',
    tags: ['animals'],
    parameters: Object.entries(listQuerySchema.properties).map(([name, { description, ...schema }]) => ({
      name,
      in: 'query',
      required: false,
      description,
      schema,
    })),
    responses: {
      200: ok('A page of animals.', 'Pets', ['Link', ...READ_HEADERS]),
      304: {
        description: 'Not modified: the client has this page.',
        headers: headers(['Link', ...READ_HEADERS]),
      },
      ...errorResponses(EVERY_OPERATION),
    },
  };
}

function createPet(): object {
  return {
    operationId: 'createPet',
    summary: 'Add an animal',
    tags: ['animals'],
    parameters: [
      {
        name: 'Idempotency-Key',
        in: 'header',
        required: false,
        description:
          'Any value new to this project. For 24 hours a repeated request with it gets the first answer and creates nothing.',
        schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
      },
    ],
    requestBody: { required: true, content: json('NewPet') },
    responses: {
      201: ok('The created animal with its assigned `id`.', 'Pet', ['Location']),
      ...errorResponses([
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
    description: `Deprecated, to be removed on ${sunsetDate}: use \`GET /pets\` with a \`status\` filter.`,
    deprecated: true,
    'x-deprecated-sunset': sunsetDate,
    tags: ['animals'],
    parameters: [
      {
        name: 'petId',
        in: 'path',
        required: true,
        description: 'The identifier of the animal.',
        schema: { type: 'integer', format: 'int64' },
      },
    ],
    responses: {
      200: ok('The animal.', 'Pet', [...SUNSET_HEADERS, ...READ_HEADERS]),
      304: {
        description: 'Not modified: the client has this animal.',
        headers: headers([...SUNSET_HEADERS, ...READ_HEADERS]),
      },
      ...errorResponses(codes, SUNSET_HEADERS),
    },
  };
}

function getRateLimit(): object {
  return {
    operationId: 'getRateLimit',
    summary: 'Get what is left of the quota',
    description: 'Free of charge, and answered also while the key is banned.',
    'x-stability': 'beta',
    tags: ['animals'],
    responses: {
      200: ok('Both windows and the ban state of the key.', 'RateLimit', ['Cache-Control', 'Vary', 'ETag']),
      304: { description: 'Not modified.', headers: headers(READ_HEADERS) },
      ...errorResponses([
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
    'x-stability': 'beta',
    tags: ['animals'],
    security: [],
    responses: {
      200: {
        description: 'The OpenAPI document.',
        headers: headers(READ_HEADERS),
        content: { 'application/json': { schema: { type: 'object' } } },
      },
      304: { description: 'Not modified: the client has this document.', headers: headers(READ_HEADERS) },
      ...errorResponses([
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

function ok(description: string, schema: string, names: HeaderName[]): object {
  return { description, headers: headers(names), content: json(schema) };
}

function json(schema: string): object {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } };
}

/** One response per status; its description lists the codes it may carry. */
function errorResponses(codes: ErrorCode[], names: HeaderName[] = []): Record<number, object> {
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))];
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: codes
          .filter((code) => ERRORS[code].status === status)
          .map((code) => `\`${code}\`: ${ERRORS[code].when}`)
          .join('\n\n'),
        headers: headers([...names, ...errorHeaderNames(status)]),
        content: json('Error'),
      },
    ]),
  );
}

function errorHeaderNames(status: number): HeaderName[] {
  if (status === 401) return ['WWW-Authenticate'];
  return status === 409 || status === 429 || status === 503 ? ['Retry-After'] : [];
}

function headers(names: HeaderName[]): object {
  const all: HeaderName[] = [...EVERY_RESPONSE, ...names];
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** Without what is only for our own validation. */
function published(document: object): object {
  return JSON.parse(JSON.stringify(document, (key, value) => (key === 'rule' ? undefined : value)));
}
