import { beforeAll, expect, test } from '@jest/globals';
import { breakingChanges, type Contract, readContract } from '../../schema/compatibility.js';
import { openApiBreaks } from '../../schema/openapi-breaks.js';

let released: Contract;
beforeAll(async () => {
  released = (await readContract('schema')) as Contract;
});

const SHOP = `
  type Query { pets(first: Int = 20, status: Status): [Pet!]! }
  type Mutation { add(pet: NewPet!): Pet! remove(id: ID!): ID! }
  type Pet { "As in REST." id: ID! name: String! status: Status }
  input NewPet { name: String! status: Status }
  enum Status { available sold }`;

/** The breaks after a change of the text of a GraphQL schema. */
function graphqlBreaks(find: string, replacement: string): string[] {
  expect(SHOP).toContain(find);
  const changed = SHOP.replace(find, replacement);
  return breakingChanges({ ...released, 'schema.graphql': SHOP }, { ...released, 'schema.graphql': changed });
}

// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document has many shapes.
type Document = any;

/** The breaks after a change of the OpenAPI document; `from` changes the document of the release too. */
function breaksAfter(change: (document: Document) => void, from: (document: Document) => void = () => {}) {
  const [older, newer] = [JSON.parse(released['openapi.json']), JSON.parse(released['openapi.json'])];
  from(older);
  change(newer);
  return openApiBreaks(older, newer);
}

test.each([
  [' name: String! status: Status }', ' status: Status }', 'Pet.name was removed.'],
  ['available sold', 'available', 'sold was removed from enum type Status.'],
  ['(id: ID!)', '(id: ID!, why: String!)', 'A required arg why on Mutation.remove was added.'],
  [', status: Status)', ')', 'Query.pets arg status was removed.'],
  [': [Pet!]!', ': [Pet!]', 'Query.pets changed type from [Pet!]! to [Pet!].'],
  ['{ name: String! status', '{ name: String! age: Int! status', 'A required field age on input type NewPet'],
  ['first: Int = 20', 'first: Int = 10', 'Query.pets arg first has changed defaultValue from 20 to 10.'],
])('Compatible-1: a GraphQL schema with %j changed to %j breaks clients', (find, replacement, told) => {
  expect(graphqlBreaks(find, replacement)).toEqual([expect.stringContaining(told)]);
});

test.each([
  ['status: Status }\n  input', 'status: Status age: Int }\n  input'],
  ['available sold', 'available sold lost'],
  ['(id: ID!)', '(id: ID!, why: String)'],
  ['"As in REST."', '"A number."'],
  ['name: String! status: Status }\n  enum', 'name: String status: Status }\n  enum'],
])('Compatible-2: a GraphQL schema with %j changed to %j breaks nobody', (find, replacement) => {
  expect(graphqlBreaks(find, replacement)).toEqual([]);
});

