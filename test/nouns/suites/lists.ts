import { beforeAll, describe, expect, test } from '@jest/globals';
import { graphql, rest } from '../../support/http/client.js';
import { accepted, type Door, doorsOf, type ListQuery, nextOf } from '../../support/nouns/noun-doors.js';
import type { Tenant } from '../../support/start-app.js';
import type { Suite } from '../suites.js';

const RECORDS = 45;

export const lists: Suite = (noun, names, app, fresh) => {
  const doors = doorsOf(noun, names, () => app().url);
  const {
    field,
    values: [choice, other],
  } = noun.filter;
  let owner: Tenant;
  /** Oldest first; every third has the choice. */
  const ids: string[] = [];
  const chosen = () => ids.filter((_, at) => at % 3 === 0);
  beforeAll(async () => {
    owner = await app().tenant();
    for (let at = 0; at < RECORDS; at += 1) {
      const input = { ...noun.input(at), ...(at % 3 === 0 ? { [field]: choice } : {}) };
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
      expect(records.length).toBeLessThanOrEqual(list.size ?? 20);
      seen.push(...records.map(({ id }) => id));
      // A page that repeats would never end.
      expect(seen.length).toBeLessThanOrEqual(RECORDS);
      await onPage(seen.length);
      if (next === null) return seen;
      query = { ...list, cursor: next };
    }
  }

  describe.each(Object.entries(doors))('through %s', (name, door) => {
    const hasNewest = name === 'graphql';
    const orders = hasNewest ? [false, true] : [false];

    test('Listing-1: the pages of each list have every record of it once, in its order', async () => {
      for (const size of [1, 7, 20, 100]) {
        for (const [wanted, expected] of [
          [{}, ids],
          [{ choice }, chosen()],
          [{ choice: other }, []],
        ] as const) {
          for (const isNewestFirst of orders) {
            const seen = await walk(door, owner, { size, ...wanted, isNewestFirst });
            expect(seen).toEqual(isNewestFirst ? expected.toReversed() : expected);
          }
        }
      }
    });

    test('Listing-2: without a size a page has the 20 oldest', async () => {
      const { records, next } = accepted(await door.list(owner.token, {}));
      expect(records.map(({ id }) => id)).toEqual(ids.slice(0, 20));
      expect(next).not.toBeNull();
    });

    test('Listing-10: pages stay stable while records are added', async () => {
      for (const isNewestFirst of orders) {
        const tenant = await app().tenant();
        const before: string[] = [];
        for (let at = 0; at < 6; at += 1) before.push(await create(tenant));
        const seen = await walk(door, tenant, { size: 2, isNewestFirst }, async (count) => {
          if (count < 6) await create(tenant);
        });
        expect(seen).toHaveLength(isNewestFirst ? 6 : 8);
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen.slice(0, 6)).toEqual(isNewestFirst ? before.toReversed() : before);
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
        expect((await graphql(app().url, query, { token: tenant.token })).body.errors).toBeUndefined();
        made.splice(made.indexOf(removed?.id ?? ''), 1);
        const behind = await walk(door, tenant, { size: 1, isNewestFirst, cursor: next ?? '' });
        expect(behind).toEqual(isNewestFirst ? made.toReversed() : made);
      }
    });

    if (hasNewest) {
      test('Listing-3: a cursor belongs to its order, and the newest first to their filter; other lists refuse it by name', async () => {
        const lists: ListQuery[] = [
          {},
          { isNewestFirst: true },
          { isNewestFirst: true, choice },
          { isNewestFirst: true, choice: other },
        ];
        for (const from of lists) {
          const { next } = accepted(await door.list(owner.token, { ...from, size: 1 }));
          if (next === null) continue;
          for (const to of lists) {
            const answer = await door.list(owner.token, { ...to, cursor: next });
            const expected =
              from === to ? { ok: true } : { code: 'invalid_request', status: 400, fields: ['cursor'] };
            expect([from, to, answer]).toEqual([from, to, expect.objectContaining(expected)]);
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
        expect([cursor, refused]).toEqual([
          cursor,
          expect.objectContaining({ status: 400, fields: ['cursor'] }),
        ]);
      }
    });
  });

  describe('over REST', () => {
    const list = (query: string, { token } = owner) => rest(app().url, `${names.path}${query}`, { token });
    const idsOf = (body: { id: number }[]) => body.map(({ id }) => String(id));

    test('Listing-9: following Link visits every record once, with the filters kept', async () => {
      for (const [first, expected] of [
        ['?limit=7', ids],
        [`?limit=2&${field}=${choice}&other=1`, chosen()],
      ] as const) {
        const seen: string[] = [];
        for (let next: string | null = first; next !== null; ) {
          const page = await list(next);
          expect(page.status).toBe(200);
          seen.push(...idsOf(page.body));
          expect(seen.length).toBeLessThanOrEqual(RECORDS);
          next = nextOf(page.headers);
        }
        expect(seen).toEqual(expected);
      }
      const { headers } = await list(`?limit=2&${field}=${choice}`);
      const start = `<${app().url}${names.path}?limit=2&${field}=${choice}>; rel="first"`;
      expect(headers.get('link')).toContain(start);
    });

    test('Listing-11: the last page has no next link; an empty list is an empty array', async () => {
      const last = await list('?limit=100');
      expect(idsOf(last.body)).toEqual(ids);
      expect(last.headers.get('link')).not.toContain('rel="next"');
      const empty = await list(`?${field}=${other}`);
      expect([empty.status, empty.text]).toEqual([200, '[]']);
    });

    test('Listing-6: wrong and repeated parameters are refused with 400 that names them', async () => {
      const wrong = {
        limit: ['0', '101', '-1', 'abc', '1e1', '0x10', '%2010', '010', '10.0', '', '5&limit=5'],
        cursor: ['', 'zzz'],
        [field]: ['no-such-choice', '', `${choice}&${field}=${choice}`],
      };
      for (const [name, values] of Object.entries(wrong)) {
        for (const value of values) {
          const { status, body } = await list(`?${name}=${value}`);
          const errors = [{ field: name, message: expect.stringMatching(/^must be/) }];
          expect([name, value, status, body.errors]).toEqual([name, value, 400, errors]);
        }
      }
    });
  });

  describe('over GraphQL', () => {
    const query = `query($first: Int, $after: String, $choice: ${names.choice}) {
      it: ${names.list}(first: $first, after: $after, ${field}: $choice) {
        edges { cursor node { id } } nodes { id }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      }
    }`;
    const ask = (variables: Record<string, unknown>) =>
      graphql(app().url, query, { token: owner.token, variables });
    const page = async (variables: Record<string, unknown>) => (await ask(variables)).body.data.it;

    test('Relay-1: pages follow each other by endCursor until hasNextPage is false', async () => {
      const seen: string[] = [];
      let after: string | null = null;
      for (let count = 0; count < 10; count += 1) {
        const { nodes, edges, pageInfo } = await page({ first: 10, after });
        expect(edges.map(({ node }: { node: unknown }) => node)).toEqual(nodes);
        expect(pageInfo.startCursor).toBe(edges[0].cursor);
        expect(pageInfo.endCursor).toBe(edges.at(-1).cursor);
        expect(pageInfo.hasPreviousPage).toBe(after !== null);
        seen.push(...nodes.map(({ id }: { id: string }) => id));
        if (!pageInfo.hasNextPage) break;
        after = pageInfo.endCursor;
      }
      expect(seen).toEqual(ids);
    });

    test('Relay-2: a page has 20 records by default and for null, is filtered by choice, and has no cursors when empty', async () => {
      expect((await page({})).nodes).toHaveLength(20);
      expect((await page({ first: null })).nodes).toHaveLength(20);
      const { nodes } = await page({ choice });
      expect(nodes.map(({ id }: { id: string }) => id)).toEqual(chosen());
      expect(await page({ choice: other })).toEqual({
        edges: [],
        nodes: [],
        pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
      });
    });

    test.each([0, -1, 101])('Relay-3: first: %d is refused by name', async (first) => {
      const { body } = await ask({ first });
      expect(body.data).toBeNull();
      expect(body.errors[0].extensions).toEqual({
        code: 'INVALID_REQUEST',
        status: 400,
        errors: [{ field: 'first', message: `must be a whole number from 1 to 100 (got ${first})` }],
      });
    });

    test('Relay-4: a cursor that the gateway did not issue is refused', async () => {
      for (const after of ['', 'x', 'cGV0Og', 'cGV0OmFiYw']) {
        const { body } = await ask({ after });
        expect([after, body.errors[0].extensions.errors[0].field]).toEqual([after, 'after']);
      }
    });
  });
};
