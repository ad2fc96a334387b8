import { expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Table } from 'typeorm';
import { createGateway, loadGateway } from '../../src/app/gateway.js';
import { exactCollation, NewTables } from '../../src/ground/migrations/tables.js';
import { defineNoun } from '../../src/noun/define-noun.js';
import { boolean } from '../../src/noun/kinds/boolean.js';
import { choice } from '../../src/noun/kinds/choice.js';
import { dateTime } from '../../src/noun/kinds/date-time.js';
import { int64 } from '../../src/noun/kinds/int64.js';
import { integer } from '../../src/noun/kinds/integer.js';
import { text } from '../../src/noun/kinds/text.js';
import { texts } from '../../src/noun/kinds/texts.js';
import { openLog } from '../support/changes/changes.js';
import { graphql, rest } from '../support/http/client.js';
import { onEachDatabase } from '../support/on-databases.js';

const NOW = Date.parse('2026-11-24T10:00:00Z');
const HOUR_MS = 3_600_000;

const rentals = defineNoun({
  name: 'rental',
  fields: {
    title: text({ max: 40 }),
    dueAt: dateTime({}),
    isBack: boolean({ default: false, filter: true }),
    copies: int64({ default: 1n }),
    shelf: integer({ optional: true }),
    tags: texts({ most: 3, max: 10, default: [] }),
  },
  changes: true,
  actions: (action) => ({ giveBack: action({ run: () => ({ isBack: true }) }) }),
  computed: (computed) => ({
    isLate: computed(boolean({}), ({ dueAt, isBack }, { now }) => !isBack && dueAt < now),
    twice: computed(int64({ label: 'Double' }), ({ copies }) => copies * 2n),
    place: computed(text({ max: 100, optional: true }), ({ shelf, tags, id }) =>
      shelf === null ? null : `${shelf + 1}${tags.join('')}${id > 0n}`,
    ),
  }),
  migrations: async () => [Rentals1790000000006],
});
class Rentals1790000000006 extends NewTables {
  protected readonly tables = [new Table(rentals.table.table)];
  protected override readonly collation = exactCollation;
}

const fields = { title: text({}), shelf: integer({ optional: true }) };
test.each<[string, NonNullable<Parameters<typeof defineNoun<typeof fields>>[0]['computed']>]>([
  ['two fields have the name title', (of) => ({ title: of(text({}), () => '') })],
  ['the platform uses the name id', (of) => ({ id: of(text({}), () => '') })],
  ['the computed field code has the option unique', (of) => ({ code: of(text({ unique: true }), () => '') })],
  ['code has the option filter', (of) => ({ code: of(text({ filter: 'whole' }), () => '') })],
  ['code has the option default', (of) => ({ code: of(text({ default: 'A' }), () => '') })],
  [
    'the computed field code is a choice',
    (of) => ({ code: of(choice({ a: 'A.' }, {}), () => 'a' as const) }),
  ],
])('Computed-1: a computed field that cannot work is refused at once: %s', (problem, computed) => {
  expect(() => defineNoun({ name: 'book', fields, computed })).toThrow(problem);
});