test.each<[told: string, change: (document: Document) => void]>([
  ['GET /rate_limit was removed', ({ paths }) => delete paths['/rate_limit']],
  ['POST /pets was removed', ({ paths }) => delete paths['/pets'].post],
  ['GET /pets 200 was removed', ({ paths }) => delete paths['/pets'].get.responses[200]],
  ['the header Link was removed', ({ paths }) => delete paths['/pets'].get.responses[200].headers.Link],
  ['query status was removed', ({ paths }) => paths['/pets'].get.parameters.splice(1, 1)],
  [
    'query q is now required',
    ({ paths }) => paths['/pets'].get.parameters.push({ in: 'query', name: 'q', required: true, schema: {} }),
  ],
  ['maximum was 100', ({ paths }) => Object.assign(paths['/pets'].get.parameters[0].schema, { maximum: 50 })],
  ['default was 20', ({ paths }) => Object.assign(paths['/pets'].get.parameters[0].schema, { default: 5 })],
  ['type integer', ({ paths }) => Object.assign(paths['/pets'].get.parameters[0].schema, { type: 'string' })],
  ['security was', ({ paths }) => paths['/pets'].get.security[0].apiKey.push('domains')],
  ['operationId was', ({ paths }) => Object.assign(paths['/pets'].get, { operationId: 'pets' })],
  ['GET /pets 200: name was removed', ({ components: { schemas } }) => delete schemas.Pet.properties.name],
  ['categoryId may now be missing', ({ components: { schemas } }) => schemas.Pet.required.pop()],
  ['status is now required', ({ components: { schemas } }) => schemas.NewPet.required.push('status')],
  ['the value sold was removed', ({ components: { schemas } }) => schemas.Pet.properties.status.enum.pop()],
  [
    'POST /pets: name: maxLength was 255, and is 100',
    ({ components: { schemas } }) => Object.assign(schemas.NewPet.properties.name, { maxLength: 100 }),
  ],
  [
    'POST /pets: categoryId: minimum was absent, and is 1',
    ({ components: { schemas } }) => Object.assign(schemas.NewPet.properties.categoryId, { minimum: 1 }),
  ],
  [
    'GET /pets 200: id: the type integer is now string',
    ({ components: { schemas } }) => Object.assign(schemas.Pet.properties.id, { type: 'string' }),
  ],
  [
    'the type string is now string,null',
    ({ components: { schemas } }) => Object.assign(schemas.Pet.properties.name, { type: ['string', 'null'] }),
  ],
])('Compatible-3: a change of the OpenAPI document breaks clients: %s', (told, change) => {
  expect(breaksAfter(change)).toContainEqual(expect.stringContaining(told));
});

test('Compatible-4: what gives clients more breaks nobody', () => {
  const wider = (document: Document) => {
    const { paths, components } = document;
    paths['/toys'] = paths['/pets'];
    paths['/pets'].get.parameters.push({ in: 'query', name: 'q', required: false, schema: {} });
    paths['/pets'].get.parameters[0].schema.maximum = 200;
    paths['/pets'].get.responses[418] = paths['/pets'].get.responses[401];
    components.schemas.Pet.properties.weight = { type: 'integer' };
    components.schemas.Pet.properties.status.enum.push('lost');
    components.schemas.NewPet.properties.status.enum.push('lost');
    components.schemas.NewPet.properties.name.maxLength = 500;
    components.schemas.NewPet.required = ['name'];
    components.schemas.Pet.description = 'An animal.';
  };
  expect(breaksAfter(wider)).toEqual([]);
  expect(breaksAfter(() => {}, wider).length).toBeGreaterThan(7);
});

test('Compatible-5: a schema that contains itself is compared once', () => {
  const tree = ({ components: { schemas } }: Document) => {
    schemas.Pet.properties.parent = { $ref: '#/components/schemas/Pet' };
  };
  expect(breaksAfter(tree, tree)).toEqual([]);
});

test('Compatible-6: without a release there is nothing to compare with', async () => {
  expect(await readContract('schema/nowhere')).toBeNull();
});

test('Compatible-7: a pattern may become the reviewed portable one, which allows the same storable texts, and no other', () => {
  const [old, portable] = ['^(?=[\\s\\S]*\\S)[^\\u0000\\uD800-\\uDFFF]*$', '\\S'];
  const named =
    (pattern: string) =>
    ({ components: { schemas } }: Document) => {
      for (const { properties } of [schemas.NewPet, schemas.Pet]) Object.assign(properties.name, { pattern });
    };
  expect(breaksAfter(named(portable), named(old))).toEqual([]);
  expect(breaksAfter(named(old), named(portable))).toContainEqual(
    expect.stringContaining('name: pattern was'),
  );
  expect(breaksAfter(named('\\w'), named(old))).toContainEqual(expect.stringContaining('name: pattern was'));
  for (const text of ['', ' ', '\t\n', '\u3000', ' x ', 'Rex\n', '😀', '\u00a0é']) {
    expect([text, new RegExp(portable, 'u').test(text)]).toEqual([text, new RegExp(old, 'u').test(text)]);
  }
});
