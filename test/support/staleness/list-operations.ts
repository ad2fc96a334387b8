import { asked, type Request } from './operations.js';

/** Cursors of pets in the middle of lists, and identifiers of pets. */
export interface ListPlaces {
  /** Of `orderBy: NEWEST`. */
  newest: string;
  /** Of `nameStartsWith: "pet"`. */
  named: string;
  ids: readonly [string, string, ...string[]];
}

const LIST =
  'query List($first: Int, $after: String, $status: PetStatus, $name: String, $ids: [ID!], $order: PetOrder) { pets(first: $first, after: $after, status: $status, nameStartsWith: $name, ids: $ids, orderBy: $order) { edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }';
const ONE = 'query ($id: ID!) { pets(ids: [$id]) { nodes { id name } } }';
const TWO = 'query ($a: ID!, $b: ID!, $n: Int) { pets(ids: [$a, "1", $b], first: $n) { nodes { id } } }';
const DEFAULTS =
  'query ($order: PetOrder = NEWEST, $ids: [ID!] = ["1"], $name: String = "pet") { pets(orderBy: $order, nameStartsWith: $name) { nodes { id } } of: pets(ids: $ids) { nodes { id } } }';
const REQUIRED =
  'query ($ids: [ID!]!, $order: PetOrder!) { pets(ids: $ids, orderBy: $order) { nodes { id } } }';

/** Requests for lists by name, by identifier and in another order. */
export function listOperations({ newest, named, ids }: ListPlaces): Request[] {
  const [a, b] = ids;
  return [
    asked('the newest pets', LIST, { order: 'NEWEST', first: 3 }),
    asked('the newest pets, continued', LIST, { order: 'NEWEST', first: 3, after: newest }),
    asked('the newest pets with a status', LIST, { order: 'NEWEST', status: 'sold' }),
    asked('the oldest pets', LIST, { order: 'OLDEST' }),
    asked('the default order', LIST, {}),
    asked('an order that is null', LIST, { order: null, name: null, ids: null }),
    asked('an unknown order', LIST, { order: 'newest' }),
    asked('pets by name', LIST, { name: 'pet "' }),
    asked('pets by name, continued', LIST, { name: 'pet', after: named }),
    asked('pets by name, newest first, with a status', LIST, {
      name: 'pet',
      order: 'NEWEST',
      status: 'sold',
    }),
    asked('no pet by name', LIST, { name: 'Pet' }),
    asked('a pattern', LIST, { name: '%' }),
    asked('an empty name', LIST, { name: '' }),
    asked('a name of 256 characters', LIST, { name: 'x'.repeat(256) }),
    asked('half a character', LIST, { name: '\ud83d' }),
    asked('a name that is a number', LIST, { name: 1 }),
    asked('a cursor of another name', LIST, { name: 'p', after: named }),
    asked('a cursor of another order', LIST, { after: newest }),
    asked('pets by identifier', LIST, { ids }),
    asked('pets by identifier, newest first', LIST, { ids, order: 'NEWEST', first: 1 }),
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
    asked('literals', `{ pets(ids: ["${a}", ${b}], orderBy: NEWEST, first: 5) { nodes { id } } }`),
    asked('a literal in place of a list', `{ pets(ids: ${a}) { nodes { id } } }`),
    asked(
      'literals that are null',
      '{ pets(ids: null, orderBy: null, nameStartsWith: null) { nodes { id } } }',
    ),
    asked('a name in several lines', '{ pets(nameStartsWith: """pet""", orderBy: NEWEST) { nodes { id } } }'),
    asked('defaults of the operation', DEFAULTS, {}),
    asked('defaults of the operation, replaced', DEFAULTS, { order: 'OLDEST', ids: [a], name: 'p' }),
    asked('defaults of the operation, and null', DEFAULTS, { order: null, ids: null, name: null }),
    asked('required lists', REQUIRED, { ids, order: 'NEWEST' }),
    asked('a required list that is missing', REQUIRED, { order: 'NEWEST' }),
    asked(
      'several lists',
      `{ a: pets(orderBy: NEWEST, first: 1) { nodes { id } } b: pets(ids: ["${a}"]) { nodes { id } } c: pets(nameStartsWith: "p", first: 1) { nodes { id } } pets(first: 1) { nodes { id } } }`,
    ),
  ];
}
