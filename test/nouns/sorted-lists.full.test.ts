import { beforeAll, expect, test } from '@jest/globals';
import { createGateway, loadGateway } from '../../src/app/gateway.js';
import { openLog } from '../support/changes/changes.js';
import { graphql, rest } from '../support/http/client.js';
import {
  expectedIds,
  READINGS,
  type Reading,
  type WantedReadings,
} from '../support/nouns/expected-readings.js';
import { readings } from '../support/nouns/readings.js';
import { onEachDatabase } from '../support/on-databases.js';
import type { Tenant } from '../support/start-app.js';

const FIELDS = ['meter', 'power', 'takenAt', 'pulses', 'level'] as const;
const RANGES = ['power', 'takenAt', 'day', 'pulses', 'level'] as const;
const TYPES = { power: 'String', takenAt: 'DateTime', day: 'String', pulses: 'ID', level: 'Int' } as const;
const bounds = RANGES.flatMap((field) => [
  [`${field}From`, TYPES[field]],
  [`${field}Before`, TYPES[field]],
]);
const declared = bounds.map(([name, type]) => `, $${name}: ${type}`).join('');
const given = bounds.map(([name]) => `, ${name}: $${name}`).join('');
const PAGE = `query ($first: Int, $after: String, $ids: [ID!], $orderBy: ReadingOrder, $state: ReadingState, $meterStartsWith: String${declared}) {
  readings(first: $first, after: $after, ids: $ids, orderBy: $orderBy, state: $state, meterStartsWith: $meterStartsWith${given}) {
    edges { cursor node { id } } pageInfo { hasNextPage endCursor }
  }
}`;
const COUNT = `query (${declared.slice(2)}) { readingCount(${given.slice(2)}) }`;

/** The order of GraphQL in the form of REST. */
const parameterOf = (field: string, isDescending = false) => `${isDescending ? '-' : ''}${field}`;
const nameOf = (field: string, isDescending = false) =>
  field.replace(/[A-Z]/, (letter) => `_${letter}`).toUpperCase() + (isDescending ? '_DESC' : '');

