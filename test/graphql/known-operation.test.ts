import { beforeAll, beforeEach, expect, jest, test } from '@jest/globals';
import { type GraphQLSchema, Kind, type OperationDefinitionNode, parse } from 'graphql';
import { KnownOperation } from '../../src/doors/graphql/known-operation.js';
import { OperationCharges } from '../../src/doors/graphql/operation-charges.js';
import type { Meter } from '../../src/request/admission/meter.js';
import { toysSchema } from '../support/gateway/tested-gateway.js';

const SOURCE =
  'query ($first: Int, $both: Boolean!) { toys(first: $first) { nodes { id } } project @include(if: $both) { slug } }';

let schema: GraphQLSchema;
let charges: OperationCharges;
let operation: KnownOperation;
/** Sizes measured since the last call. */
let measuredNow: () => number;

beforeAll(async () => {
  schema = await toysSchema();
});
beforeEach(() => {
  charges = new OperationCharges(schema, {} as Meter);
  const document = parse(SOURCE);
  const [definition] = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  const named = {
    document,
    operation: definition as OperationDefinitionNode,
    source: SOURCE,
    name: null,
    selections: 5,
    dataOf: 'toys',
    nestedSources: [],
  };
  operation = new KnownOperation(named, charges);
  const measure = jest.spyOn(charges, 'measure');
  measuredNow = () => {
    const count = measure.mock.calls.length;
    measure.mockClear();
    return count;
  };
});

const sizeWith = (variables: Record<string, unknown>) => operation.measureWith(variables).size;
const costWith = (first: number) => sizeWith({ first, both: false }).cost;

test('FastPath-3: a known operation is measured once for a page size, and again for another one', () => {
  const costs = [10, 20].map((first) => [costWith(first), costWith(first)]);
  expect(measuredNow()).toBe(2);
  for (const [once, again] of costs) expect(once).toBe(again);
  expect(costs[0]).not.toEqual(costs[1]);
  expect([10, 20].map(costWith)).toEqual(costs.map(([once]) => once));
  expect(measuredNow()).toBe(2);
  expect(sizeWith({ first: 20, both: false, unused: 1 }).cost).toBe(costWith(20));
  expect(measuredNow()).toBe(0);
});

test('FastPath-4: a variable of a wrong type is measured each time, and never takes the size of other values', () => {
  const one = sizeWith({ first: 1, both: false });
  const both = sizeWith({ first: 1, both: true });
  const most = sizeWith({ first: 100, both: false });
  expect([one.rootFields, both.rootFields]).toEqual([1, 2]);
  measuredNow();
  // They count as the largest page; the service refuses them later.
  for (const first of ['1', [1], { first: 1 }, 'x'.repeat(50_000)]) {
    expect([1, 2].map(() => sizeWith({ first, both: false }))).toEqual([most, most]);
    expect(measuredNow()).toBe(2);
  }
  expect([sizeWith({ first: 1, both: false }), sizeWith({ first: 1, both: true })]).toEqual([one, both]);
});
