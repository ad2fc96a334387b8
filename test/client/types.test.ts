import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { generated } from '../../src/cli/types/generated-file.js';
import { petstoreHere } from '../support/command-line.js';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'petstore-types-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const petstore = (...args: string[]) =>
  petstoreHere(args, { env: { DATABASE_URL: 'mysql://nobody@127.0.0.1:1/none' } });

const documentWith = (schema: object, more: object = {}) => ({
  ...{ openapi: '3.1.0', servers: [{ url: 'http://localhost/v1' }] },
  components: { schemas: { Thing: schema } },
  paths: {
    '/things': { get: { operationId: 'getThing', responses: { 200: { description: 'One.' } }, ...more } },
  },
});
const typeOfThing = (schema: object) =>
  /export type Thing = (.*?);\n\nexport/s.exec(generated(documentWith(schema)).types)?.[1];

test.each([
  [{ type: ['integer', 'null'], format: 'int64' }, 'bigint | null'],
  [{ type: 'integer', format: 'int64', enum: [1, 2] }, 'bigint'],
  [{ type: 'integer', format: 'int32' }, 'number'],
  [{ enum: ['a', 1, null] }, '"a" | 1 | null'],
  [{ const: 'a' }, '"a"'],
  [{ type: 'array', items: { enum: ['a', 'b'] } }, '("a" | "b")[]'],
  [
    { type: 'object', additionalProperties: { type: 'integer', format: 'int64' } },
    '{\n  [name: string]: bigint;\n}',
  ],
  [{ anyOf: [{ $ref: '#/components/schemas/Thing' }, { type: 'null' }] }, 'Thing | null'],
  [{ oneOf: [{ type: 'string' }, { type: 'boolean' }] }, 'string | boolean'],
  [
    { type: 'object', required: ['a-b'], properties: { 'a-b': { type: 'string' } } },
    '{\n  "a-b": string;\n}',
  ],
  [{ description: 'Any */ value.' }, 'unknown'],
])('Types-3: the schema %j has the type %s', (schema, type) => {
  expect(typeOfThing(schema)).toBe(type);
});

test.each([
  [{ type: 'integer', format: 'uint64' }, 'the format uint64'],
  [{ type: 'number', format: 'int64' }, 'the format int64'],
  [{ type: 'file' }, 'the type file'],
  [{ not: { type: 'string' } }, 'the keyword not'],
  [{ type: 'object', patternProperties: {} }, 'the keyword patternProperties'],
  [
    { type: 'object', required: ['id'], properties: { id: { type: 'integer', readOnly: true } } },
    'the keyword readOnly',
  ],
  [{ $ref: '#/components/schemas/Missing' }, 'the reference #/components/schemas/Missing'],
  [{ $ref: 'other.json#/Thing' }, 'the reference other.json#/Thing'],
  [{ $ref: '#/components/schemas/Thing', type: 'object' }, '$ref and type in one schema'],
  [{ oneOf: [{ type: 'string' }, { type: 'integer', format: 'int64' }] }, 'alternatives that differ'],
  [{ properties: {} }, 'no type'],
  [{ type: 'array', items: true }, 'no object'],
])('Types-4: the schema %j is refused with its place, and has no wrong type', (schema, problem) => {
  expect(() => generated(documentWith(schema))).toThrow(
    new RegExp(`^The document has ${problem.replaceAll('$', '\\$')}.* at #/components/schemas/Thing`),
  );
});

test.each([
  [{ operationId: 'get-thing' }, 'no operationId that is a name in JavaScript at #/paths/~1things/get'],
  [
    { parameters: [{ name: 'If-Match', in: 'header', required: true, schema: { type: 'string' } }] },
    'a required header If-Match',
  ],
  [
    { parameters: [{ name: 'q', in: 'query', style: 'deepObject', schema: { type: 'object' } }] },
    'a style of a parameter',
  ],
  [
    { requestBody: { content: { 'multipart/form-data': {} } } },
    'a body that is not application/json|content that is not',
  ],
  [{ responses: {} }, 'no successful answer'],
  [{ responses: { 200: { content: { 'text/csv': {} } } } }, 'content that is not application/json'],
])('Types-5: the operation %j is refused', (operation, problem) => {
  expect(() => generated(documentWith({ type: 'string' }, operation))).toThrow(new RegExp(problem));
});

test('Types-6: the command opens no database, and says in one line what it cannot read or must not replace', async () => {
  const own = join(folder, 'own.ts');
  await writeFile(own, 'export const mine = 1;\n');
  const swagger = join(folder, 'swagger.json');
  await writeFile(swagger, '{"swagger":"2.0"}');
  const refused = [
    [['missing.json'], 1, 'invalid_request', "missing.json can't be read: ENOENT"],
    [
      ['http://127.0.0.1:1/v1/openapi.json'],
      1,
      'invalid_request',
      "http://127.0.0.1:1/v1/openapi.json can't be read: ",
    ],
    [['README.md'], 1, 'invalid_request', 'README.md is no JSON.'],
    [[swagger], 1, 'invalid_request', 'The document has openapi undefined, not 3.1, at #.'],
    [['schema/openapi.json', '-o', own], 1, 'conflict', 'own.ts was not written by this command.'],
    [['schema/openapi.json', '-o', 'types.d.ts'], 2, 'usage', 'name the output .ts'],
    [[], 2, 'usage', "missing required argument 'source'"],
  ] as const;
  for (const [args, code, error, message] of refused) {
    const ended = await petstore('types', ...args, '--json');
    expect([args, ended.code, ended.json.error.code]).toEqual([args, code, error]);
    expect(ended.json.error.message).toContain(message);
  }
  expect(await readFile(own, 'utf8')).toBe('export const mine = 1;\n');
});
