import assert from 'node:assert/strict';
import { assertContains, assertIncludes } from '../assertions.js';
import { graphql, rest } from '../http-client.js';
import type { Values } from '../inputs.js';
import { accepted, type Door, type ListQuery, nextOf } from '../noun-doors.js';
import type { Tenant } from '../tested-app.js';
import type { Suite } from './suite.js';

const RECORDS = 45;
const idsOf = (records: readonly { id: unknown }[]) => records.map(({ id }) => String(id));

export const lists: Suite = ({ noun, doors, app, fresh, describe, test, testWith, beforeAll }) => {
  const { names, filter } = noun;
  const [choice, other] = filter?.values ?? [];
  let owner: Tenant;
  /** Has no record with the second value. */
  let without: Tenant;
  /** Oldest first; every third has the choice, and all others have the usual value. */
  const ids: string[] = [];
  const having = (value: string) => ids.filter((_, at) => (at % 3 === 0 ? choice : filter?.usual) === value);
  beforeAll(async () => {
    owner = await app().tenant();
    without = filter && other !== filter.usual ? owner : await app().tenant();
    for (let at = 0; at < RECORDS; at += 1) {
      const input = { ...noun.input(at), ...(at % 3 === 0 ? noun.chosen(0) : {}) };
      ids.push(accepted(await doors.rest.create(owner.token, input)).id);
    }
  });
  const create = async ({ token }: Tenant) => accepted(await doors.graphql.create(token, fresh())).id;

  /** Follows the cursors to the last page, and calls `onPage` with the number of records seen after each. */
  async function walk(
    door: Door,
    { token }: Tenant,
    list: ListQuery,
    onPage: (count: number) => Promise<void> = async () => {},
  ): Promise<string[]> {
    const seen: string[] = [];
    for (let query = list; ; ) {
      const { records, next } = accepted(await door.list(token, query));
      assert.ok(records.length <= (list.size ?? 20));
      seen.push(...idsOf(records));
      // A page that repeats would never end.
      assert.ok(seen.length <= RECORDS);
      await onPage(seen.length);
      if (next === null) return seen;
      query = { ...list, cursor: next };
    }
  }

  for (const [name, door] of Object.entries(doors))
    describe(`through ${name}`, () => {
      const hasNewest = name === 'graphql';
      const orders = hasNewest ? [false, true] : [false];

      test('Listing-1: the pages of each list have every record of it once, in its order', async () => {
        for (const size of [1, 7, 20, 100]) {
          const filtered = (filter?.values ?? []).map((value) => [{ choice: value }, having(value)] as const);
          for (const [wanted, expected] of [[{}, ids] as const, ...filtered]) {
            for (const isNewestFirst of orders) {
              const seen = await walk(door, owner, { size, ...wanted, isNewestFirst });
              assert.deepEqual(seen, isNewestFirst ? expected.toReversed() : expected);
            }
          }
        }
      });

      test('Listing-2: without a size a page has the 20 oldest', async () => {
        const { records, next } = accepted(await door.list(owner.token, {}));
        assert.deepEqual(idsOf(records), ids.slice(0, 20));
        assert.notEqual(next, null);
      });

      test('Listing-10: pages stay stable while records are added', async () => {
        for (const isNewestFirst of orders) {
          const tenant = await app().tenant();
          const before: string[] = [];
          for (let at = 0; at < 6; at += 1) before.push(await create(tenant));
          const seen = await walk(door, tenant, { size: 2, isNewestFirst }, async (count) => {
            if (count < 6) await create(tenant);
          });
          assert.equal(seen.length, isNewestFirst ? 6 : 8);
          assert.equal(new Set(seen).size, seen.length);
          assert.deepEqual(seen.slice(0, 6), isNewestFirst ? before.toReversed() : before);
        }
      });

      test('Listing-4: a page continues behind a record that was deleted since', async () => {
        const tenant = await app().tenant();
        const made: string[] = [];
        for (let at = 0; at < 4; at += 1) made.push(await create(tenant));
        for (const isNewestFirst of orders) {
          const { records, next } = accepted(await door.list(tenant.token, { size: 1, isNewestFirst }));
          const [removed] = records;
          const query = `mutation { ${names.remove}(id: "${removed?.id}") { id } }`;
          assert.equal((await graphql(app().url, query, { token: tenant.token })).body.errors, undefined);
          made.splice(made.indexOf(removed?.id ?? ''), 1);
          const behind = await walk(door, tenant, { size: 1, isNewestFirst, cursor: next ?? '' });
          assert.deepEqual(behind, isNewestFirst ? made.toReversed() : made);
        }
      });

      if (hasNewest) {
        test('Listing-3: a cursor belongs to its order, and the newest first to their filter; other lists refuse it by name', async () => {
          const lists: ListQuery[] = [
            {},
            { isNewestFirst: true },
            ...(filter?.values ?? []).map((value) => ({ isNewestFirst: true, choice: value })),
          ];
          for (const from of lists) {
            const { next } = accepted(await door.list(owner.token, { ...from, size: 1 }));
            if (next === null) continue;
            for (const to of lists) {
              const answer = await door.list(owner.token, { ...to, cursor: next });
              const expected =
                from === to ? { ok: true } : { code: 'invalid_request', status: 400, fields: ['cursor'] };
              assertIncludes([from, to, answer], [from, to, expected]);
            }
          }
        });
      }

      test('Listing-5: an altered cursor is refused by name', async () => {
        const { next } = accepted(await door.list(owner.token, { size: 1 }));
        const text = Buffer.from(next ?? '', 'base64url').toString();
        const altered = [
          `${next}=`,
          `${next}A`,
          Buffer.from(text.replace(ids[0] ?? '', 'x')).toString('base64url'),
          Buffer.from(text.replace(ids[0] ?? '', '9223372036854775808')).toString('base64url'),
        ];
        for (const cursor of altered) {
          const refused = await door.list(owner.token, { cursor });
          assertIncludes([cursor, refused], [cursor, { status: 400, fields: ['cursor'] }]);
        }
      });
    });

  describe('over REST', () => {
    const list = (query: string, { token } = owner) => rest(app().url, `${names.path}${query}`, { token });

    test('Listing-9: following Link visits every record once, with the filters kept', async () => {
      for (const [first, expected] of [
        ['?limit=7', ids],
        ...(filter
          ? [[`?limit=2&${filter.field}=${choice}&other=1`, having(filter.values[0])] as const]
          : []),
      ] as const) {
        const seen: string[] = [];
        for (let next: string | null = first; next !== null; ) {
          const page = await list(next);
          assert.equal(page.status, 200);
          seen.push(...idsOf(page.body));
          assert.ok(seen.length <= RECORDS);
          next = nextOf(page.headers);
        }
        assert.deepEqual(seen, expected);
      }
      const query = filter ? `?limit=2&${filter.field}=${choice}` : '?limit=2';
      const { headers } = await list(query);
      const start = `<${app().url}${names.path}${query}>; rel="first"`;
      assertContains(headers.get('link'), start);
    });

    const entries = noun.entries.length > 0 ? noun.entries : null;
    const follows = 'Listing-12: a filter by a text of a list follows each write of the record';
    testWith(entries, "text of a filter 'has' in its first input", follows, async (filters) => {
      for (const { argument, text, isChangeable } of filters) {
        const tenant = await app().tenant();
        const having = async (value: string) => {
          const { status, body } = await list(`?limit=100&${argument}=${encodeURIComponent(value)}`, tenant);
          assert.equal(status, 200);
          const argued = `{ ${names.list}(first: 100, ${argument}: ${JSON.stringify(value)}) { nodes { id } } }`;
          const { data } = (await graphql(app().url, argued, { token: tenant.token })).body;
          assert.deepEqual(idsOf(data[names.list].nodes), idsOf(body));
          return idsOf(body);
        };
        const made: string[] = [];
        for (let count = 0; count < 3; count += 1)
          made.push(
            accepted(await doors.graphql.create(tenant.token, { ...fresh(), [argument]: [text] })).id,
          );
        assert.deepEqual(await having(text), made);
        assert.deepEqual(await having(`${text}x`), []);
        const [first = '', second = ''] = made;
        const write = (mutation: string) => graphql(app().url, `mutation { ${mutation} { id } }`, tenant);
        if (isChangeable && noun.hasRecordWrites) {
          await write(`${names.update}(id: "${first}", input: {${argument}: []})`);
          assert.deepEqual(await having(text), made.slice(1));
          await write(`${names.update}(id: "${first}", input: {${argument}: [${JSON.stringify(text)}]})`);
        }
        await write(`${names.remove}(id: "${second}")`);
        assert.deepEqual(await having(text), made.toSpliced(1, 1));
      }
    });

    test('Listing-11: the last page has no next link; an empty list is an empty array', async () => {
      const last = await list('?limit=100');
      assert.deepEqual(idsOf(last.body), ids);
      assertContains(last.headers.get('link'), 'rel="first"');
      assert.doesNotMatch(last.headers.get('link') ?? '', /rel="next"/);
      const empty = await list(filter ? `?${filter.field}=${other}` : '', without);
      assert.deepEqual([empty.status, empty.text], [200, '[]']);
    });

    test('Listing-6: wrong and repeated parameters are refused with 400 that names them', async () => {
      const wrong = {
        limit: ['0', '101', '-1', 'abc', '1e1', '0x10', '%2010', '010', '10.0', '', '5&limit=5'],
        cursor: ['', 'zzz'],
        ...(filter && { [filter.field]: ['no-such-choice', '', `${choice}&${filter.field}=${choice}`] }),
      };
      for (const [name, values] of Object.entries(wrong)) {
        for (const value of values) {
          const { status, body } = await list(`?${name}=${value}`);
          const [{ field, message }, ...others] = body.errors;
          assert.deepEqual([name, value, status, field, others], [name, value, 400, name, []]);
          assert.match(message, /^must be/);
        }
      }
    });
  });

  describe('over GraphQL', () => {
    const [declared, given] = filter ? [`, $choice: ${filter.type}`, `, ${filter.field}: $choice`] : ['', ''];
    const query = `query($first: Int, $after: String${declared}) {
      it: ${names.list}(first: $first, after: $after${given}) {
        edges { cursor node { id } } nodes { id }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      }
    }`;
    const ask = (variables: Values, { token } = owner) => graphql(app().url, query, { token, variables });
    const page = async (variables: Values, by?: Tenant) => (await ask(variables, by)).body.data.it;

    test('Relay-1: pages follow each other by endCursor until hasNextPage is false', async () => {
      const seen: string[] = [];
      let after: string | null = null;
      for (let count = 0; count < 10; count += 1) {
        const { nodes, edges, pageInfo } = await page({ first: 10, after });
        assert.deepEqual(
          edges.map(({ node }: { node: unknown }) => node),
          nodes,
        );
        assert.equal(pageInfo.startCursor, edges[0].cursor);
        assert.equal(pageInfo.endCursor, edges.at(-1).cursor);
        assert.equal(pageInfo.hasPreviousPage, after !== null);
        seen.push(...idsOf(nodes));
        if (!pageInfo.hasNextPage) break;
        after = pageInfo.endCursor;
      }
      assert.deepEqual(seen, ids);
    });

    test('Relay-2: a page has 20 records by default and for null, is filtered by choice, and has no cursors when empty', async () => {
      assert.equal((await page({})).nodes.length, 20);
      assert.equal((await page({ first: null })).nodes.length, 20);
      for (const value of filter?.values ?? []) {
        assert.deepEqual(idsOf((await page({ choice: value, first: 100 })).nodes), having(value));
      }
      assert.deepEqual(await page(filter ? { choice: other } : {}, without), {
        edges: [],
        nodes: [],
        pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
      });
    });

    for (const first of [0, -1, 101])
      test(`Relay-3: first: ${first} is refused by name`, async () => {
        const { body } = await ask({ first });
        assert.equal(body.data, null);
        assert.deepEqual(body.errors[0].extensions, {
          code: 'INVALID_REQUEST',
          status: 400,
          errors: [{ field: 'first', message: `must be a whole number from 1 to 100 (got ${first})` }],
        });
      });

    test('Relay-4: a cursor that the gateway did not issue is refused', async () => {
      for (const after of ['', 'x', 'cGV0Og', 'cGV0OmFiYw']) {
        const { body } = await ask({ after });
        assert.deepEqual([after, body.errors[0].extensions.errors[0].field], [after, 'after']);
      }
    });
  });
};
