import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { buildSchema, type GraphQLArgument, isEnumType, isInputObjectType, isObjectType } from 'graphql';
import { ERRORS } from '../../src/ground/kernel/errors.js';
import { rest } from '../support/http/client.js';
import { PETSTORE } from '../support/pets/petstore.js';
import { startApp, type TestApp } from '../support/start-app.js';

interface PostmanItem {
  request: { method: string; url: { path: string[] } };
}

describe('the GraphQL schema', () => {
  test('Contract-1: every type, field, argument and value has a description', async () => {
    const schema = buildSchema(await readFile('schema/schema.graphql', 'utf8'));
    const own = Object.values(schema.getTypeMap()).filter(
      ({ name }) =>
        !name.startsWith('__') &&
        !['Boolean', 'Float', 'ID', 'Int', 'String', 'Mutation', 'Query', 'Subscription'].includes(name),
    );
    const lacking: string[] = own.filter(({ description }) => !description).map(({ name }) => name);
    for (const type of Object.values(schema.getTypeMap()).filter(({ name }) => !name.startsWith('__'))) {
      if (isEnumType(type)) {
        lacking.push(
          ...type
            .getValues()
            .filter(({ description }) => !description)
            .map(({ name }) => `${type.name}.${name}`),
        );
      }
      if (!isObjectType(type) && !isInputObjectType(type)) continue;
      for (const field of Object.values(type.getFields())) {
        if (!field.description) lacking.push(`${type.name}.${field.name}`);
        const args: readonly GraphQLArgument[] = 'args' in field ? field.args : [];
        const untold = args.filter(({ description }) => !description);
        lacking.push(...untold.map(({ name }) => `${type.name}.${field.name}(${name}:)`));
      }
    }
    expect(lacking).toEqual([]);
  });

  test('Contract-2: pet is deprecated with its date and replacement', async () => {
    const schema = buildSchema(await readFile('schema/schema.graphql', 'utf8'));
    const reason = schema.getQueryType()?.getFields().pet?.deprecationReason;
    expect(reason).toBe('Removed on 2030-12-05. Use `pets(ids: […])`.');
  });
});

