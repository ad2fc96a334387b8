import { createHash } from 'node:crypto';

/** A request to `/graphql`: the body as sent, and the accepted types. */
export interface Request {
  readonly what: string;
  readonly body: string;
  readonly accept?: string;
}

const FIELDS = 'fragment Fields on Toy { id name categoryId status createdAt }';
const PAGED =
  'query Paged($first: Int, $after: String, $status: ToyStatus) { toys(first: $first, after: $after, status: $status) { nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }';
const OPTIONAL =
  'query ($with: Boolean!, $without: Boolean! = false) { toys { nodes { name @include(if: $with) id @skip(if: $without) categoryId } pageInfo @include(if: $with) { hasNextPage } } }';
const SEVERAL = 'query A { toys { nodes { id } } } query B { toys(first: 1) { nodes { name } } }';
const SIMPLE = '{ toys { nodes { id name } } }';
const PIECES =
  'query ($x: Boolean!) { ... @include(if: $x) { toys { nodes { id } } } ... on Query @skip(if: $x) { toys { nodes { name } } } __typename }';
const BOTH =
  'query ($x: Boolean!, $y: Boolean!) { toys { nodes { id name @include(if: $x) @skip(if: $y) } } }';
const AGAIN = `query ($x: Boolean!) { toys { nodes { ...Fields @skip(if: $x) name ...Fields } } } ${FIELDS}`;
const INCLUDED = `query ($x: Boolean!) { toys { nodes { ...Fields @include(if: $x) name ...Fields } } } ${FIELDS}`;
const LAST = `query ($x: Boolean!) { toys { nodes { ...Fields name ...Fields @skip(if: $x) } } } ${FIELDS}`;
const INSIDE = `query ($x: Boolean!) { toys { nodes { ... @skip(if: $x) { ...Fields } ...Fields } } } ${FIELDS}`;
const FIELD_AGAIN =
  'query ($x: Boolean!) { toys @skip(if: $x) { nodes { id } } toys { nodes { name } pageInfo { hasNextPage } } }';
const SUBFIELDS =
  'query ($x: Boolean!) { toys { nodes @skip(if: $x) { id status } nodes { name } ... on ToyConnection @skip(if: $x) { nodes { categoryId } } } }';
const TWO = `query ($x: Boolean!, $y: Boolean!) { toys { nodes { ...Fields @skip(if: $x) ...Fields @skip(if: $y) name @skip(if: $x) name @skip(if: $y) } } } ${FIELDS}`;
const ELSEWHERE = `query ($x: Boolean!) { a: toys(first: 1) { nodes { ...Fields @skip(if: $x) } } b: toys(first: 2) { nodes { ...Fields } } } ${FIELDS}`;
const PIECE =
  'query ($x: Boolean!) { toys { nodes { name } nodes @skip(if: $x) { ... on Toy { id status } } } }';
const ORDER = 'query ($x: Boolean!) { toys { nodes { id @skip(if: $x) name id } } }';
const CONDITION = 'query ($x: Boolean = true) { toys { nodes { id @skip(if: $x) name } } }';
const REQUIRED = 'query ($n: Int! = 2) { toys(first: $n) { nodes { id } } }';
const NAMED = 'query A { toys { nodes { id } } }';
/** Names that every JavaScript object inherits. */
const INHERITED = ['__proto__', 'constructor', 'toString', 'then'];
const JSON_FIRST = 'application/json;q=0.9, application/graphql-response+json;q=0.5';

