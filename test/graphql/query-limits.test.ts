import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { getIntrospectionQuery, type OperationDefinitionNode, parse } from 'graphql';
import { measureOperation, variablesIn } from '../../src/doors/graphql/operations/operation-size.js';
import { documentProblem } from '../../src/doors/graphql/operations/selections.js';
import { graphql, rest } from '../support/http/client.js';
import { atMachineSpeed } from '../support/own-time.js';
import { startApp, type Tenant, type TestApp } from '../support/start-app.js';

const fragments = (levels: number) =>
  Array.from(
    { length: levels },
    (_, at) => `fragment f${at} on ToyConnection { ...f${at + 1} ...f${at + 1} }`,
  ).join(' ');
const bomb = `{ toys { ...f0 } } ${fragments(25)} fragment f25 on ToyConnection { nodes { id } }`;
const repeat = (count: number, part: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => part(at)).join(' ');

const tree = (levels: number): string =>
  levels === 0 ? 'slug' : `a: project { ${tree(levels - 1)} } a: project { ${tree(levels - 1)} }`;

const HOSTILE: Record<string, string> = {
  'a bomb of 25 fragments': bomb,
  '21 root fields': `{ ${repeat(21, (at) => `a${at}: __typename`)} }`,
  '31 aliases': `{ toys { ${repeat(31, (at) => `a${at}: nodes { id }`)} } }`,
  '40 aliases of __typename': `{ project { ${repeat(40, (at) => `a${at}: __typename`)} } }`,
  '3,000 tokens': `{ ${repeat(1_500, () => 'project { slug }')} }`,
  '20,000 levels of depth': `${'{ a '.repeat(20_000)}${'}'.repeat(20_000)}`,
  '20 levels of lists': `{ __schema { ${'types { fields { type { '.repeat(5)} name ${'} } }'.repeat(5)} } }`,
  'an alias of 101 characters': `{ ...f } fragment f on Query { project { ${'a'.repeat(101)}: slug } }`,
  '11 directives': `{ project { slug ${repeat(11, () => '@include(if: true)')} } }`,
  '12 fields with directives': `{ project { ${repeat(12, () => 'slug @include(if: true)')} } }`,
  'ten full pages': `{ ${repeat(10, (at) => `p${at}: toys(first: 100) { nodes { id name categoryId status createdAt } }`)} }`,
  'a cyclic fragment': '{ project { ...a } } fragment a on Project { ...b } fragment b on Project { ...a }',
  '2,000 conflicting fields': `{ project { ${repeat(600, (at) => (at % 2 ? 'a: slug' : 'a: name'))} } }`,
};