describe('the OpenAPI document', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp({
      gateway: PETSTORE,
      env: {
        PUBLIC_BASE_URL: 'https://api.petstore.test',
        // In the text of a replacement `$&` has a meaning.
        STAGING_BASE_URL: 'https://staging.petstore.test/$&/',
      },
    });
  });
  afterAll(() => app.stop());

  test("Contract-3: the document is public, and Redocly's linter finds no error and no warning", async () => {
    const { status, text } = await rest(app.url, '/v1/openapi.json');
    expect(status).toBe(200);
    const folder = await mkdtemp(join(tmpdir(), 'petstore-openapi-'));
    try {
      await writeFile(join(folder, 'openapi.json'), text);
      // In a separate process: the linter is an ES module, which Jest does not load on Node 20.
      const { stdout } = await promisify(execFile)(
        process.execPath,
        ['node_modules/@redocly/cli/bin/cli.js', 'lint', '--format=json', join(folder, 'openapi.json')],
        { env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' } },
      );
      expect(JSON.parse(stdout.slice(stdout.indexOf('{'))).totals).toEqual({
        errors: 0,
        warnings: 0,
        ignored: 0,
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test('Contract-4: the document has both environments, and the operations, tags and marks of SPEC', async () => {
    const { body } = await rest(app.url, '/v1/openapi.json');
    expect(body.openapi).toBe('3.1.0');
    expect(body.servers.map(({ url }: { url: string }) => url)).toEqual([
      'https://api.petstore.test/v1',
      'https://staging.petstore.test/$&/v1',
    ]);
    const { '/pets': pets, '/pets/{petId}': pet, '/openapi.json': document } = body.paths;
    expect([pets.get.operationId, pets.post.operationId, pet.get.operationId]).toEqual([
      'listPets',
      'createPet',
      'getPet',
    ]);
    expect([pets.get.tags, pets.post.tags, pet.get.tags]).toEqual([['animals'], ['animals'], ['animals']]);
    expect(pet.get).toMatchObject({ deprecated: true, 'x-deprecated-sunset': '2030-12-05' });
    expect(document.get['x-stability']).toBe('beta');
    expect(Object.keys(pets.post.responses)).toEqual([
      '201',
      '400',
      '401',
      '403',
      '406',
      '409',
      '413',
      '415',
      '421',
      '422',
      '429',
      '500',
      '503',
    ]);
    expect(Object.keys(pet.get.responses)).toEqual([
      '200',
      '304',
      '400',
      '401',
      '403',
      '404',
      '406',
      '410',
      '421',
      '429',
      '500',
      '503',
    ]);
    // SPEC's three operations change no record, so none answers with this code.
    const codes = Object.keys(ERRORS).filter((code) => code !== 'precondition_failed');
    expect(body.components.schemas.Error.properties.code.enum).toEqual(codes);
    const versions = await rest(app.url, '/v1/docs/versions', { headers: { accept: 'text/html' } });
    expect(versions.text).toContain('removed on 2030-12-05');
  });

  test('Contract-11: the document is schema/openapi.json with other servers, to the character', async () => {
    const text = await (await fetch(`${app.url}/v1/openapi.json`)).text();
    const contract = JSON.parse(await readFile('schema/openapi.json', 'utf8'));
    expect(text).toBe(JSON.stringify({ ...contract, servers: JSON.parse(text).servers }));
  });
});

test('Contract-13: the Postman collection is public, has every operation, this base address, and no id that changes', async () => {
  const base = 'https://api.petstore.test';
  const app = await startApp({ gateway: PETSTORE, env: { PUBLIC_BASE_URL: `${base}/$&/` } });
  const served = await rest(app.url, '/v1/postman.json');
  const { body: document } = await rest(app.url, '/v1/openapi.json');
  await app.stop();
  expect([served.status, served.headers.get('content-type')]).toEqual([
    200,
    'application/json; charset=utf-8',
  ]);
  const contract = JSON.parse(await readFile('schema/postman.json', 'utf8'));
  contract.variable[0].value = `${base}/$&/v1`;
  expect(served.text).toBe(JSON.stringify(contract));
  const sent = served.body.item.map(
    ({ request: { method, url } }: PostmanItem) => `${method} /${url.path.join('/')}`,
  );
  const operations = Object.entries<object>(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/, ':$1')}`),
  );
  expect(sent).toEqual(operations);
  const [idempotencyKey] = served.body.item[1].request.header.slice(-1);
  expect(idempotencyKey).toMatchObject({ key: 'Idempotency-Key', value: '{{$guid}}' });
});

test('Contract-12: each pattern of the document means the same in every language of generated clients', async () => {
  const patterns = [...(await readFile('schema/openapi.json', 'utf8')).matchAll(/"pattern": (".*")/g)];
  expect(patterns.length).toBeGreaterThanOrEqual(2);
  for (const [, pattern = ''] of patterns.map(([, text = '']) => [text, JSON.parse(text) as string])) {
    // RE2 has no look-ahead, Python no `\\p{…}` and no `\\u{…}`, and without `u` ECMAScript counts halves of characters.
    expect(pattern).toMatch(/^\^?(\\S|\[[!-Z_a-z~]+-?[!-Z_a-z~]*\])[+*]?\$?$/);
    for (const flags of ['', 'u']) {
      const matches = (text: string) => new RegExp(pattern, flags).test(text);
      expect([' ', 'Rex', '7b1f'].map(matches)).toEqual([false, true, true]);
      if (pattern === '\\S') expect(['😀', '\u3000', '𠮷野'].map(matches)).toEqual([true, false, true]);
    }
  }
});

test('Contract-10: schema/ is what the code prints', async () => {
  const print = promisify(execFile)(process.execPath, ['dist/schema/print.js', '--check']);
  // Rejects with the names of the files that are stale.
  expect(await print).toEqual({ stdout: '', stderr: '' });
});
