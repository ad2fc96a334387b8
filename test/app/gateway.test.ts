import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { getIntrospectionQuery } from 'graphql';
import { getMetadataArgsStorage } from 'typeorm';
import { createGateway, type LoadedGateway, loadGateway } from '../../src/app/gateway.js';
import { isReserved } from '../../src/app/reserved-names.js';
import { Output } from '../../src/cli/output.js';
import { runProgram } from '../../src/cli/program.js';
import { FieldLimits } from '../../src/doors/graphql/execution/field-limits.js';
import { createSchema } from '../../src/doors/graphql/schema/schema.js';
import { Scopes } from '../../src/ground/kernel/caller.js';
import type { Noun } from '../../src/noun/noun.js';
import type { NounDescription } from '../../src/nouns.js';
import { MemoryLimiter } from '../../src/request/rate-limit/memory/memory-limiter.js';
import { ApiKey } from '../../src/tenants/api-keys/api-key.entity.js';
import { databaseKinds } from '../support/databases.js';
import { NOTE, notes } from '../support/gateway/notes.js';
import { GATEWAY } from '../support/gateway/tested-gateway.js';
import { graphql, rest } from '../support/http/client.js';
import { startApp, type TestApp } from '../support/start-app.js';

const sourceOf = (noun: Noun) => ({ description: noun.description, load: async () => noun });
const named = (words: Partial<NounDescription>) => sourceOf({ ...notes, description: { ...NOTE, ...words } });
const [toys] = GATEWAY.nouns;
const NOTES_GATEWAY = createGateway({ name: 'Acme Notes', nouns: [sourceOf(notes)] });

test.each<[string, Parameters<typeof createGateway>[0]]>([
  ['A gateway needs a name, such as "Acme Books".', { name: ' ', nouns: [named({})] }],
  ['The gateway Acme needs at least one noun.', { name: 'Acme', nouns: [] }],
  ...(
    [
      ['"note" can\'t be served: it is there twice', [{}, {}]],
      ['"project" can\'t be served: project is a name of the platform', [{ singular: 'project' }]],
      ['"note" can\'t be served: apiKeys is a name of the platform', [{ plural: 'apiKeys' }]],
      ['"note" can\'t be served: docs is a name of the platform', [{ plural: 'docs' }]],
      ['"note" can\'t be served: RateLimit is a name of the platform', [{ type: 'RateLimit' }]],
      [
        '"note" can\'t be served: "openapi.json" is not only letters and digits',
        [{ plural: 'openapi.json' }],
      ],
      ['"note" can\'t be served: "rate_limit" is not only letters and digits', [{ plural: 'rate_limit' }]],
      [
        '"sheep" can\'t be served: its plural must differ from its singular',
        [{ singular: 'sheep', plural: 'sheep' }],
      ],
      [
        '"card" can\'t be served: notes is a name of the noun note too',
        [{}, { singular: 'card', type: 'Card' }],
      ],
      [
        '"card" can\'t be served: Note is a name of the noun note too',
        [{}, { singular: 'card', plural: 'cards' }],
      ],
      [
        '"noteChange" can\'t be served: noteChange is a name of the noun note too',
        [{}, { singular: 'noteChange', plural: 'noteChanges', type: 'NoteShift' }],
      ],
    ] as const
  ).map(([message, nouns]): [string, Parameters<typeof createGateway>[0]] => [
    `The noun ${message}.`,
    { name: 'Acme', nouns: nouns.map(named) },
  ]),
])('Gateway-1: a gateway that cannot work is refused when it is made: %s', (message, options) => {
  expect(() => createGateway(options)).toThrow(message);
});

test('Gateway-2: so is one with more scopes than an API key can store', () => {
  const nouns = Array.from({ length: 150 }, (_, at) =>
    named({ singular: `longNamed${at}`, plural: `longNameds${at}`, type: `LongNamed${at}` }),
  );
  expect(() => createGateway({ name: 'Acme', nouns })).toThrow(
    'an API key stores at most 4000 characters of scopes',
  );
  expect(createGateway({ name: 'Acme', nouns: nouns.slice(0, 100) }).scopes.all).toHaveLength(202);
});