/** `cursor` is the cursor of a toy in the middle. */
export function operations(cursor: string): Request[] {
  return [
    asked('a list', SIMPLE),
    asked('all fields', `{ toys { nodes { ...Fields } } } ${FIELDS}`),
    asked('edges and cursors', '{ toys(first: 2) { edges { cursor node { id createdAt } } } }'),
    asked(
      'aliases',
      '{ a: toys(first: 1) { n: nodes { i: id } } b: toys(first: 3) { nodes { x: name y: name } } }',
    ),
    asked(
      'the same field in several places',
      `{ toys { nodes { name ...Fields ... on Toy { id categoryId } id } pageInfo { hasNextPage } nodes { createdAt } } } ${FIELDS}`,
    ),
    asked(
      'fragments in fragments',
      `{ ...Root } fragment Root on Query { toys { ...Page __typename } } fragment Page on ToyConnection { nodes { ...Fields } } ${FIELDS}`,
    ),
    asked(
      'names of types',
      '{ __typename toys { __typename nodes { __typename id } edges { __typename } } }',
    ),
    asked('with what a variable includes', OPTIONAL, { with: true }),
    asked('without what a variable includes', OPTIONAL, { with: false }),
    asked('without what a variable skips', OPTIONAL, { with: true, without: true }),
    asked('a root field that is left out', 'query ($x: Boolean!) { toys @skip(if: $x) { nodes { id } } }', {
      x: true,
    }),
    asked(
      'a field both included and not',
      'query ($x: Boolean!) { toys { nodes { id name @include(if: $x) name } nodes @skip(if: $x) { status } } }',
      { x: true },
    ),
    asked('one of several operations', SEVERAL, {}, 'A'),
    asked('the other of several operations', SEVERAL, {}, 'B'),
    asked('none of several operations', SEVERAL, {}),
    asked('an unknown operation', SEVERAL, {}, 'C'),
    asked('an operation whose name is empty', SIMPLE, {}, ''),
    asked('a page after a cursor', PAGED, { first: 2, after: cursor }),
    asked('a page with a status', PAGED, { status: 'sold' }),
    asked('an empty page', PAGED, { status: 'pending' }),
    asked('variables that are null', PAGED, { first: null, after: null, status: null }),
    asked('no variables', PAGED),
    asked('variables of unknown names', PAGED, { first: 1, other: 1 }),
    asked('a number as text', PAGED, { first: '1' }),
    asked('a fraction', PAGED, { first: 1.5 }),
    asked('a number beyond 32 bits', PAGED, { first: 4294967296 }),
    asked('an unknown status', PAGED, { status: 'lost' }),
    asked('a list for a value', PAGED, { after: [cursor] }),
    asked('an invalid cursor', PAGED, { after: 'x' }),
    asked('an empty cursor', PAGED, { after: '' }),
    asked('a page of 0', PAGED, { first: 0 }),
    asked('a page of 101', PAGED, { first: 101 }),
    asked('a required variable that is missing', OPTIONAL),
    asked('a required variable that is null', OPTIONAL, { with: null }),
    asked('a default of the operation', 'query ($n: Int = 2) { toys(first: $n) { nodes { id } } }'),
    asked(
      'a default of the operation, and null',
      'query ($n: Int = 2) { toys(first: $n) { nodes { id } } }',
      { n: null },
    ),
    asked(
      'two pages of which one is refused',
      '{ a: toys(first: 1) { nodes { id } } b: toys(first: 0) { nodes { id } } }',
    ),
    ...INHERITED.map((name) =>
      asked(`the alias ${name}`, `{ ${name}: toys { ${name}: nodes { ${name}: id name } } }`),
    ),
    ...INHERITED.map((name) => asked(`the status ${name}`, PAGED, { status: name })),
    ...INHERITED.map((name) => ({
      what: `the variable ${name}`,
      body: `{"query":"query ($${name}: Int) { toys(first: $${name}) { nodes { id } } }","variables":{"${name}":2}}`,
    })),
    ...['3.0', '1e0', '-0', 'true', '"3"', '2147483648', '12345678901234567890', '{}'].map((value) => ({
      what: `a page of ${value}`,
      body: `{"query":${JSON.stringify(PAGED)},"variables":{"first":${value}}}`,
    })),
    asked(
      'one page in two pieces',
      '{ toys { nodes { id } } toys { pageInfo { endCursor } nodes { name } } }',
    ),
    asked('pieces of the root, the one', PIECES, { x: true }),
    asked('pieces of the root, the other', PIECES, { x: false }),
    asked('both directives', BOTH, { x: true, y: true }),
    asked('both directives, neither way', BOTH, { x: false, y: false }),
    asked('both directives, included', BOTH, { x: true, y: false }),
    asked('a fragment left out and spread again', AGAIN, { x: true }),
    asked('a fragment left out for good', AGAIN.replace('name ...Fields', 'name'), { x: true }),
    asked('a fragment included, then spread', INCLUDED, { x: false }),
    asked('a fragment spread, then left out', LAST, { x: true }),
    asked('a fragment inside one that is left out, and beside it', INSIDE, { x: true }),
    asked('a page left out and asked for again', FIELD_AGAIN, { x: true }),
    asked('pieces of a page, one left out', SUBFIELDS, { x: true }),
    asked('two variables that leave out the same', TWO, { x: true, y: false }),
    asked('two variables that leave out the same, the other', TWO, { x: false, y: true }),
    asked('two variables that leave out the same, both', TWO, { x: true, y: true }),
    asked('a fragment left out in another place', ELSEWHERE, { x: true }),
    asked('a page asked for twice, a piece left out with a fragment in it', PIECE, { x: true }),
    asked('the order of a field left out and asked for again', ORDER, { x: true }),
    asked('a condition', CONDITION, { x: true }),
    asked('null for a condition', CONDITION, { x: null }),
    asked('a fragment spread twice', AGAIN, { x: false }),
    asked(
      'directives without variables',
      '{ toys { nodes { id @skip(if: true) name @include(if: true) } } }',
    ),
    asked('a default that is a status', 'query ($s: ToyStatus = sold) { toys(status: $s) { nodes { id } } }'),
    asked('null for what has a default and may not be null', REQUIRED, { n: null }),
    asked('a default of what may not be null', REQUIRED),
    asked('a text in several lines', `{ toys(after: """${cursor}""") { nodes { id } } }`),
    asked('a comment', `#x\n${NAMED}`, {}, 'A'),
    asked('a name that continues like the start of the operation', NAMED, {}, 'A\n#x'),
    asked(
      'a mutation that is not chosen',
      `${NAMED} mutation M { createToy(input: { name: "x", categoryId: 1 }) { id } }`,
      {},
      'A',
    ),
    raw('variables that are null themselves', { query: SIMPLE, variables: null }),
    raw('variables that are a list', { query: SIMPLE, variables: [] }),
    raw('variables that are text', { query: SIMPLE, variables: '{}' }),
    raw('a name that is null', { query: SIMPLE, operationName: null }),
    raw('a name that is a number', { query: SIMPLE, operationName: 1 }),
    raw('extensions that are null', { query: SIMPLE, extensions: null }),
    raw('extensions that are empty', { query: SIMPLE, extensions: {} }),
    raw('a field that the server does not know', { query: SIMPLE, id: 'x' }),
    raw('a batch', [{ query: SIMPLE }]),
    { what: 'a name twice', body: `{"query":"{ toys { pageInfo { hasNextPage } } }","query":"${SIMPLE}"}` },
    ...[
      'application/json',
      'application/graphql-response+json',
      'application/graphql-response+json, application/json',
      JSON_FIRST,
      '*/*',
      'application/*',
      'text/html',
      'text/html, */*;q=0.1',
      'multipart/mixed;deferSpec=20220824, application/json',
      'multipart/mixed',
      'application/json; charset=utf-8',
      'application/json; callbackSpec=1.0; charset=utf-8',
      'application/json;q=0',
      'image/png',
      '',
    ].map((accept) => ({ ...asked(`Accept: ${accept}`, SIMPLE), accept })),
  ];
}