onEachDatabase(
  (app) => {
    const clientOf = (token: string) => ({
      send: (path: string, init = {}) => rest(app().url, `/v1/rentals${path}`, { token, ...init }),
      ask: async (query: string) => (await graphql(app().url, query, { token })).body.data,
    });
    const inMs = (ms: number) => new Date(app().clock.now + ms).toISOString();

    test('Computed-2: every answer of both APIs has the computed fields, and no input has them', async () => {
      const tenant = await app().tenant();
      await openLog(app(), tenant);
      const { send, ask } = clientOf(tenant.token);
      const body = `{"title":"Emma","dueAt":"${inMs(-1)}","copies":4503599627370497,"shelf":3,"tags":["a","b"],"isLate":false}`;
      const made = await send('', { method: 'POST', body });
      const computed = { isLate: true, twice: 9007199254740994n, place: '4abtrue' };
      expect(made).toMatchObject({ status: 201, body: computed });
      const { id } = made.body;
      expect((await send(`/${id}`)).text).toBe(made.text);
      expect((await send('')).text).toBe(`[${made.text}]`);
      const selection = '{ id isLate twice place }';
      const shown = { id: String(id), isLate: true, twice: '9007199254740994', place: '4abtrue' };
      expect(
        await ask(
          `{ rental(id: "${id}") ${selection} rentals { nodes ${selection} edges { node ${selection} } } }`,
        ),
      ).toEqual({
        rental: shown,
        rentals: { nodes: [shown], edges: [{ node: shown }] },
      });
      const patched = await send(`/${id}`, { method: 'PATCH', body: { shelf: null } });
      expect(patched.body).not.toHaveProperty('place');
      expect(await ask(`mutation { updateRental(id: "${id}", input: {copies: "1"}) ${selection} }`)).toEqual({
        updateRental: { ...shown, twice: '2', place: null },
      });
      expect(
        await ask(`mutation { createRentals(inputs: [{title: "A", dueAt: "${inMs(1)}"}]) ${selection} }`),
      ).toMatchObject({
        createRentals: [{ isLate: false, twice: '2', place: null }],
      });
      expect((await send(`/${id}/giveBack`, { method: 'POST' })).body).toMatchObject({ isLate: false });
      const { body: changes } = await send('/changes');
      expect(changes.map(({ rental }: { rental: object }) => rental)).toMatchObject([
        computed,
        { isLate: true },
        { isLate: true, twice: 2 },
        { isLate: false },
        { isLate: false },
      ]);
      const { rentalChanges } = await ask(`{ rentalChanges { nodes { rental ${selection} } } }`);
      expect(rentalChanges.nodes[0].rental).toEqual(shown);
      const refused = await graphql(
        app().url,
        `mutation { createRental(input: {title: "A", dueAt: "${inMs(1)}", isLate: true}) { id } }`,
        { token: tenant.token },
      );
      expect(refused.body.errors[0].message).toContain('"isLate" is not defined');
      const columns = await app().db.execute<object>('SELECT * FROM rentals LIMIT 1', []);
      expect(Object.keys(columns[0] ?? {})).not.toContain('is_late');
    });

    test('Computed-3: an answer is never kept, so it follows the time, and so do its ETag and If-Match', async () => {
      const { send, ask } = clientOf((await app().tenant()).token);
      const made = await send('', { method: 'POST', body: { title: 'Emma', dueAt: inMs(HOUR_MS) } });
      const path = `/${made.body.id}`;
      const list = '{ rentals(isBack: false) { nodes { isLate } } }';
      for (let time = 0; time < 4; time += 1) {
        expect(await ask(list)).toEqual({ rentals: { nodes: [{ isLate: false }] } });
        expect((await send('')).body).toMatchObject([{ isLate: false }]);
      }
      const tag = (await send(path)).headers.get('etag') as string;
      app().clock.now += 2 * HOUR_MS;
      expect(await ask(list)).toEqual({ rentals: { nodes: [{ isLate: true }] } });
      expect((await send('')).body).toMatchObject([{ isLate: true }]);
      expect((await send(path, { headers: { 'if-none-match': tag } })).status).toBe(200);
      const patch = (ifMatch: string) =>
        send(path, { method: 'PATCH', body: { shelf: 1 }, headers: { 'if-match': ifMatch } });
      expect((await patch(tag)).status).toBe(412);
      expect((await patch((await send(path)).headers.get('etag') as string)).status).toBe(200);
    });

    test('Computed-4: the examples of OpenAPI have the computed fields, and fit their schemas', async () => {
      const { components, paths } = (await rest(app().url, '/v1/openapi.json')).body;
      expect(components.schemas.Rental.required).toEqual(expect.arrayContaining(['isLate', 'twice']));
      expect(components.schemas.NewRental.properties).not.toHaveProperty('isLate');
      expect(paths['/rentals'].get.parameters.map(({ name }: { name: string }) => name)).toEqual([
        'limit',
        'isBack',
        'cursor',
      ]);
      const ajv = new Ajv2020({ strict: false, validateFormats: false });
      const { examples } = paths['/rentals'].get.responses['200'].content['application/json'];
      const schema = { ...components.schemas.Rentals, items: components.schemas.Rental };
      for (const { value } of Object.values<{ value: unknown }>(examples))
        expect(ajv.validate(schema, value)).toBe(true);
    });
  },
  { now: NOW, gateway: () => loadGateway(createGateway({ name: 'Rentals', nouns: [rentals] })) },
);