test.each(databaseKinds())('Gateway-12: a key has the scopes of 96 nouns, on %s', async (kind) => {
  const others = Array.from({ length: 95 }, (_, at) => `furtherNouns${at}`);
  const scopes = new Scopes(
    ['toys', ...others].flatMap((plural) => [`${plural}:read`, `${plural}:write`] as const),
  );
  expect(scopes.all.join().length).toBeGreaterThan(3_900);
  const app = await startApp({ kind, gateway: { ...GATEWAY, scopes } });
  try {
    const { token, projectId } = await app.tenant();
    expect((await rest(app.url, '/v1/toys', { token })).status).toBe(200);
    const [key] = await app.db.repository(ApiKey).findBy({ projectId });
    expect(key?.scopes).toBe(scopes.all.join());
  } finally {
    await app.stop();
  }
});

test('Gateway-3: every type, root field, table and command of the platform is a reserved name', async () => {
  const schema = await createSchema(
    [{ description: NOTE, resolvers: await resolversOf(notes) }],
    [],
    limits(),
  );
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const fields = roots.flatMap((type) => Object.keys(type?.getFields() ?? {}));
  const types = Object.keys(schema.getTypeMap()).filter((name) => !name.startsWith('__'));
  const tables = getMetadataArgsStorage().tables.map(({ name }) => String(name));
  const { stdout } = await help(NOTES_GATEWAY);
  const commands = [...stdout.matchAll(/^ {2}(\w+)(?: \[| <| {2,})/gm)].map(([, name = '']) => name);
  expect(commands).toEqual(expect.arrayContaining(['projects', 'types', 'notes']));
  const names = [...types, ...fields, ...tables, ...commands].filter(
    (name) => !/^(notes?|toys)$/i.test(name),
  );
  expect(names.filter((name) => !isReserved(name))).toEqual([]);
});

test('Gateway-4: a description with a word that no gateway has fails at the start', async () => {
  const { resolver } = await import('../support/gateway/misspelt.js');
  await expect(createSchema([{ description: NOTE, resolvers: [resolver] }], [], limits())).rejects.toThrow(
    'The description of Query.misspelt has the unknown word {{itmes}}.',
  );
});

const resolversOf = async (noun: Noun) =>
  (await noun.open({} as never).openDoors()).resolvers.map((each) => each.constructor as new () => object);
const limits = () => new FieldLimits(new MemoryLimiter(Date.now));

async function help(gateway: Parameters<typeof runProgram>[0], ...args: string[]) {
  let stdout = '';
  const write = (text: string) => (stdout += text);
  const output = new Output(false, { stdout: { write }, stderr: { write } });
  const code = await runProgram(gateway, [...args, '--help'], output);
  return { code, stdout };
}

let loaded: LoadedGateway;
let first: TestApp;
let second: TestApp;
beforeAll(async () => {
  loaded = await loadGateway(NOTES_GATEWAY);
  [first, second] = await Promise.all([startApp(), startApp({ gateway: loaded })]);
});
afterAll(() => Promise.all([first.stop(), second.stop()]));

test('Gateway-5: two gateways of one process each have their own nouns, scopes and words in GraphQL', async () => {
  const schemaOf = async (app: TestApp) => {
    const { token } = await app.tenant();
    const { body } = await graphql(app.url, getIntrospectionQuery(), { token });
    const types: { name: string; description: string | null; enumValues: { name: string }[] | null }[] =
      body.data.__schema.types;
    return {
      text: JSON.stringify(body.data),
      names: types.map(({ name }) => name),
      scopes: types.find(({ name }) => name === 'ApiKeyScope')?.enumValues?.map(({ name }) => name),
      project: types.find(({ name }) => name === 'Project')?.description,
    };
  };
  const [ofToys, ofNotes] = [await schemaOf(first), await schemaOf(second)];
  expect(ofToys.scopes).toEqual(['DOMAINS', 'KEYS', 'TOYS_READ', 'TOYS_WRITE']);
  expect(ofNotes.scopes).toEqual(['DOMAINS', 'KEYS', 'NOTES_READ', 'NOTES_WRITE']);
  expect(ofToys.project).toBe('The tenant that owns toys, API keys and domains.');
  expect(ofNotes.project).toBe('The tenant that owns notes, API keys and domains.');
  expect([ofToys.names.includes('Note'), ofNotes.names.includes('Toy')]).toEqual([false, false]);
  expect(ofNotes.text).toContain('All notes of the project. Needs `notes:read`.');
  expect(ofNotes.text.replaceAll(/petstore/gi, '')).not.toMatch(/\bpets?\b|\{\{/i);
});

test('Gateway-6: each serves its own noun in both APIs, and its messages name it', async () => {
  const [ofToys, ofNotes] = [await first.tenant(), await second.tenant()];
  const query = '{ notes { id name } apiKey { scopes } }';
  expect((await graphql(second.url, query, { token: ofNotes.token })).body.data).toEqual({
    notes: [{ id: '1', name: 'First' }],
    apiKey: { scopes: ['NOTES_READ', 'NOTES_WRITE', 'DOMAINS', 'KEYS'] },
  });
  expect((await graphql(first.url, query, { token: ofToys.token })).status).toBe(400);
  const paths = ['/v1/notes', '/v1/toys'];
  const statuses = async ({ url }: TestApp, { token }: typeof ofToys) =>
    Promise.all(paths.map(async (path) => (await rest(url, path, { token })).status));
  expect(await statuses(first, ofToys)).toEqual([404, 200]);
  expect(await statuses(second, ofNotes)).toEqual([200, 404]);

  const stated =
    'mutation($of: String!) { recordImport(resource: $of, file: "a.csv", imported: 1, refused: 0) { slug } }';
  const recorded = (app: TestApp, { token }: typeof ofToys, of: string) =>
    graphql(app.url, stated, { token, variables: { of } });
  expect((await recorded(second, ofNotes, 'notes')).body.errors).toBeUndefined();
  expect((await recorded(second, ofNotes, 'toys')).text).toContain('must be notes');
  const spent = async (app: TestApp, { token }: typeof ofToys) => {
    const operations = `{ ${Array.from({ length: 20 }, (_, at) => `a${at}: project { slug }`).join(' ')} }`;
    for (let at = 0; at < 7; at += 1) {
      const { status, text } = await graphql(app.url, operations, { token });
      if (status === 429) return text;
    }
    return '';
  };
  expect(await spent(first, ofToys)).toContain('on everything except toys.');
  expect(await spent(second, ofNotes)).toContain('on everything except notes.');
});

test('Gateway-7: a scope of a noun that is no longer served is forgotten, and the key keeps its others', async () => {
  const { token, keyId } = await second.tenant({ scopes: ['notes:read', 'keys'] });
  await second.db.repository(ApiKey).update({ id: keyId }, { scopes: 'toys:read,notes:read,keys' });
  second.app.services.apiKeys.callers.clear();
  const { body } = await graphql(second.url, '{ notes { id } apiKey { scopes } apiKeys { id } }', { token });
  expect(body.errors).toBeUndefined();
  expect(body.data.apiKey).toEqual({ scopes: ['NOTES_READ', 'KEYS'] });
  const rolled = await graphql(second.url, `mutation { rollApiKey(id: ${keyId}) { key { scopes } } }`, {
    token,
  });
  expect(rolled.body.data.rollApiKey.key.scopes).toEqual(['NOTES_READ', 'KEYS']);
});

test('Gateway-8: the command line has the name and the nouns of its gateway', async () => {
  const [ofToys, ofNotes, keys] = [
    await help(createGateway({ name: 'Petstore Gateway', nouns: [sourceOf(toys)] })),
    await help(NOTES_GATEWAY),
    await help(NOTES_GATEWAY, 'keys', 'create'),
  ];
  expect(ofToys.stdout).toContain('Manage Petstore Gateway:');
  expect(ofNotes.stdout).toContain('Manage Acme Notes:');
  expect(ofNotes.stdout).toContain('$ petstore notes import shop notes.csv');
  expect(keys.stdout.replaceAll(/\s+/g, ' ')).toContain('notes:read, notes:write, domains, keys');
  for (const { stdout } of [ofNotes, keys])
    expect(stdout.replaceAll(/petstore/gi, '')).not.toMatch(/\bpets?\b/i);
});
