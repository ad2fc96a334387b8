import { beforeAll, describe, expect, test } from '@jest/globals';
import { graphql, rest } from '../support/http/client.js';
import { Toy, type ToyStatus } from '../support/nouns/toys.js';
import { onEachDatabase } from '../support/on-databases.js';
import type { Tenant } from '../support/start-app.js';

/** The arguments of `toys` that select and order a list. */
interface List {
  status?: ToyStatus;
  nameStartsWith?: string;
  ids?: string[];
  orderBy?: 'OLDEST' | 'NEWEST';
}

const LAST = '\u{10ffff}';
/** Texts that a collation, a pattern or UTF-16 could confuse. */
const NAMES = [
  ...[
    'Rex',
    'Rex',
    'Rex',
    'Rex ',
    'Rex  ',
    'Rex\t',
    'Rex\u0001',
    'rex',
    'REX',
    'R',
    'Re',
    'Rexy',
    ' Rex',
    '\u00a0',
  ],
  ...['R%x', 'R_x', '%', '_', '%%', "R'x", 'R"x', 'R\\x', '\\', '`', ';--', '\u0001', '\u007f', '\ufeffx'],
  ...[
    'R\u00e9x',
    'Re\u0301x',
    'e\u0301',
    '\u00e9',
    '\u00df',
    'ss',
    '\u0130',
    '\u0131',
    'i',
    'I',
    '\ufb00',
    'ff',
    '\u202eRex',
  ],
  ...[
    '🐈',
    '🐈\u200d⬛',
    '🐈Rex',
    '🐉',
    '\ue000',
    '\ue000x',
    '\ufffd',
    '\uffff',
    '\ud7ff',
    '\ud7ffx',
    '\ud7fe',
  ],
  ...[
    LAST,
    LAST + LAST,
    `${LAST}a`,
    `a${LAST}`,
    `a${LAST}b`,
    'b',
    LAST.repeat(255),
    'a'.repeat(255),
    '猫'.repeat(255),
  ],
];
const STATUSES = ['available', 'pending', 'sold', null] as const;
const FIRST_ID = 9_007_199_254_740_993n;
const TOYS = NAMES.map((name, at) => ({
  // Neighbours differ only beyond the precision of a JavaScript number.
  id: FIRST_ID + BigInt((at * 37) % NAMES.length),
  name,
  status: STATUSES[at % STATUSES.length] ?? null,
}));
const PAGE = `query ($first: Int, $after: String, $status: ToyStatus, $nameStartsWith: String, $ids: [ID!], $orderBy: ToyOrder) {
  toys(first: $first, after: $after, status: $status, nameStartsWith: $nameStartsWith, ids: $ids, orderBy: $orderBy) {
    edges { cursor node { id name } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;
const COUNT =
  'query ($status: ToyStatus, $nameStartsWith: String) { toyCount(status: $status, nameStartsWith: $nameStartsWith) }';

/** The expected ids, by the definition of the list. Bytes of UTF-8 sort as code points do. */
function expected({ status, nameStartsWith, ids, orderBy }: List): string[] {
  const bytes = Buffer.from(nameStartsWith ?? '');
  const found = TOYS.filter(
    ({ id, name, status: its }) =>
      (status === undefined || its === status) &&
      Buffer.from(name).subarray(0, bytes.length).equals(bytes) &&
      (ids === undefined || ids.includes(String(id))),
  ).sort((a, b) => {
    const byName =
      nameStartsWith === undefined ? 0 : Buffer.compare(Buffer.from(a.name), Buffer.from(b.name));
    return byName || (a.id < b.id ? -1 : 1);
  });
  if (orderBy === 'NEWEST') found.reverse();
  return found.map(({ id }) => String(id));
}

onEachDatabase((app) => {
  let owner: Tenant;
  let other: Tenant;
  beforeAll(async () => {
    owner = await app().tenant();
    other = await app().tenant();
    const common = { categoryId: 1n, createdAtMs: 0 };
    const rows = [owner, other].flatMap(({ projectId }) =>
      TOYS.map((toy) => ({ ...toy, ...common, projectId })),
    );
    await app().db.repository(Toy).insert(rows);
  });

  const ask = (variables: Record<string, unknown>, token = owner.token) =>
    graphql(app().url, PAGE, { token, variables });
  const page = async (variables: Record<string, unknown>) => {
    const { body } = await ask(variables);
    expect([variables, body.errors]).toEqual([variables, undefined]);
    return body.data.toys as {
      edges: { cursor: string; node: { id: string; name: string } }[];
      pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; endCursor: string | null };
    };
  };
  const idsOn = async (variables: Record<string, unknown>) =>
    (await page(variables)).edges.map(({ node }) => node.id);
  /** Follows `endCursor` to the end. */
  async function walk(list: List, first: number): Promise<string[]> {
    const seen: string[] = [];
    for (let after: string | null = null; ; ) {
      const { edges, pageInfo } = await page({ ...list, first, after });
      expect(pageInfo.hasPreviousPage).toBe(after !== null);
      seen.push(...edges.map(({ node }) => node.id));
      if (!pageInfo.hasNextPage) return seen;
      after = pageInfo.endCursor;
    }
  }
  const refusal = async (variables: Record<string, unknown>) => {
    const [error] = (await ask(variables)).body.errors ?? [];
    return error && [error.extensions.code, error.extensions.status, error.extensions.errors?.[0].field];
  };

  /** The ids on the first page of each list, twenty lists in a request. */
  async function idsOfEach(lists: readonly List[]): Promise<string[][]> {
    const found: string[][] = [];
    for (let at = 0; at < lists.length; at += 20) {
      const fields = lists.slice(at, at + 20).map(({ nameStartsWith, status, orderBy = 'OLDEST' }, index) => {
        const filters = `nameStartsWith: ${JSON.stringify(nameStartsWith)}, status: ${status ?? null}`;
        return `a${index}: toys(first: 100, orderBy: ${orderBy}, ${filters}) { nodes { id } }`;
      });
      const { body } = await graphql(app().url, `{ ${fields.join(' ')} }`, { token: owner.token });
      const pages = Object.values(body.data) as { nodes: { id: string }[] }[];
      found.push(...pages.map(({ nodes }) => nodes.map(({ id }) => id)));
    }
    return found;
  }

  test('RecordList-1: a prefix finds exactly the names that begin with it, in the order of code points', async () => {
    const prefixes = new Set(
      NAMES.flatMap((name) => [name, ...[1, 2, 3, 4].map((count) => [...name].slice(0, count).join(''))]),
    );
    const lists = [...prefixes, 'Rexyz', 'RE', '  ', 'Rex   ', '%R', LAST.repeat(3)].flatMap(
      (nameStartsWith): List[] => [
        { nameStartsWith },
        { nameStartsWith, orderBy: 'NEWEST' },
        { nameStartsWith, status: 'sold' },
      ],
    );
    expect(await idsOfEach(lists)).toEqual(lists.map(expected));
  });

  const LISTS: List[] = [undefined, 'R', 'Rex', LAST, 'a'].flatMap((nameStartsWith) =>
    ([undefined, 'available'] as const).flatMap((status) =>
      (['OLDEST', 'NEWEST'] as const).map((orderBy) => ({
        ...(nameStartsWith === undefined ? {} : { nameStartsWith }),
        ...(status ? { status } : {}),
        orderBy,
      })),
    ),
  );
  const IDS = TOYS.filter((_, at) => at % 3 === 0).map(({ id }) => String(id));

  test.each(LISTS)('RecordList-2: the pages of %j follow each other, with and without ids', async (list) => {
    for (const wanted of [list, { ...list, ids: IDS }]) {
      const all = expected(wanted);
      if (all.length < 10) expect(await walk(wanted, 1)).toEqual(all);
      expect(await walk(wanted, 4)).toEqual(all);
    }
  });

  test('RecordList-3: NEWEST is the exact reverse of OLDEST, and OLDEST is the default', async () => {
    expect(await walk({}, 7)).toEqual(expected({ orderBy: 'OLDEST' }));
    expect(await walk({ orderBy: 'NEWEST' }, 7)).toEqual(expected({}).reverse());
    expect(await idsOn({ orderBy: null, nameStartsWith: null, ids: null, first: 100 })).toEqual(expected({}));
  });

  test('RecordList-4: a cursor belongs to its order and filters; any other list refuses it with 400 that names after', async () => {
    const lists = [
      ...LISTS.slice(0, 8),
      { ids: IDS },
      { ids: IDS.slice(1) },
      { ids: IDS, orderBy: 'NEWEST' as const },
    ];
    /** Lists of equal keys accept each other's cursors. */
    const keyOf = ({ orderBy = 'OLDEST', ...list }: List) =>
      orderBy === 'OLDEST' && !list.ids && !list.nameStartsWith ? 'shared' : JSON.stringify([orderBy, list]);
    for (const from of lists) {
      const { pageInfo } = await page({ ...from, first: 1 });
      if (!pageInfo.endCursor) continue;
      for (const to of lists) {
        const wanted = keyOf(from) === keyOf(to) ? undefined : ['INVALID_REQUEST', 400, 'after'];
        expect([from, to, await refusal({ ...to, after: pageInfo.endCursor })]).toEqual([from, to, wanted]);
      }
    }
  });

  test('RecordList-5: cursors from before the orders stay valid at both doors, for the list with and without a status', async () => {
    const { token } = owner;
    const middle = expected({})[20] ?? '';
    const after = Buffer.from(`toy:${middle}`).toString('base64url');
    for (const list of [{}, { status: 'sold' as const }]) {
      const rest20 = expected(list).filter((id) => BigInt(id) > BigInt(middle));
      expect(await idsOn({ ...list, after, first: 100 })).toEqual(rest20);
      const query = new URLSearchParams({ ...list, cursor: after, limit: '100' });
      const { body } = await rest(app().url, `/v1/toys?${query}`, { token });
      expect(body.map(({ id }: { id: unknown }) => String(id))).toEqual(rest20);
    }
    const { pageInfo } = await page({ first: 3 });
    expect(pageInfo.endCursor).toBe(Buffer.from(`toy:${expected({})[2]}`).toString('base64url'));
    expect(await refusal({ orderBy: 'NEWEST', after })).toEqual(['INVALID_REQUEST', 400, 'after']);
  });

  test('RecordList-6: REST refuses the cursor of an order that it does not have', async () => {
    for (const list of [{ orderBy: 'NEWEST' }, { nameStartsWith: 'R' }]) {
      const { pageInfo } = await page({ ...list, first: 1 });
      const { status, body } = await rest(app().url, `/v1/toys?cursor=${pageInfo.endCursor}`, {
        token: owner.token,
      });
      expect([status, body.errors[0].field]).toEqual([400, 'cursor']);
    }
  });

  test('RecordList-7: altered cursors are refused', async () => {
    const list = { nameStartsWith: 'Re' };
    const { pageInfo } = await page({ ...list, first: 1 });
    const text = Buffer.from(pageInfo.endCursor ?? '', 'base64url').toString();
    const altered = [
      text.slice(0, -4),
      text.replace(/:Re/, ':Ax'),
      text.replace('toys:', 'toy:'),
      `${text.slice(0, 18)}::`,
    ];
    for (const cursor of [
      ...altered.map((one) => Buffer.from(one).toString('base64url')),
      `${pageInfo.endCursor}=`,
    ]) {
      expect([cursor, await refusal({ ...list, after: cursor })]).toEqual([
        cursor,
        ['INVALID_REQUEST', 400, 'after'],
      ]);
    }
  });

  test.each(['', 'x'.repeat(256), 'Re\u0000', '\ud83d', '\udc08x'])(
    'RecordList-8: the prefix %j is refused by name',
    async (nameStartsWith) => {
      expect(await refusal({ nameStartsWith })).toEqual(['INVALID_REQUEST', 400, 'nameStartsWith']);
    },
  );

  test('RecordList-9: a prefix has up to 255 characters, not UTF-16 units', async () => {
    const nameStartsWith = LAST.repeat(255);
    expect(await idsOn({ nameStartsWith })).toEqual(expected({ nameStartsWith }));
  });

  describe('ids', () => {
    test('RecordList-10: ids gives the toys of the project in the order of the list, each once, and leaves out all others', async () => {
      const [a = '', b = '', c = ''] = [TOYS[5]?.id, TOYS[6]?.id, TOYS[9]?.id].map(String);
      const ids = [c, a, b, a, '1', '-5', 'abc', '', '9223372036854775808', '9223372036854775807', `0${a}`];
      const wanted = [a, b, c].sort();
      expect(await idsOn({ ids })).toEqual(wanted);
      expect(await idsOn({ ids, orderBy: 'NEWEST' })).toEqual(wanted.toReversed());
      expect(await idsOn({ ids: [] })).toEqual([]);
      expect(await idsOn({ ids: ['1'] })).toEqual([]);
    });

    test('RecordList-11: toys of other projects are left out', async () => {
      const stranger = await app().tenant();
      const { body } = await ask({ ids: TOYS.slice(0, 9).map(({ id }) => String(id)) }, stranger.token);
      expect(body.data.toys.edges).toEqual([]);
    });

    test('RecordList-12: at most 100 ids are allowed, and first: 100 shows all of them', async () => {
      const ids = TOYS.map(({ id }) => String(id));
      const hundred = [...ids, ...Array.from({ length: 100 - ids.length }, (_, at) => String(at + 1))];
      expect(await idsOn({ ids: hundred, first: 100 })).toEqual(expected({}));
      expect(await refusal({ ids: [...hundred, '1'] })).toEqual(['INVALID_REQUEST', 400, 'ids']);
    });
  });

  test('RecordList-13: a page continues behind a toy that was renamed, changed or deleted since', async () => {
    const tenant = await app().tenant();
    const run = async (query: string) => {
      const { body } = await graphql(app().url, query, { token: tenant.token });
      expect(body.errors).toBeUndefined();
      return body.data;
    };
    const ids: string[] = [];
    for (const name of ['A1', 'A2', 'A3', 'A4']) {
      const { createToy } = await run(
        `mutation { createToy(input: {name: "${name}", categoryId: 1, status: sold}) { id } }`,
      );
      ids.push(createToy.id);
    }
    for (const args of ['nameStartsWith: "A", status: sold', 'orderBy: OLDEST, status: sold']) {
      const first = await run(`{ toys(${args}, first: 2) { pageInfo { endCursor } } }`);
      await run(`mutation { updateToy(id: "${ids[1]}", input: {name: "B", status: null}) { id } }`);
      const rest = `{ toys(${args}, after: "${first.toys.pageInfo.endCursor}") { nodes { id } } }`;
      expect((await run(rest)).toys.nodes).toEqual([{ id: ids[2] }, { id: ids[3] }]);
      await run(`mutation { updateToy(id: "${ids[1]}", input: {name: "A2", status: sold}) { id } }`);
    }
    const newest = await run('{ toys(orderBy: NEWEST, first: 2) { pageInfo { endCursor } } }');
    await run(`mutation { deleteToy(id: "${ids[2]}") { id } }`);
    const after = `after: "${newest.toys.pageInfo.endCursor}"`;
    expect((await run(`{ toys(orderBy: NEWEST, ${after}) { nodes { id } } }`)).toys.nodes).toEqual([
      { id: ids[1] },
      { id: ids[0] },
    ]);
  });

  test('RecordList-16: toyCount is the length of the list with the same filters, of the own project only', async () => {
    const count = async (filters: List, by = owner) => {
      const { body } = await graphql(app().url, COUNT, { token: by.token, variables: { ...filters } });
      return body.data.toyCount;
    };
    for (const status of [undefined, 'sold', 'pending'] as const) {
      for (const nameStartsWith of [undefined, 'R', 'Re', LAST, '\ud7ff', '%', 'none']) {
        const filters = { ...(status && { status }), ...(nameStartsWith && { nameStartsWith }) };
        expect([filters, await count(filters)]).toEqual([filters, expected(filters).length]);
      }
    }
    const empty = await app().tenant();
    expect(await count({}, empty)).toBe(0);
    const writer = await app().tenant({ scopes: ['toys:write'] });
    const { body } = await graphql(app().url, '{ toyCount }', { token: writer.token });
    expect(body.errors[0].extensions.code).toBe('FORBIDDEN');
    const spent = await graphql(
      app().url,
      '{ a: toyCount b: toyCount rateLimit { minute { limit remaining } } }',
      {
        token: empty.token,
      },
    );
    const { limit, remaining } = spent.body.data.rateLimit.minute;
    expect(Number(limit) - Number(remaining)).toBe(3);
  });
});
