import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { execute, type OperationDefinitionNode, parse, validate } from 'graphql';
import { FieldLimits } from '../../src/doors/graphql/execution/field-limits.js';
import { KnownOperation } from '../../src/doors/graphql/known-operation.js';
import type { OperationCharges } from '../../src/doors/graphql/operation-charges.js';
import { isCompilable } from '../../src/doors/graphql/operations/compilable.js';
import { createSchema } from '../../src/doors/graphql/schema/schema.js';
import { MemoryLimiter } from '../../src/request/rate-limit/memory/memory-limiter.js';
import { servedToys } from '../support/gateway/tested-gateway.js';
import { EVERYTHING } from '../support/graphql/everything.js';
import { randomOperation } from '../support/graphql/random-operations.js';
import { isLongRun } from '../support/long-run.js';

const OPERATIONS = isLongRun ? 2_000 : 200;

function knownOperation(source: string) {
  const document = parse(source);
  const operation = document.definitions[0] as OperationDefinitionNode;
  const named = {
    document,
    operation,
    source,
    name: null,
    selections: 10,
    dataOf: 'things',
    nestedSources: [],
  };
  return new KnownOperation(named, {} as OperationCharges);
}

test('Compiled-1: a known operation answers as graphql does, whatever its arguments, variables and types are', async () => {
  const seen = { compiled: 0, faultless: 0 };
  await fc.assert(
    fc.asyncProperty(fc.gen(), async (pick) => {
      const { source, variables } = randomOperation(pick);
      const document = parse(source);
      if (validate(EVERYTHING, document).length > 0) return;
      const known = knownOperation(source);
      if (isCompilable(EVERYTHING, known.named)) seen.compiled += 1;
      const run = await known.compile(EVERYTHING);
      const answer = await run(undefined, {}, structuredClone(variables));
      // Apollo answers instead.
      if (answer.errors) return;
      seen.faultless += 1;
      const expected = await execute({ schema: EVERYTHING, document, variableValues: variables });
      expect([source, variables, JSON.stringify(answer)]).toEqual([
        source,
        variables,
        JSON.stringify(expected),
      ]);
    }),
    { numRuns: OPERATIONS },
  );
  // Otherwise it would compare graphql with itself.
  expect(Math.min(seen.compiled, seen.faultless)).toBeGreaterThan(OPERATIONS / 20);
}, 60_000);

test.each([
  ['a left-out variable in an object', 'query ($v: Int) { filter(filter: { first: $v }) }', 'first: 7'],
  ['a left-out variable in a list', 'query ($v: Int = 4) { ints(ints: [$v]) }', 'ints: [ 4 ]'],
  ['a default that JSON does not keep', 'query ($v: Shape = FLAT) { shape(shape: $v) }', 'Symbol(flat)'],
  [
    'a time by default',
    'query ($v: Moment = "2026-01-01T00:00:00Z") { moment(moment: $v) }',
    'moment: 2026-',
  ],
  ['a literal that JSON does not keep', '{ big(big: "4") }', 'big: 4n'],
  ['a default of the schema', '{ dated }', 'since: 1970-'],
])('Compiled-2: %s reaches the resolver as graphql gives it', async (_, source, argument) => {
  const run = await knownOperation(source).compile(EVERYTHING);
  const { data, errors } = await run(undefined, {}, {});
  expect([errors, Object.values(data ?? {})]).toEqual([undefined, [expect.stringContaining(argument)]]);
});

test('Compiled-3: a variable of a oneOf object is checked', async () => {
  const run = await knownOperation('query ($v: Choice) { choice(choice: $v) }').compile(EVERYTHING);
  const { errors } = await run(undefined, {}, { v: { int: 1, text: 'a' } });
  expect(errors?.[0]?.message).toMatch(/Exactly one key must be specified/);
});

test('Compiled-4: lists of toys are compiled, with literals and with variables', async () => {
  const limits = new FieldLimits(new MemoryLimiter(Date.now));
  const schema = await createSchema([await servedToys()], [], limits);
  const page = '{ nodes { id name status createdAt } edges { cursor } pageInfo { endCursor hasNextPage } }';
  const list =
    'query Toys($first: Int, $after: String, $status: ToyStatus, $start: String, $ids: [ID!], $order: ToyOrder = NEWEST)' +
    ` { toys(first: $first, after: $after, status: $status, nameStartsWith: $start, ids: $ids, orderBy: $order) ${page} }`;
  const sources = [
    list,
    `{ toys(first: 20, status: available, ids: ["1", "2"], orderBy: OLDEST) ${page} }`,
    'query ($id: ID!) { toy(id: $id) { id name } toyCount }',
  ];
  for (const source of sources) {
    expect(validate(schema, parse(source))).toEqual([]);
    expect([source, isCompilable(schema, knownOperation(source).named)]).toEqual([source, true]);
  }
});