describe('the GraphQL door', () => {
  let app: TestApp;
  let tenant: Tenant;
  beforeAll(async () => {
    app = await startApp();
    tenant = await app.tenant();
    await graphql(app.url, '{ project { slug } }', { token: tenant.token });
  });
  afterAll(() => app.stop());

  test.each(Object.entries(HOSTILE))(
    'Limits-GraphQL-1: refuses %s with 4xx, without data, in milliseconds',
    async (_, query) => {
      const { result, tookMs } = await atMachineSpeed(() => graphql(app.url, query, { token: tenant.token }));
      const { status, body } = result;
      expect(status).toBe(400);
      expect(body.data).toBeUndefined();
      for (const { extensions } of body.errors) expect(extensions.status).toBe(400);
      expect(tookMs).toBeLessThan(500);
    },
  );

  test('Limits-GraphQL-2: the page size counts, also when it is a variable', async () => {
    const query = `query($n: Int) { ${repeat(10, (at) => `p${at}: toys(first: $n) { nodes { id name categoryId status createdAt } }`)} }`;
    const ask = (n: number) => graphql(app.url, query, { token: tenant.token, variables: { n } });
    expect((await ask(20)).status).toBe(200);
    expect((await ask(100)).body.errors[0].extensions).toEqual({ code: 'INVALID_REQUEST', status: 400 });
  });

  test('Limits-GraphQL-6: a known and compiled operation is measured again when its variables count', async () => {
    const query = `query($n: Int = 7, $no: Boolean = false) { ${repeat(
      10,
      (at) => `p${at}: toys(first: $n) @skip(if: $no) { nodes { id name categoryId status createdAt } }`,
    )} sign: __typename }`;
    const ask = async (variables: Record<string, unknown>) => {
      const { status, headers } = await graphql(app.url, query, { token: tenant.token, variables });
      return { status, left: Number(headers.get('x-ratelimit-remaining')) };
    };
    const unitsOf = async (variables: Record<string, unknown>) => {
      const before = await ask({ no: true });
      const after = await ask(variables);
      expect(after.status).toBe(200);
      return before.left - after.left;
    };
    for (let time = 0; time < 4; time += 1) {
      expect(await unitsOf({ n: 1, no: false })).toBe(11);
      expect(await unitsOf({ n: 2, no: true })).toBe(1);
    }
    expect((await ask({ n: 100, no: false })).status).toBe(400);
    expect((await ask({ n: 3, no: false })).status).toBe(200);
  });

  test('Limits-GraphQL-7: a size is constant only where no variable counts', () => {
    const lists = new Map([['toys', { usual: 20, most: 20 }]]);
    const isConstant = (source: string) => {
      const document = parse(source);
      const [operation] = document.definitions as [OperationDefinitionNode];
      const read: string[] = [];
      measureOperation(document, operation, (name) => read.push(name), lists);
      return read.length === 0;
    };
    expect(isConstant('query($a: String) { toys(after: $a, first: 5) { nodes { id } } }')).toBe(true);
    expect(isConstant('query($a: String) { toys(after: $a) { nodes { id @include(if: true) } } }')).toBe(
      true,
    );
    expect(isConstant('query($n: Int) { toys(first: $n) { nodes { id } } }')).toBe(false);
    expect(isConstant('query($no: Boolean!) { toys @skip(if: $no) { nodes { id } } }')).toBe(false);
    expect(
      isConstant('query($n: Int) { ...f } fragment f on Query { toys(first: $n) { nodes { id } } }'),
    ).toBe(false);
  });

  test("Limits-GraphQL-9: a message repeats about 1 KB of the client's text, and ends with the problem", async () => {
    const query = 'query($status: ToyStatus) { toys(status: $status) { nodes { id } } }';
    const variables = { status: 'x'.repeat(90_000) };
    const { body } = await graphql(app.url, query, { token: tenant.token, variables });
    expect(JSON.stringify(body).length).toBeLessThan(1_500);
    expect(body.errors[0].message).toMatch(
      /^Variable "\$status" got invalid value .*does not exist in "ToyStatus" enum\.$/,
    );
  });

  test('Limits-GraphQL-13: of many invalid values in a variable three are reported, and that there are more', async () => {
    const query = 'mutation($toy: NewToy!) { createToy(input: $toy) { id } }';
    const toy = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`unknown${at}`, 1]));
    const { status, body } = await graphql(app.url, query, { token: tenant.token, variables: { toy } });
    const codes = body.errors.map((error: { extensions: object }) => error.extensions);
    expect([status, codes]).toEqual([400, Array(4).fill({ code: 'BAD_USER_INPUT', status: 400 })]);
    expect(body.errors[3].message).toContain('Too many errors');
    const valid = { toy: { name: 'Rex', categoryId: '1' } };
    expect((await graphql(app.url, query, { token: tenant.token, variables: valid })).status).toBe(200);
  });

  test('Limits-GraphQL-14: the deepest branch counts, and a first that is no number counts as the largest page', () => {
    const sizeOf = (source: string, variables = {}) => {
      const document = parse(source);
      const [operation] = document.definitions as [OperationDefinitionNode];
      return measureOperation(
        document,
        operation,
        variablesIn(variables),
        new Map([['toys', { usual: 20, most: 20 }]]),
      );
    };
    for (const source of ['{ a { b { c } } d { e } }', '{ d { e } a { b { c } } }']) {
      expect(sizeOf(source).depth).toBe(3);
    }
    expect(sizeOf('{ toys { id } }').cost).toBe(21);
    for (const first of ['null', '"x"', '0', '101', '-1', '$n', '$absent']) {
      expect(sizeOf(`{ toys(first: ${first}) { id } }`, { n: null }).cost).toBe(101);
    }
  });

  test('Limits-GraphQL-8: measuring an invalid document ends, and unknown fields count as nothing', () => {
    const sizeOf = (source: string) => {
      const document = parse(source);
      const [operation] = document.definitions as [OperationDefinitionNode];
      return measureOperation(document, operation, () => undefined, new Map());
    };
    const cyclic =
      '{ project { ...a } ...a } fragment a on Project { x { ...b } } fragment b on Project { y { ...a ...b ...a } }';
    expect(sizeOf(cyclic)).toMatchObject({ depth: 3, rootFields: 2, aliases: 0 });
    expect(sizeOf('{ ...unknown nope(first: $nope) @nope }')).toMatchObject({
      depth: 1,
      cost: 1,
      directives: 1,
    });
  });

  test.each([
    ['100 fields of one name', `{ project { ${repeat(101, () => 'slug')} } }`],
    ['100 conflicting aliases', `{ project { ${repeat(101, (at) => `a: ${at % 2 ? 'slug' : 'name'}`)} } }`],
    [
      'conflicts in an operation that is not asked for',
      `query A { project { slug } } query B { project { ${repeat(101, () => 'slug')} } }`,
    ],
    [
      'conflicts in an unused fragment',
      `{ project { slug } } fragment f on Project { ${repeat(101, () => 'slug')} }`,
    ],
    [
      '100 fragments in one place',
      `{ project { ${repeat(100, (at) => `...f${at}`)} } } ${repeat(99, (at) => `fragment f${at} on Project { slug }`)}`,
    ],
    ['a tree in which each field repeats', `{ ${tree(9)} }`],
    ['101 fragments', `{ project { slug } } ${repeat(100, (at) => `fragment f${at} on Project { slug }`)}`],
  ])('Limits-GraphQL-10: a document with %s is refused before it is validated', (_, source) => {
    expect(documentProblem(parse(source))?.code).toBe('invalid_request');
  });

  test.each([
    ['the introspection query', getIntrospectionQuery({ inputValueDeprecation: true })],
    [
      '40 components that each ask for the name of a toy',
      `{ toys { nodes { ${repeat(40, (at) => `...f${at}`)} } } } ${repeat(40, (at) => `fragment f${at} on Toy { id name }`)}`,
    ],
    [
      'a fragment within itself, which validation names',
      '{ project { ...a } } fragment a on Project { name ...b } fragment b on Project { slug ...a }',
    ],
    ['unknown fragments', '{ ...a project { ...b } }'],
  ])('Limits-GraphQL-11: a document with %s may be validated', (_, source) => {
    expect(documentProblem(parse(source))).toBeNull();
  });

  test('Limits-GraphQL-12: an operation is charged for each root field before it is validated', async () => {
    const { token } = await app.tenant({ plan: 'FREE' });
    const ask = () => graphql(app.url, '{ a: nope b: nope c: nope }', { token });
    const first = await ask();
    expect([first.status, first.body.errors.length]).toEqual([400, 3]);
    expect(first.headers.get('x-ratelimit-remaining')).toBe('57');
    for (let sent = 1; sent < 20; sent += 1) expect((await ask()).status).toBe(400);
    const refused = await ask();
    expect([refused.status, refused.body.errors.length]).toEqual([429, 1]);
  });

  test('Limits-GraphQL-3: usual operations pass: introspection, a full page with everything', async () => {
    const page = `{ toys(first: 100) {
      edges { cursor node { id name categoryId status createdAt } }
      nodes { id name categoryId status createdAt }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } project { slug name plan publishedAt url } }`;
    for (const query of [getIntrospectionQuery({ inputValueDeprecation: true }), page]) {
      const { status, body } = await graphql(app.url, query, { token: tenant.token });
      expect([status, body.errors]).toEqual([200, undefined]);
    }
  });

  test('Limits-GraphQL-4: other reads are served while bombs arrive', async () => {
    const other = await app.tenant();
    const { result, tookMs } = await atMachineSpeed(async () => {
      const bombs = Array.from({ length: 20 }, () => graphql(app.url, bomb, { token: tenant.token }));
      for (let read = 0; read < 20; read += 1) {
        expect((await rest(app.url, '/v1/toys', { token: other.token })).status).toBe(200);
      }
      return bombs;
    });
    expect(tookMs).toBeLessThan(2_000);
    for (const { status } of await Promise.all(result)) expect(status).toBe(400);
  });

  test('Limits-GraphQL-5: measuring a bomb takes as many steps as it has fragments', () => {
    const document = parse(bomb);
    const [operation] = document.definitions;
    if (operation?.kind !== 'OperationDefinition') throw new Error('the bomb begins with its operation');
    // The shortest of five: another process can interrupt any of them.
    const times = Array.from({ length: 5 }, () => {
      const startedAt = performance.now();
      const size = measureOperation(
        document,
        operation,
        () => undefined,
        new Map([['toys', { usual: 20, most: 20 }]]),
      );
      expect(size.cost).toBeGreaterThan(2 ** 25);
      return performance.now() - startedAt;
    });
    expect(Math.min(...times)).toBeLessThan(50);
  });
});
