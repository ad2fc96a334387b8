import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createGateway, loadGateway } from '../../src/app/gateway.js';
import { fileLines } from '../../src/tenants/files/file-lines.js';
import { openRecordFile } from '../../src/tenants/files/record-file.js';
import { graphql, rest } from '../support/http/client.js';
import { shipments } from '../support/nouns/shipments.js';
import { onEachDatabase } from '../support/on-databases.js';
import { TEST_ACTOR, type Tenant } from '../support/start-app.js';

const PATH = '/v1/shipments';
const DUE = '2026-12-24T18:00:00.000Z';
/** By the text that is sent: the text in every answer. */
const TIMES = {
  '2026-11-24T10:00:00Z': '2026-11-24T10:00:00.000Z',
  '2026-11-24t10:00:00.5z': '2026-11-24T10:00:00.500Z',
  '2026-11-24T10:00:00.123000+02:00': '2026-11-24T08:00:00.123Z',
  '2026-11-24T00:30:00-23:59': '2026-11-25T00:29:00.000Z',
  '2024-02-29T23:59:59.999Z': '2024-02-29T23:59:59.999Z',
  '0001-01-01T00:00:00Z': '0001-01-01T00:00:00.000Z',
  '1969-12-31T23:59:59.999Z': '1969-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59.998Z': '9999-12-31T23:59:59.998Z',
};
const NO_TIMES = [
  '2016-12-31T23:59:60Z',
  '2026-11-24T24:00:00Z',
  '2026-02-29T00:00:00Z',
  '2026-11-24T10:00:00',
  '2026-11-24 10:00:00Z',
  '2026-11-24',
  '2026-11-24T10:00:00.1234Z',
  '2026-11-24T10:00:00+24:00',
  '0000-12-31T23:59:59Z',
  '0001-01-01T00:00:00+00:01',
  '9999-12-31T23:59:59-00:01',
  '+010000-01-01T00:00:00Z',
  '1764000000000',
  '',
];
const WHOLE = '1234567890123456789012345678';
const DECIMALS = {
  '0': '0.0000000000',
  '-0': '0.0000000000',
  '-0.0': '0.0000000000',
  '12.5': '12.5000000000',
  '0012.50': '12.5000000000',
  '-12.5': '-12.5000000000',
  '0.1': '0.1000000000',
  [`${WHOLE}.0123456789`]: `${WHOLE}.0123456789`,
  [`-${WHOLE}.0123456789`]: `-${WHOLE}.0123456789`,
  [`${'9'.repeat(28)}.${'9'.repeat(10)}`]: `${'9'.repeat(28)}.${'9'.repeat(10)}`,
  [`-${'9'.repeat(28)}.${'9'.repeat(10)}`]: `-${'9'.repeat(28)}.${'9'.repeat(10)}`,
  '-0.0000000001': '-0.0000000001',
};
const NO_DECIMALS = [
  '',
  '.5',
  '5.',
  '1e3',
  '+1',
  ' 1',
  '1,5',
  '٣',
  '0x1',
  'NaN',
  `1${'0'.repeat(28)}`,
  '0.00000000001',
  'p1',
  '--1',
];
const LISTS = [
  [],
  ['gift'],
  ['b', 'a', 'B', 'ä', 'a '],
  ['"quoted", with a comma', "it's", '\\', 'two\nlines', '=1+1', '\u0001\u007f', '😀𠮷', 'null', '[]'],
  Array.from({ length: 10 }, (_, at) => `${at}`.padEnd(40, '\u0001')),
];
const NO_LISTS = [
  ['a', 'a'],
  [''],
  [' '],
  ['x'.repeat(41)],
  [1],
  [null],
  [['a']],
  Array(11).fill(0).map(String),
  'a',
  { 0: 'a' },
];

