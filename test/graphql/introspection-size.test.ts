import { beforeAll, expect, test } from '@jest/globals';
import {
  execute,
  type GraphQLSchema,
  getIntrospectionQuery,
  type OperationDefinitionNode,
  parse,
  validate,
} from 'graphql';
import { countIntrospection } from '../../src/doors/graphql/operations/introspection-size.js';
import { toysSchema } from '../support/gateway/tested-gateway.js';
import { graphql } from '../support/http/client.js';
import { startApp } from '../support/start-app.js';

const MOST = 12_000;
/** The gateway's own clients must keep half of the limit free for growth. */
const ROOM = 0.5;
const STANDARD = getIntrospectionQuery({
  specifiedByUrl: true,
  inputValueDeprecation: true,
  oneOf: true,
  schemaDescription: true,
  directiveIsRepeatable: true,
});
/** Lists inside lists, each selected under several aliases. */
const HOSTILE = `{ __schema { types { ${Array.from(
  { length: 29 },
  (_, at) => `f${at}: fields { name description type { kind name ofType { kind name } } }`,
).join(' ')} } } }`;

let schema: GraphQLSchema;
beforeAll(async () => {
  schema = await toysSchema();
});

function countOf(source: string, variables: Record<string, unknown> = {}): number {
  const document = parse(source);
  expect(validate(schema, document)).toEqual([]);
  const [operation] = document.definitions as [OperationDefinitionNode];
  return countIntrospection(schema, document, operation, { variables, most: MOST });
}

/** Returns the number of fields in an answer, without `__typename`. */
function fieldsOf(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum, item) => sum + fieldsOf(item), 0);
  if (typeof value !== 'object' || value === null) return 0;
  const entries = Object.entries(value).filter(([name]) => name !== '__typename');
  return entries.reduce((sum, [, inner]) => sum + 1 + fieldsOf(inner), 0);
}

test.each([
  [STANDARD, {}],
  [
    '{ __schema { types { ...t } } } fragment t on __Type { name a: fields(includeDeprecated: true) { name } }',
    {},
  ],
  [
    'query($n: String!) { a: __type(name: $n) { fields(includeDeprecated: true) { args { name } type { name } } } }',
    { n: 'Mutation' },
  ],
  ['query($n: String!) { __type(name: $n) { name } }', { n: 'Nothing' }],
  ['{ __typename __schema { __typename directives { locations args { type { ofType { name } } } } } }', {}],
])('Introspection-7: the count equals the fields of the answer: %#', (source, variableValues) => {
  const { data } = execute({ schema, document: parse(source), variableValues }) as { data: unknown };
  expect(countOf(source, variableValues)).toBe(fieldsOf(data));
});

test('Introspection-8: the introspection of Sandbox and GraphiQL stays well within the limit', () => {
  expect(countOf(STANDARD)).toBeLessThan(MOST * ROOM);
});

test('Introspection-9: counting ends above the limit', () => {
  expect(countOf(HOSTILE)).toBe(MOST + 1);
});

test('Introspection-10: an operation that reads more of the schema is refused, alone or with toys, also when repeated', async () => {
  const app = await startApp();
  const { token } = await app.tenant();
  for (const query of [HOSTILE, HOSTILE, HOSTILE.replace('{', '{ toys { nodes { id } }')]) {
    const { status, body } = await graphql(app.url, query, { token });
    expect([status, body.errors]).toEqual([
      400,
      [
        {
          message:
            'The operation has 12001 or more fields of the schema to read, aliases counted; at most 12000 are allowed. Split it.',
          extensions: { code: 'INVALID_REQUEST', status: 400 },
        },
      ],
    ]);
  }
  expect((await graphql(app.url, STANDARD, { token })).status).toBe(200);
  await app.stop();
});