onEachDatabase(
  (app) => {
    let owner: Tenant;
    let stored: (Reading & { id: string })[];
    beforeAll(async () => {
      owner = await app().tenant();
      await openLog(app(), owner);
      const inputs = READINGS;
      const mutation = 'mutation ($inputs: [NewReading!]!) { made: createReadings(inputs: $inputs) { id } }';
      const { body } = await graphql(app().url, mutation, { token: owner.token, variables: { inputs } });
      expect(body.errors).toBeUndefined();
      stored = inputs.map((input, at) => ({ ...input, id: body.data.made[at].id }));
    });

    const ask = async (variables: Record<string, unknown>) =>
      (await graphql(app().url, PAGE, { token: owner.token, variables })).body;
    const page = async (variables: Record<string, unknown>) => {
      const { data, errors } = await ask(variables);
      expect([variables, errors]).toEqual([variables, undefined]);
      return data.readings as {
        edges: { cursor: string; node: { id: string } }[];
        pageInfo: { hasNextPage: boolean; endCursor: string | null };
      };
    };
    /** Follows `endCursor` to the end. */
    async function walk(list: Record<string, unknown>, first: number): Promise<string[]> {
      const seen: string[] = [];
      for (let after: string | null = null; ; ) {
        const { edges, pageInfo } = await page({ ...list, first, after });
        seen.push(...edges.map(({ node }) => node.id));
        if (!pageInfo.hasNextPage) return seen;
        after = pageInfo.endCursor;
      }
    }
    /** Follows the links of REST to the end. */
    async function follow(query: string): Promise<string[]> {
      const seen: string[] = [];
      for (let path = `/v1/readings?${query}`; ; ) {
        const { status, body, headers } = await rest(app().url, path, { token: owner.token });
        expect([path, status]).toEqual([path, 200]);
        seen.push(...body.map(({ id }: { id: number }) => String(id)));
        const [, next] = /<([^>]*)>; rel="next"/.exec(headers.get('link') ?? '') ?? [];
        if (!next) return seen;
        const { pathname, search } = new URL(next);
        path = pathname + search;
      }
    }
    const expected = (wanted: WantedReadings) => expectedIds(stored, wanted);

    test.each(FIELDS)(
      'Sort-2: pages by %s have each record once, in both APIs and both directions, whatever the size',
      async (field) => {
        const ascending = expected({ field });
        const descending = ascending.toReversed();
        expect(new Set(ascending).size).toBe(stored.length);
        for (const [isDescending, ids] of [
          [false, ascending],
          [true, descending],
        ] as const) {
          const orderBy = nameOf(field, isDescending);
          for (const size of [1, 7])
            expect([orderBy, size, await walk({ orderBy }, size)]).toEqual([orderBy, size, ids]);
          expect(await follow(`limit=9&sort=${parameterOf(field, isDescending)}`)).toEqual(ids);
        }
      },
    );

    test('Sort-3: the list goes on behind each record, also with a filter by value, and with ids', async () => {
      for (const field of FIELDS) {
        for (const isDescending of [false, true]) {
          const orderBy = nameOf(field, isDescending);
          const fine = expected({ field, isDescending, state: 'fine' });
          expect(await walk({ orderBy, state: 'fine' }, 4)).toEqual(fine);
          expect(await follow(`limit=5&state=fine&sort=${parameterOf(field, isDescending)}`)).toEqual(fine);
          const some = stored.filter((_, at) => at % 3 > 0).map(({ id }) => id);
          const ordered = expected({ field, isDescending }).filter((id) => some.includes(id));
          expect([orderBy, await walk({ orderBy, ids: some }, 5)]).toEqual([orderBy, ordered]);
        }
      }
      const { edges } = await page({ orderBy: 'POWER_DESC', first: 100 });
      for (const at of edges.keys()) {
        const rest = await page({ orderBy: 'POWER_DESC', first: 100, after: edges[at]?.cursor });
        expect(rest.edges).toEqual(edges.slice(at + 1));
      }
    });

    test('Sort-4: a cursor belongs to its order, its range and its filters, in both APIs', async () => {
      // Behind a record with a value that the ranges below have, too.
      const cursor = (await page({ orderBy: 'TAKEN_AT', first: 40 })).pageInfo.endCursor;
      const others = [
        { orderBy: 'TAKEN_AT_DESC' },
        { orderBy: 'POWER' },
        { orderBy: 'OLDEST' },
        {},
        { orderBy: 'TAKEN_AT', state: 'fine' },
        { orderBy: 'TAKEN_AT', takenAtBefore: '2030-01-01T00:00:00Z' },
      ];
      for (const list of others) {
        const { errors } = await ask({ ...list, after: cursor });
        expect([list, errors?.[0].extensions.errors[0].field]).toEqual([list, 'after']);
      }
      for (const query of [
        '',
        'sort=-takenAt',
        'sort=power',
        'sort=takenAt&takenAtFrom=0001-01-01T00:00:00Z',
      ]) {
        const { body } = await rest(app().url, `/v1/readings?cursor=${cursor}&${query}`, {
          token: owner.token,
        });
        expect([query, body.errors?.[0]?.field]).toEqual([query, 'cursor']);
      }
      // The same list in the other API.
      const { status } = await rest(app().url, `/v1/readings?cursor=${cursor}&sort=takenAt`, {
        token: owner.token,
      });
      expect(status).toBe(200);
      const forged = (text: string) =>
        Buffer.from(
          Buffer.from(cursor as string, 'base64url')
            .toString()
            .replace(/[^:]*$/, text),
        ).toString('base64url');
      for (const text of ['x', '1.5', '9'.repeat(20), '2026-01-01']) {
        expect(
          (await ask({ orderBy: 'TAKEN_AT', after: forged(text) })).errors[0].extensions.errors[0].field,
        ).toBe('after');
      }
    });

    test.each(RANGES)(
      'Range-1: a list by %s has exactly the records from one bound to before the other, in that order, and its count',
      async (field) => {
        const values = [...new Set(stored.map((reading) => reading[field]))].filter(
          (value) => value !== null,
        );
        const picked = values.filter((_, at) => at % 3 === 0);
        for (const from of [null, ...picked]) {
          for (const before of [null, ...picked]) {
            if (from === null && before === null) continue;
            const ids = expected({ field, from, before });
            const variables = { [`${field}From`]: from, [`${field}Before`]: before };
            expect([variables, await walk(variables, 5)]).toEqual([variables, ids]);
            const { body } = await graphql(app().url, COUNT, { token: owner.token, variables });
            expect([variables, body.data?.readingCount]).toEqual([variables, ids.length]);
            const query = new URLSearchParams({ limit: '7' });
            if (from !== null) query.set(`${field}From`, String(from));
            if (before !== null) query.set(`${field}Before`, String(before));
            expect([variables, await follow(String(query))]).toEqual([variables, ids]);
          }
        }
        const from = values.at(-1) ?? null;
        const descending = expected({ field, from, isDescending: true });
        expect(await walk({ [`${field}From`]: from, orderBy: 'NEWEST' }, 4)).toEqual(descending);
        expect(
          await walk({ [`${field}From`]: from, ids: stored.map(({ id }) => id).slice(0, 100) }, 4),
        ).toEqual(descending.toReversed());
        const fine = expected({ field, from, state: 'fine' });
        expect(await walk({ [`${field}From`]: from, state: 'fine' }, 3)).toEqual(fine);
      },
    );

    test('Range-2: a bound that is no value of its kind is refused by its argument, in both APIs; one beyond min and max is not', async () => {
      const wrong = { power: '1.00000000001', day: '2026-02-30', pulses: '9223372036854775808' };
      for (const [field, value] of Object.entries(wrong)) {
        for (const end of ['From', 'Before']) {
          const argument = field + end;
          const refused = await ask({ [argument]: value });
          expect([argument, refused.errors?.[0].extensions.errors[0].field]).toEqual([argument, argument]);
          const { status, body } = await rest(app().url, `/v1/readings?${argument}=${value}`, {
            token: owner.token,
          });
          expect([argument, status, body.errors[0].field]).toEqual([argument, 400, argument]);
        }
      }
      for (const query of ['takenAtFrom=2026', 'levelFrom=x', 'levelBefore=1&levelBefore=2', 'dayFrom=']) {
        const { status, body } = await rest(app().url, `/v1/readings?${query}`, { token: owner.token });
        expect([query, status, body.errors?.[0].field]).toEqual([query, 400, query.split('=')[0]]);
      }
      expect(await walk({ levelFrom: 0, levelBefore: 10 }, 50)).toEqual(
        expected({ field: 'level', from: 1 }),
      );
    });

    test('Range-3: a list has one order: a second range, a start or another order is refused by name', async () => {
      const range = { levelFrom: 2 };
      const lists: [list: Record<string, unknown>, argument: string][] = [
        [{ ...range, dayBefore: '2026-01-01' }, 'levelFrom'],
        [{ ...range, orderBy: 'POWER' }, 'orderBy'],
        [{ ...range, meterStartsWith: 'N' }, 'levelFrom'],
        [{ meterStartsWith: 'N', orderBy: 'LEVEL_DESC' }, 'orderBy'],
      ];
      for (const [list, argument] of lists) {
        const [problem] = (await ask(list)).errors?.[0].extensions.errors ?? [];
        expect([list, problem]).toEqual([
          list,
          { field: argument, message: expect.stringContaining('cannot be combined with') },
        ]);
      }
      const { body } = await rest(app().url, '/v1/readings?levelFrom=2&sort=power', { token: owner.token });
      expect(body.errors).toEqual([
        { field: 'sort', message: 'cannot be combined with levelFrom, which orders the list by level' },
      ]);
      for (const orderBy of ['LEVEL', 'OLDEST', undefined])
        expect(await walk({ ...range, orderBy }, 20)).toEqual(expected({ field: 'level', from: 2 }));
      expect(await follow('levelFrom=2&sort=-level')).toEqual(
        expected({ field: 'level', from: 2, isDescending: true }),
      );
      const byStart = await walk({ meterStartsWith: 'N', orderBy: 'METER_DESC' }, 20);
      expect(byStart).toEqual(await walk({ meterStartsWith: 'N', orderBy: 'NEWEST' }, 20));
    });

    test('Sort-5: REST names an order that it does not know, and its document has those that it knows', async () => {
      for (const query of ['sort=day', 'sort=Power', 'sort=', 'sort=power&sort=level', 'sort=power,level']) {
        const { status, body } = await rest(app().url, `/v1/readings?${query}`, { token: owner.token });
        expect([query, status, body.errors?.[0].field]).toEqual([query, 400, 'sort']);
      }
      const { paths } = (await rest(app().url, '/v1/openapi.json')).body;
      const { parameters } = paths['/readings'].get;
      const { schema } = parameters.find(({ name }: { name: string }) => name === 'sort');
      expect(schema.enum).toEqual(FIELDS.flatMap((field) => [field, `-${field}`]));
      const names = parameters.map(({ name }: { name: string }) => name);
      for (const field of RANGES)
        expect(names).toEqual(expect.arrayContaining([`${field}From`, `${field}Before`]));
    });

    test('Sort-6: no cursor is longer than the document says', async () => {
      const { paths } = (await rest(app().url, '/v1/openapi.json')).body;
      const { schema } = paths['/readings'].get.parameters.find(
        ({ name }: { name: string }) => name === 'cursor',
      );
      for (const field of FIELDS) {
        for (const { cursor } of (await page({ orderBy: nameOf(field), first: 100 })).edges)
          expect(cursor.length).toBeLessThanOrEqual(schema.maxLength);
      }
    });
  },
  { gateway: () => loadGateway(createGateway({ name: 'Readings', nouns: [readings] })) },
);