onEachDatabase(
  (app) => {
    let tenant: Tenant;
    beforeEach(async () => {
      tenant = await app().tenant();
    });
    const send = (path: string, init = {}) => rest(app().url, path, { token: tenant.token, ...init });
    const ask = async (query: string, variables = {}) =>
      (await graphql(app().url, query, { token: tenant.token, variables })).body;
    let next = 0;
    const input = (values: object) => {
      next += 1;
      return { trackingCode: `PX${next}`, dueAt: DUE, ...values };
    };
    const FIELDS =
      'id trackingCode fragile insured deliveredAt dueAt tags stops weightKg balance packedAt orderedOn carrier';
    const create = (values: object) => send(PATH, { method: 'POST', body: input(values) });
    const createOverGraphQL = (values: object) =>
      ask(`mutation($input: NewShipment!) { it: createShipment(input: $input) { ${FIELDS} } }`, {
        input: input(values),
      });
    /** The value of a field in each answer to the creation and after it. */
    const shown = async (field: string, value: unknown) => {
      const made = await create({ [field]: value });
      const { it } = (await createOverGraphQL({ [field]: value })).data;
      const read = (await send(`${PATH}/${it.id}`)).body;
      const listed = (await send(`${PATH}?limit=100`)).body.slice(-2);
      const { one, all } = (
        await ask(
          `{ one: shipment(id: "${made.body.id}") { ${field} } all: shipments(orderBy: NEWEST, first: 2) { nodes { ${field} } } }`,
        )
      ).data;
      return [made.body, it, read, ...listed, one, ...all.nodes].map((record) => record[field]);
    };
    const refused = async (field: string, value: unknown) => {
      const { status, body } = await create({ [field]: value });
      const { errors } = await createOverGraphQL({ [field]: value });
      return [status, body.errors?.[0]?.field, errors?.[0]?.extensions.code];
    };

    test.each(Object.entries(TIMES))('Kinds-1: the time %s is %s in every answer', async (sent, answered) => {
      expect(new Set(await shown('dueAt', sent))).toEqual(new Set([answered]));
    });

    test.each(NO_TIMES)(
      'Kinds-2: "%s" is no time that every database keeps, and is refused by name',
      async (value) => {
        const [status, field, code] = await refused('dueAt', value);
        expect([status, field]).toEqual([400, 'dueAt']);
        // GraphQL itself refuses a text that is no DateTime.
        expect(['INVALID_REQUEST', 'BAD_USER_INPUT']).toContain(code);
      },
    );

    test('Kinds-16: over GraphQL a moment keeps its last digit, and what is no moment removes none', async () => {
      const { body } = await create({ deliveredAt: DUE });
      const change = (value: string) =>
        ask(
          `mutation { it: updateShipment(id: "${body.id}", input: { deliveredAt: ${value} }) { deliveredAt } }`,
        );
      for (const wrong of ['"2026-11-24T10:00:00.1234Z"', '"tomorrow"', '{ a: 1 }', '[]', '5', 'true']) {
        expect([wrong, (await change(wrong)).errors?.length]).toEqual([wrong, 1]);
      }
      expect((await send(`${PATH}/${body.id}`)).body.deliveredAt).toBe(DUE);
      expect((await change('"2026-11-24T10:00:00.1230+01:00"')).data.it.deliveredAt).toBe(
        '2026-11-24T09:00:00.123Z',
      );
    });

    test('Kinds-3: a list of texts keeps its order and each character, also when it is empty', async () => {
      for (const list of LISTS) {
        for (const value of await shown('tags', list)) expect(value).toEqual(list);
      }
    });

    test('Kinds-4: a list with a repeated, empty, long or foreign entry is refused by name', async () => {
      for (const list of NO_LISTS) {
        const [status, field, code] = await refused('tags', list);
        expect([list, status, field]).toEqual([list, 400, 'tags']);
        // GraphQL reads one text as a list of one. It refuses other types itself.
        if (list !== 'a')
          expect([list, ['INVALID_REQUEST', 'BAD_USER_INPUT'].includes(code)]).toEqual([list, true]);
      }
    });

    test.each(Object.entries(DECIMALS))(
      'Kinds-12: the decimal %s is %s in every answer',
      async (sent, answered) => {
        expect(new Set(await shown('balance', sent))).toEqual(new Set([answered]));
      },
    );

    test('Kinds-13: what is no decimal with these digits is refused by name, a number of JSON too', async () => {
      for (const value of NO_DECIMALS) {
        expect([value, ...(await refused('balance', value))]).toEqual([
          value,
          400,
          'balance',
          'INVALID_REQUEST',
        ]);
      }
      const { status, body } = await create({ balance: 1.5 });
      expect([status, body.errors[0].field]).toEqual([400, 'balance']);
    });

    test('Kinds-14: bounds of decimals, days and moments are exact, in both APIs, and the document has them', async () => {
      const bounds = {
        weightKg: { good: ['0.001', '999999.999'], wrong: ['0', '0.000', '-1', '1000000'] },
        orderedOn: { good: ['2000-01-01', '2099-12-31'], wrong: ['1999-12-31', '2100-01-01'] },
        packedAt: {
          good: ['2000-01-01T00:00:00Z', '1999-12-31T23:00:00-01:00', '2100-01-01T00:00:00.000Z'],
          wrong: ['1999-12-31T23:59:59.999Z', '2100-01-01T00:00:00.001Z', '2000-01-01T00:00:00+00:01'],
        },
      };
      const { components } = (await rest(app().url, '/v1/openapi.json')).body;
      for (const [field, { good, wrong }] of Object.entries(bounds)) {
        for (const value of good)
          expect([value, new Set(await shown(field, value)).size]).toEqual([value, 1]);
        for (const value of wrong)
          expect([value, ...(await refused(field, value))]).toEqual([value, 400, field, 'INVALID_REQUEST']);
        const shownBounds = components.schemas.NewShipment.properties[field];
        expect(shownBounds).toMatchObject({ 'x-minimum': good[0], 'x-maximum': expect.any(String) });
      }
    });

    test('Kinds-5: a list is filtered by true, by false, and not by what is neither', async () => {
      const values = [{ fragile: true }, {}, { fragile: true, insured: true }, { insured: false }];
      const ids: string[] = [];
      for (const each of values) ids.push(String((await create(each)).body.id));
      const at = (...places: number[]) => places.map((place) => ids[place]);
      const lists: [query: string, args: string, expected: unknown][] = [
        ['fragile=true', 'fragile: true', at(0, 2)],
        ['fragile=false', 'fragile: false', at(1, 3)],
        ['insured=false', 'insured: false', at(3)],
        ['insured=true&fragile=true', 'insured: true, fragile: true', at(2)],
        ['', 'insured: null', at(0, 1, 2, 3)],
      ];
      for (const [query, args, expected] of lists) {
        const records = (await send(`${PATH}?${query}`)).body;
        expect([query, records.map(({ id }: { id: number }) => String(id))]).toEqual([query, expected]);
        const bound = `ids: [${ids.map((id) => `"${id}"`)}]`;
        const { data } = await ask(
          `{ a: shipments(${args}) { nodes { id } } b: shipments(${args}, ${bound}) { nodes { id } } n: shipmentCount(${args}) }`,
        );
        const idsOf = ({ nodes }: { nodes: { id: string }[] }) => nodes.map(({ id }) => id);
        expect([args, idsOf(data.a), idsOf(data.b), data.n]).toEqual([
          args,
          expected,
          expected,
          (expected as []).length,
        ]);
      }
      for (const wrong of ['1', 'True', 'yes', '']) {
        expect((await send(`${PATH}?fragile=${wrong}`)).body.errors[0]).toMatchObject({ field: 'fragile' });
      }
      const next = await send(`${PATH}?fragile=false&limit=1`);
      expect(next.headers.get('link')).toContain('limit=1&fragile=false&cursor=');
    });

    test('Kinds-6: a field without a value is absent in REST and null in GraphQL; null removes a value', async () => {
      const { body } = await create({ insured: false, stops: ['A'], deliveredAt: DUE });
      expect(body).toMatchObject({
        insured: false,
        stops: ['A'],
        deliveredAt: DUE,
        fragile: false,
        tags: [],
      });
      const removed = { insured: null, stops: null, deliveredAt: null };
      const changed = await send(`${PATH}/${body.id}`, { method: 'PATCH', body: removed });
      for (const name of Object.keys(removed)) expect(changed.body).not.toHaveProperty(name);
      expect((await ask(`{ it: shipment(id: "${body.id}") { insured stops deliveredAt } }`)).data.it).toEqual(
        removed,
      );
      for (const name of ['fragile', 'tags', 'dueAt']) {
        const answer = await send(`${PATH}/${body.id}`, { method: 'PATCH', body: { [name]: null } });
        expect([name, answer.status, answer.body.errors[0].field]).toEqual([name, 400, name]);
      }
    });

    test('Kinds-7: a rule across fields sees the values as the APIs have them, at a creation and at a change', async () => {
      expect((await create({ deliveredAt: '1999-12-31T23:00:00-02:00' })).status).toBe(201);
      expect((await create({ deliveredAt: '1999-12-31T23:00:00Z' })).body.errors).toEqual([
        { field: 'deliveredAt', message: 'is before 2000' },
      ]);
      const { body } = await create({ tags: ['gold'] });
      const change = (values: object) => send(`${PATH}/${body.id}`, { method: 'PATCH', body: values });
      expect((await change({ insured: false })).body.errors[0]).toMatchObject({ field: 'insured' });
      expect((await change({ insured: true })).status).toBe(200);
    });

    test('Kinds-8: the payload of an Idempotency-Key has every kind', async () => {
      const values = { fragile: true, tags: ['a', 'b'], deliveredAt: DUE };
      const body = input(values);
      const post = (key: string, sent: object) =>
        send(PATH, { method: 'POST', body: sent, headers: { 'idempotency-key': key } });
      const first = await post('one', body);
      // The same moment and the same default: the same payload.
      const again = await post('one', { ...body, deliveredAt: '2026-12-24T19:00:00+01:00' });
      expect([again.status, again.text]).toEqual([201, first.text]);
      for (const other of [
        { fragile: false },
        { tags: ['b', 'a'] },
        { tags: [] },
        { deliveredAt: undefined },
      ]) {
        expect([other, (await post('one', { ...body, ...other })).status]).toEqual([other, 422]);
      }
    });

    test('Kinds-9: a change log has the values of each kind, and no entry for a change to the same', async () => {
      await app().app.services.projects.change(TEST_ACTOR, tenant.slug, { isLogged: true });
      app().clock.now += 60_000;
      const { body } = await create({ fragile: true, tags: ['a', 'b'], deliveredAt: DUE });
      const change = (values: object) => send(`${PATH}/${body.id}`, { method: 'PATCH', body: values });
      await change({ tags: ['a', 'b'], fragile: true, deliveredAt: '2026-12-24T19:00:00+01:00' });
      await change({ tags: ['b', 'a'] });
      const changes = (await send(`${PATH}/changes`)).body;
      expect(
        changes.map(({ kind, shipment }: { kind: string; shipment: { tags: string[] } }) => [
          kind,
          shipment.tags,
        ]),
      ).toEqual([
        ['created', ['a', 'b']],
        ['updated', ['b', 'a']],
      ]);
      expect(changes[0].shipment).toEqual(body);
      const { data } = await ask(
        '{ shipmentChanges(fragile: true) { nodes { shipment { fragile deliveredAt tags } } } }',
      );
      expect(data.shipmentChanges.nodes[1].shipment).toEqual({
        fragile: true,
        deliveredAt: DUE,
        tags: ['b', 'a'],
      });
    });

    describe('in files', () => {
      let folder: string;
      beforeAll(async () => {
        folder = await mkdtemp(join(tmpdir(), 'petstore-kinds-'));
      });
      afterAll(() => rm(folder, { recursive: true }));
      const { fields } = shipments.description;
      const files = () => app().app.services.filesOf('shipments');
      const { signal } = new AbortController();
      const onWait = () => {};

      const exported = async (projectId: bigint, path: string, format: 'csv' | 'ndjson') => {
        const { start, line } = fileLines(fields, format);
        let text = start;
        for await (const records of files().exports.pages(projectId, { signal, onWait })) {
          text += records.map(line).join('');
        }
        await writeFile(path, text);
        // Each import assigns new ids.
        return text.replaceAll(/^(\{"id":)?\d+,/gm, '');
      };
      const imported = async (projectId: bigint, path: string) => {
        const file = await openRecordFile(path, process.stdin, fields);
        const start = {
          mode: 'new',
          names: { path, slug: 'x' },
          reportPath: `${path}.refused`,
          mayBegin: () => {},
          onWait,
        } as const;
        const progress = await files().imports.begin(projectId, file, start);
        const refused: string[] = [];
        const report = (rows: { text: string }[]) => refused.push(...rows.map(({ text }) => text));
        await files().imports.run(TEST_ACTOR, {
          file,
          progress,
          signal,
          onWait,
          report,
          onProgress: () => {},
        });
        file.stop();
        return refused;
      };

      test.each(['csv', 'ndjson'] as const)(
        'Kinds-10: export, import and export to %s give the same bytes',
        async (format) => {
          for (const sent of Object.keys(TIMES))
            await create({ deliveredAt: sent > '1' ? DUE : null, dueAt: sent });
          for (const tags of LISTS)
            await create({ tags, stops: tags.slice(0, 2).map((tag) => tag.slice(0, 20)) });
          for (const balance of Object.keys(DECIMALS)) await create({ balance, weightKg: '0.001' });
          for (const insured of [true, false]) await create({ insured, fragile: !insured });
          const first = await exported(tenant.projectId, join(folder, `one.${format}`), format);
          const { projectId } = await app().tenant();
          expect(await imported(projectId, join(folder, `one.${format}`))).toEqual([]);
          expect(await exported(projectId, join(folder, `two.${format}`), format)).toBe(first);
          const lines = (await readFile(join(folder, `two.${format}`), 'utf8')).split('\n');
          if (format === 'ndjson') {
            const id = /\d+/.exec(lines[0] as string)?.[0];
            const { body } = await send(`${PATH}?limit=1`);
            expect(JSON.parse(lines[0] as string)).toEqual({ ...body[0], id: Number(id) });
          }
        },
      );

      test('Kinds-11: a row with a wrong value is refused with its reason, as the APIs refuse it', async () => {
        const path = join(folder, 'wrong.csv');
        const rows = [
          'A,true,2026-02-30T00:00:00Z,[]',
          'B,yes,2026-12-24T18:00:00Z,[]',
          'C,false,2026-12-24T18:00:00Z,gift',
          'D,,2026-12-24T18:00:00Z,',
        ];
        await writeFile(path, `trackingCode,fragile,dueAt,tags\n${rows.join('\n')}\n`);
        const refused = await imported(tenant.projectId, path);
        expect(refused).toEqual([
          expect.stringContaining('dueAt must be a time'),
          expect.stringContaining('fragile must be true or false'),
          expect.stringContaining('tags must be a list'),
        ]);
        expect((await send(PATH)).body).toMatchObject([{ trackingCode: 'D', fragile: false, tags: [] }]);
      });
    });
  },
  { gateway: () => loadGateway(createGateway({ name: 'Shipments', nouns: [shipments] })) },
);
