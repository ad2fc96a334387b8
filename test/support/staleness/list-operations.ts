import { asked, type Request } from './operations.js';

/** Cursors of toys in the middle of lists, and identifiers of toys. */
export interface ListPlaces {
  /** Of `orderBy: NEWEST`. */
  newest: string;
  /** Of `nameStartsWith: "toy"`. */
  named: string;
  ids: readonly [string, string, ...string[]];
}

const LIST =
  'query List($first: Int, $after: String, $status: ToyStatus, $name: String, $ids: [ID!], $order: ToyOrder) { toys(first: $first, after: $after, status: $status, nameStartsWith: $name, ids: $ids, orderBy: $order) { edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }';
const ONE = 'query ($id: ID!) { toys(ids: [$id]) { nodes { id name } } }';
const TWO = 'query ($a: ID!, $b: ID!, $n: Int) { toys(ids: [$a, "1", $b], first: $n) { nodes { id } } }';
const DEFAULTS =
  'query ($order: ToyOrder = NEWEST, $ids: [ID!] = ["1"], $name: String = "toy") { toys(orderBy: $order, nameStartsWith: $name) { nodes { id } } of: toys(ids: $ids) { nodes { id } } }';
const REQUIRED =
  'query ($ids: [ID!]!, $order: ToyOrder!) { toys(ids: $ids, orderBy: $order) { nodes { id } } }';

/** Requests for lists by name, by identifier and in another order. */
export function listOperations({ newest, named, ids }: ListPlaces): Request[] {
  const [a, b] = ids;
  return [
    asked('the newest toys', LIST, { order: 'NEWEST', first: 3 }),
    asked('the newest toys, continued', LIST, { order: 'NEWEST', first: 3, after: newest }),
    asked('the newest toys with a status', LIST, { order: 'NEWEST', status: 'sold' }),
    asked('the oldest toys', LIST, { order: 'OLDEST' }),
    asked('the default order', LIST, {}),
    asked('an order that is null', LIST, { order: null, name: null, ids: null }),
    asked('an unknown order', LIST, { order: 'newest' }),
    asked('toys by name', LIST, { name: 'toy "' }),
    asked('toys by name, continued', LIST, { name: 'toy', after: named }),
    asked('toys by name, newest first, with a status', LIST, {
      name: 'toy',
      order: 'NEWEST',
      status: 'sold',
    }),
    asked('no toy by name', LIST, { name: 'Toy' }),
    asked('a pattern', LIST, { name: '%' }),
    asked('an empty name', LIST, { name: '' }),
    asked('a name of 256 characters', LIST, { name: 'x'.repeat(256) }),
    asked('half a character', LIST, { name: '\ud83d' }),
    asked('a name that is a number', LIST, { name: 1 }),
    asked('a cursor of another name', LIST, { name: 'p', after: named }),
    asked('a cursor of another order', LIST, { after: newest }),
    asked('toys by identifier', LIST, { ids }),
    asked('toys by identifier, newest first', LIST, { ids, order: 'NEWEST', first: 1 }),
    asked('an identifier in place of a list', LIST, { ids: a }),
    asked('a number in place of a list', LIST, { ids: 1 }),
    asked('numbers among the identifiers', LIST, { ids: [1, a] }),
    {
      what: 'long numbers',
      body: JSON.stringify({ query: LIST, variables: { ids: ['@'] } }).replace('"@"', b),
    },
    asked('no identifiers', LIST, { ids: [] }),
    asked('an identifier that is null', LIST, { ids: [a, null] }),
    asked('an identifier that is a list', LIST, { ids: [[a]] }),
    asked('an identifier that is a fraction', LIST, { ids: [1.5] }),
    asked('101 identifiers', LIST, { ids: Array.from({ length: 101 }, (_, at) => String(at)) }),
    asked('a variable inside a list', ONE, { id: b }),
    asked('a variable inside a list, as a number', ONE, { id: 1 }),
    asked('a variable inside a list, missing', ONE, {}),
    asked('variables inside a list', TWO, { a, b }),
    asked('variables inside a list, on a small page', TWO, { a, b, n: 1 }),
    asked('literals', `{ toys(ids: ["${a}", ${b}], orderBy: NEWEST, first: 5) { nodes { id } } }`),
    asked('a literal in place of a list', `{ toys(ids: ${a}) { nodes { id } } }`),
    asked(
      'literals that are null',
      '{ toys(ids: null, orderBy: null, nameStartsWith: null) { nodes { id } } }',
    ),
    asked('a name in several lines', '{ toys(nameStartsWith: """toy""", orderBy: NEWEST) { nodes { id } } }'),
    asked('defaults of the operation', DEFAULTS, {}),
    asked('defaults of the operation, replaced', DEFAULTS, { order: 'OLDEST', ids: [a], name: 'p' }),
    asked('defaults of the operation, and null', DEFAULTS, { order: null, ids: null, name: null }),
    asked('required lists', REQUIRED, { ids, order: 'NEWEST' }),
    asked('a required list that is missing', REQUIRED, { order: 'NEWEST' }),
    asked(
      'several lists',
      `{ a: toys(orderBy: NEWEST, first: 1) { nodes { id } } b: toys(ids: ["${a}"]) { nodes { id } } c: toys(nameStartsWith: "p", first: 1) { nodes { id } } toys(first: 1) { nodes { id } } }`,
    ),
  ];
}
