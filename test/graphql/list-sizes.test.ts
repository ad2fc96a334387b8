import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getIntrospectionQuery,
  getNamedType,
  getNullableType,
  isEnumType,
  isIntrospectionType,
  isListType,
  isObjectType,
  Kind,
  parse,
} from 'graphql';
import { documentsOf } from '../../browser/dashboard/src/items/item-documents.js';
import { exampleQueries } from '../../browser/pages/graphiql/example-queries.js';
import {
  type ListSizes,
  listSizesOf,
  measureOperation,
} from '../../src/doors/graphql/operations/operation-size.js';
import { entriesOf } from '../../src/doors/graphql/operations/type-options.js';
import { toysSchema } from '../support/gateway/tested-gateway.js';
import { toys } from '../support/nouns/toys.js';

const MAX_COST = 5_000;
const MAX_FULL_COST = 80_000;
/** The gateway's own clients must keep a quarter of the limit free for growth. */
const ROOM = 0.75;
const DASHBOARD = 'browser/dashboard/src';

let schema: GraphQLSchema;
let sizes: ListSizes;
beforeAll(async () => {
  schema = await toysSchema();
  sizes = listSizesOf(schema);
});

/** Returns the cost of each operation of a document. */
function costsOf(document: DocumentNode, size: 'cost' | 'full' = 'cost'): number[] {
  return document.definitions.flatMap((definition) =>
    definition.kind === Kind.OPERATION_DEFINITION
      ? [measureOperation(document, definition, () => undefined, sizes)[size]]
      : [],
  );
}

test('Lists-1: every list of the schema declares its maximum number of entries', () => {
  const fields = Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) && !isIntrospectionType(type))
    .flatMap((type) => (isObjectType(type) ? Object.values(type.getFields()) : []));
  const lists = fields.filter(({ type }) => isListType(getNullableType(type)));
  expect(lists.length).toBeGreaterThan(10);
  for (const list of lists) expect(entriesOf(list)?.usual).toBeGreaterThan(0);
  const [bare] = lists.filter(({ args, type }) => args.length === 0 && !isEnumType(getNamedType(type)));
  const undeclared = Object.assign(Object.create(bare ?? null), { extensions: {} });
  expect(() => entriesOf(undeclared)).toThrow('needs @Entries');
});

test('Lists-2: the list of field limits declares enough entries for all fields with limits', () => {
  const fields = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
    Object.values(type?.getFields() ?? {}),
  );
  const limited = fields.filter(({ description }) =>
    /At most \d+ a (minute|day) for each/.test(description ?? ''),
  );
  expect(limited.length).toBeGreaterThan(5);
  expect(limited.length).toBeLessThanOrEqual(sizes.get('fields')?.usual ?? 0);
});

test('Lists-3: fields inside a list count once for each entry', () => {
  const points = 'points { at graphql { admitted refused } }';
  const usage = Array.from({ length: 30 }, (_, at) => `u${at}: usage(window: HOUR) { ${points} }`).join(' ');
  expect(costsOf(parse(`{ project { ${usage} } }`))).toEqual([1 + 30 * (2 + 60 * 4)]);
  expect(costsOf(parse('{ apiKeys { id name } }'))).toEqual([401]);
  const evidence = '{ domains { diagnoses { code evidence { answer } } } }';
  expect(costsOf(parse(evidence))).toEqual([1 + 100 * (1 + 3 * (2 + 1))]);
});

test('Lists-4: one operation may read all domains with their findings, evidence and records', () => {
  const finding = 'code actor cause remedy retryAt evidence { server question answer ttl at }';
  const query = `{ domains { id hostname status diagnoses { ${finding} } instructions { type name value ttl } } }`;
  expect(Math.max(...costsOf(parse(query)))).toBeLessThan(MAX_COST);
  expect(Math.max(...costsOf(parse(query), 'full'))).toBeLessThan(MAX_FULL_COST);
});

test('Lists-6: findings and evidence count with their maximum number in the full size', () => {
  const evidence = '{ domains { diagnoses { code evidence { answer } } } }';
  expect(costsOf(parse(evidence), 'full')).toEqual([1 + 100 * (1 + 10 * (2 + 12))]);
});

test('Lists-5: the operations of dashboard, examples, README, guide and Sandbox stay well within the limit', () => {
  const files = readdirSync(DASHBOARD, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.graphql'),
  );
  const dashboard = parse(files.map((name) => readFileSync(join(DASHBOARD, name), 'utf8')).join('\n'));
  const fragments = dashboard.definitions.filter(
    (definition): definition is FragmentDefinitionNode => definition.kind === Kind.FRAGMENT_DEFINITION,
  );
  expect(fragments.length).toBeGreaterThan(3);
  const texts = ['README.md', 'docs/guide.md'].map((name) => readFileSync(name, 'utf8')).join('\n');
  const written = [...texts.matchAll(/^```graphql\n(.*?)^```$/gms)];
  const documents = [
    dashboard,
    ...Object.values(documentsOf(toys.description)).filter((document) => document !== null),
    ...exampleQueries([toys.description]).map(({ query }) => parse(query)),
    ...written.map(([, source = '']) => parse(source)),
    // The introspection query as Sandbox sends it, with all options.
    parse(getIntrospectionQuery({ specifiedByUrl: true, inputValueDeprecation: true, oneOf: true })),
  ];
  const costs = documents.flatMap((document) => costsOf(document));
  expect(costs.length).toBeGreaterThan(25);
  expect(Math.max(...costs)).toBeLessThan(MAX_COST * ROOM);
  const fullCosts = documents.flatMap((document) => costsOf(document, 'full'));
  expect(Math.max(...fullCosts)).toBeLessThan(MAX_FULL_COST * ROOM);
});