/** Automatic persisted queries: the first request registers the query, the others send the hash alone. */
export function persisted(): { registration: Request; requests: Request[] } {
  const query = 'query Kept($first: Int) { toys(first: $first) { nodes { id createdAt } } }';
  const sha256Hash = createHash('sha256').update(query).digest('hex');
  const extensions = { persistedQuery: { version: 1, sha256Hash } };
  const other = { persistedQuery: { version: 1, sha256Hash: '0'.repeat(64) } };
  return {
    registration: raw('registration', { query, extensions }),
    requests: [
      raw('the hash', { extensions }),
      raw('the hash, and variables', { variables: { first: 2 }, extensions }),
      raw('the hash, and the name', { operationName: 'Kept', extensions }),
      raw('the hash, and another name', { operationName: 'Other', extensions }),
      raw('the hash, and wrong variables', { variables: { first: 'x' }, extensions }),
      raw('the hash and the query', { query, extensions }),
      raw('another hash and the query', { query, extensions: other }),
      raw('an unknown hash', { extensions: other }),
      raw('a hash in capitals', {
        extensions: { persistedQuery: { version: 1, sha256Hash: sha256Hash.toUpperCase() } },
      }),
      raw('an unknown version', { extensions: { persistedQuery: { version: 2, sha256Hash } } }),
      raw('the hash and an empty query', { query: '', extensions }),
    ],
  };
}

export function asked(what: string, query: string, variables?: object, operationName?: string): Request {
  return raw(what, { query, variables, operationName });
}

function raw(what: string, body: unknown): Request {
  return { what, body: JSON.stringify(body) };
}
