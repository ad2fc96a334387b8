import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { loadGateway } from '../../src/app/gateway.js';
import { Output } from '../../src/cli/output.js';
import { runProgram } from '../../src/cli/program.js';
import { openLog } from '../support/changes/changes.js';
import { graphql, rest } from '../support/http/client.js';
import { BOXES_GATEWAY } from '../support/nouns/boxes.js';
import { onEachDatabase } from '../support/on-databases.js';
import type { Tenant } from '../support/start-app.js';

type Input = Readonly<Record<string, unknown>>;

const LIST = `query ($first: Int, $after: String, $ids: [ID!], $orderBy: BoxOrder, $tags: String, $stops: String, $carrier: BoxCarrier, $fragile: Boolean, $rackId: ID, $code: String, $titleStartsWith: String) {
  boxes(first: $first, after: $after, ids: $ids, orderBy: $orderBy, tags: $tags, stops: $stops, carrier: $carrier, fragile: $fragile, rackId: $rackId, code: $code, titleStartsWith: $titleStartsWith) {
    nodes { id } pageInfo { hasNextPage endCursor }
  }
}`;

onEachDatabase(
  (app) => {
    let tenant: Tenant;
    let codes = 0;
    beforeEach(async () => {
      tenant = await app().tenant();
    });

    const ask = async (query: string, variables: Input = {}) =>
      (await graphql(app().url, query, { token: tenant.token, variables })).body;
    const done = async (query: string, variables: Input = {}) => {
      const { data, errors } = await ask(query, variables);
      expect([query, variables, errors]).toEqual([query, variables, undefined]);
      return data;
    };
    const boxOf = (input: Input) => {
      codes += 1;
      return { title: 'Box', code: `C${codes}`, ...input };
    };
    const make = async (input: Input): Promise<string> => {
      const made = await done('mutation ($input: NewBox!) { it: createBox(input: $input) { id } }', {
        input: boxOf(input),
      });
      return made.it.id;
    };
    const makeAll = async (inputs: readonly Input[]): Promise<string[]> => {
      const query = 'mutation ($inputs: [NewBox!]!) { it: createBoxes(inputs: $inputs) { id } }';
      const { it } = await done(query, { inputs: inputs.map(boxOf) });
      return it.map(({ id }: { id: string }) => id);
    };
    const change = (id: string, input: Input) =>
      done('mutation ($id: ID!, $input: BoxChanges!) { updateBox(id: $id, input: $input) { id } }', {
        id,
        input,
      });
    const remove = (id: string) => done(`mutation { deleteBox(id: "${id}") { id } }`);
    const idsOf = (nodes: readonly { id: unknown }[]) => nodes.map(({ id }) => String(id));
    /** The ids of a list through both APIs, and its number, which agree. */
    const found = async (filter: Input): Promise<string[]> => {
      const { boxes } = await done(LIST, { first: 100, ...filter });
      const ids = idsOf(boxes.nodes);
      const query = new URLSearchParams(
        Object.entries({ limit: 100, ...filter }).map(([name, value]): [string, string] => [
          name,
          String(value),
        ]),
      );
      const { body } = await rest(app().url, `/v1/boxes?${query}`, { token: tenant.token });
      expect([filter, idsOf(body)]).toEqual([filter, ids]);
      const given = Object.entries(filter).map(([name, value]) =>
        name === 'carrier' ? `${name}: ${value}` : `${name}: ${JSON.stringify(value)}`,
      );
      const { boxCount } = await done(`{ boxCount(${given.join(', ')}) }`);
      expect([filter, boxCount]).toEqual([filter, ids.length]);
      return ids;
    };

    test('Has-1: a list of a text has exactly the records whose list has it: case, accents and trailing spaces differ', async () => {
      const texts = [
        'gift',
        'Gift',
        'gíft',
        'gift ',
        ' gift',
        'gi',
        'gift\t',
        '🎁',
        "g'i\\ft",
        '%',
        '"',
        '[]',
      ];
      const ids = await makeAll(texts.map((one) => ({ tags: [one, 'common'] })));
      for (const [at, one] of texts.entries())
        expect([one, await found({ tags: one })]).toEqual([one, [ids[at]]]);
      expect(await found({ tags: 'common' })).toEqual(ids);
      for (const one of ['gif', 'GIFT', 'common ', '["gift"]', '_'])
        expect([one, await found({ tags: one })]).toEqual([one, []]);
      expect(await found({ stops: 'gift' })).toEqual([]);
      const other = await app().tenant();
      const { body } = await rest(app().url, '/v1/boxes?tags=common', { token: other.token });
      expect(body).toEqual([]);
    });

    test('Has-2: each of ten texts finds the record, one of the longest too; a text twice in a list is refused', async () => {
      const ten = Array.from({ length: 10 }, (_, at) => `${at}`.padEnd(40, 'é'));
      const id = await make({ tags: ten, stops: ['Rom', 'Ulm'] });
      await make({ tags: [] });
      for (const one of ten) expect(await found({ tags: one })).toEqual([id]);
      expect(await found({ stops: 'Ulm' })).toEqual([id]);
      const body = JSON.stringify(boxOf({ tags: ['a', 'a'] }));
      const refused = await rest(app().url, '/v1/boxes', { method: 'POST', token: tenant.token, body });
      expect([refused.status, refused.body.errors[0].field]).toEqual([400, 'tags']);
      expect(await found({ tags: 'a' })).toEqual([]);
    });

    test('Has-3: a change of the list moves the record, and a change of another field keeps it', async () => {
      for (const isLogged of [false, true]) {
        if (isLogged) await openLog(app(), tenant);
        const id = await make({ tags: ['a', 'b'], stops: ['x'] });
        await change(id, { tags: ['b', 'c'] });
        expect([await found({ tags: 'a' }), await found({ tags: 'b' }), await found({ tags: 'c' })]).toEqual([
          [],
          [id],
          [id],
        ]);
        await change(id, { title: 'Other', weight: 7 });
        expect([await found({ tags: 'b' }), await found({ stops: 'x' })]).toEqual([[id], [id]]);
        await change(id, { stops: null, tags: [] });
        expect([await found({ tags: 'b' }), await found({ stops: 'x' })]).toEqual([[], []]);
      }
    });

    test('Has-17: what a process of an earlier release left out, or left behind, follows with the next change of the record', async () => {
      const [missing, stale] = [await make({ tags: ['kept'] }), await make({ tags: ['kept'] })];
      const having = 'has_boxes_tags';
      await app().db.execute(`DELETE FROM ${having} WHERE id = ?`, [BigInt(missing)]);
      await app().db.execute(`UPDATE ${having} SET tags = 'new' WHERE id = ?`, [BigInt(stale)]);
      expect(await found({ tags: 'kept' })).toEqual([]);
      for (const id of [missing, stale]) await change(id, { tags: ['kept', 'new'] });
      for (const tags of ['kept', 'new']) expect(await found({ tags })).toEqual([missing, stale].sort());
    });

    test('Has-4: an action, a hook and a PATCH move the record too; a refused change moves nothing', async () => {
      const id = await make({ tags: ['a'] });
      await done(`mutation { markBox(id: "${id}", input: {tag: "marked"}) { id } }`);
      expect(await found({ tags: 'marked' })).toEqual([id]);
      await change(id, { weight: 101 });
      expect(await found({ tags: 'hook' })).toEqual([id]);
      const heavy = await make({ tags: [], weight: 200 });
      expect(await found({ tags: 'hook' })).toEqual([id, heavy]);
      const patched = await rest(app().url, `/v1/boxes/${id}`, {
        method: 'PATCH',
        token: tenant.token,
        body: '{"tags":["patched"],"weight":1}',
        headers: { 'content-type': 'application/merge-patch+json' },
      });
      expect(patched.status).toBe(200);
      expect([await found({ tags: 'patched' }), await found({ tags: 'marked' })]).toEqual([[id], []]);
      const { errors } = await ask(
        `mutation { updateBox(id: "${id}", input: {title: "refused", tags: ["no"]}) { id } }`,
      );
      expect(errors[0].extensions.code).toBe('INVALID_REQUEST');
      expect([await found({ tags: 'no' }), await found({ tags: 'patched' })]).toEqual([[], [id]]);
    });

    test('Has-5: a deleted record is in no list of a text, and its restoration brings it back', async () => {
      const id = await make({ tags: ['a'], stops: ['x'] });
      await remove(id);
      expect([await found({ tags: 'a' }), await found({ stops: 'x' })]).toEqual([[], []]);
      await done(`mutation { restoreBox(id: "${id}") { id } }`);
      expect([await found({ tags: 'a' }), await found({ stops: 'x' })]).toEqual([[id], [id]]);
      await remove(id);
      expect(await found({ tags: 'a' })).toEqual([]);
    });

    test('Has-6: pages follow each other by their cursor, in both orders, and a cursor belongs to its text', async () => {
      const ids = await makeAll(
        Array.from({ length: 30 }, (_, at) => ({ tags: at % 3 === 0 ? ['a', 'b'] : ['b'] })),
      );
      const third = ids.filter((_, at) => at % 3 === 0);
      for (const orderBy of ['OLDEST', 'NEWEST']) {
        const seen: string[] = [];
        let after: string | null = null;
        do {
          const {
            boxes,
          }: { boxes: { nodes: { id: string }[]; pageInfo: { endCursor: string; hasNextPage: boolean } } } =
            await done(LIST, { first: 4, tags: 'a', orderBy, after });
          seen.push(...idsOf(boxes.nodes));
          after = boxes.pageInfo.hasNextPage ? boxes.pageInfo.endCursor : null;
          if (after === null) continue;
          for (const other of [{ tags: 'b' }, { stops: 'a' }, { tags: 'a', carrier: 'dhl' }, {}]) {
            const { errors } = await ask(LIST, { first: 4, orderBy, after, ...other });
            expect(errors[0].extensions.errors[0].field).toBe('after');
          }
        } while (after !== null);
        expect(seen).toEqual(orderBy === 'OLDEST' ? third : third.toReversed());
      }
      const seen: string[] = [];
      for (let next: string | null = '/v1/boxes?limit=3&tags=a'; next !== null; ) {
        const page: Awaited<ReturnType<typeof rest>> = await rest(app().url, next, { token: tenant.token });
        seen.push(...idsOf(page.body));
        next = /<[^>]*(\/v1[^>]*)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1] ?? null;
      }
      expect(seen).toEqual(third);
    });

    test('Has-7: the filter is combined with each other filter by value, with ids and with the newest first', async () => {
      const rack = (await done('mutation { createRack(input: {place: "A"}) { id } }')).createRack.id;
      const inputs: Input[] = [
        { tags: ['a'], carrier: 'dhl', fragile: true, rackId: rack },
        { tags: ['a'], carrier: 'dhl' },
        { tags: ['a'], carrier: 'ups', fragile: true },
        { tags: ['b'], carrier: 'dhl', fragile: true, rackId: rack },
        { tags: ['a', 'b'], rackId: rack, code: 'unique' },
      ];
      const ids = await makeAll(inputs);
      const at = (...places: number[]) => places.map((place) => ids[place]);
      expect(await found({ tags: 'a', carrier: 'dhl' })).toEqual(at(0, 1));
      expect(await found({ tags: 'a', fragile: true })).toEqual(at(0, 2));
      expect(await found({ tags: 'a', fragile: false, carrier: 'dhl' })).toEqual(at(1));
      expect(await found({ tags: 'a', rackId: rack })).toEqual(at(0, 4));
      expect(await found({ tags: 'b', rackId: rack, carrier: 'dhl', fragile: true })).toEqual(at(3));
      expect(await found({ tags: 'a', code: 'unique' })).toEqual(at(4));
      expect(await found({ tags: 'c', code: 'unique' })).toEqual([]);
      const { boxes } = await done(LIST, { tags: 'a', ids: at(4, 3, 2), orderBy: 'NEWEST' });
      expect(idsOf(boxes.nodes)).toEqual(at(4, 2));
      // The values of the other filters move it too.
      await change(ids[0] as string, { carrier: 'ups', fragile: false });
      expect(await found({ tags: 'a', carrier: 'dhl' })).toEqual(at(1));
      expect(await found({ tags: 'a', carrier: 'ups' })).toEqual(at(0, 2));
      await done(`mutation { deleteRack(id: "${rack}") { id } }`);
      expect([await found({ tags: 'a', rackId: rack }), await found({ tags: 'b' })]).toEqual([[], at(3, 4)]);
      expect(await found({ tags: 'b', carrier: 'dhl' })).toEqual(at(3));
      await remove(ids[4] as string);
      expect(await found({ tags: 'b' })).toEqual(at(3));
    });

    test('Has-8: an order by a field, the start of a text and a second text are refused by name', async () => {
      const refusals: [variables: Input, field: string, message: string][] = [
        [{ tags: 'a', orderBy: 'WEIGHT' }, 'tags', 'cannot be combined with an order by weight'],
        [{ tags: 'a', titleStartsWith: 'B' }, 'tags', 'cannot be combined with an order by title'],
        [{ tags: 'a', stops: 'b' }, 'stops', 'cannot be combined with tags'],
      ];
      for (const [variables, field, message] of refusals) {
        const { errors } = await ask(LIST, variables);
        expect([variables, errors?.[0].extensions.errors]).toEqual([variables, [{ field, message }]]);
      }
      for (const [query, field] of [
        ['tags=a&sort=-weight', 'tags'],
        ['tags=a&stops=b', 'stops'],
        ['tags=', 'tags'],
        [`tags=${'x'.repeat(41)}`, 'tags'],
        ['tags=%20', 'tags'],
        ['tags=a&tags=b', 'tags'],
      ] as const) {
        const { status, body } = await rest(app().url, `/v1/boxes?${query}`, { token: tenant.token });
        expect([query, status, body.errors?.[0].field]).toEqual([query, 400, field]);
      }
    });

    test('Has-9: an answer from memory has each change, and changes are filtered by the text too', async () => {
      await openLog(app(), tenant);
      const path = '/v1/boxes?tags=a';
      const listed = async () => idsOf((await rest(app().url, path, { token: tenant.token })).body);
      const first = await make({ tags: ['a'] });
      for (let time = 0; time < 4; time += 1) expect(await listed()).toEqual([first]);
      const { boxes } = await done('{ boxes { changesCursor } }');
      const second = await make({ tags: ['a', 'b'] });
      expect(await listed()).toEqual([first, second]);
      await change(first, { tags: ['b'] });
      expect(await listed()).toEqual([second]);
      await make({ tags: ['c'] });
      const { boxChanges } = await done(
        `{ boxChanges(tags: "a", after: "${boxes.changesCursor}") { nodes { kind box { id } } } }`,
      );
      expect(boxChanges.nodes).toEqual([
        { kind: 'CREATED', box: { id: second } },
        { kind: 'UPDATED', box: { id: first } },
      ]);
    });

    test('Has-10: an import from a file lists its records by their texts', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'petstore-test-'));
      const before = process.env;
      try {
        const file = join(folder, 'boxes.ndjson');
        const rows = Array.from({ length: 700 }, (_, at) =>
          JSON.stringify({ title: 'Box', code: `I${at}`, tags: [`n${at % 100}`, 'all'], carrier: 'dhl' }),
        );
        await writeFile(file, `${rows.join('\n')}\n{"title":"Heavy","code":"I","weight":101}\n`);
        process.env = { ...before, DATABASE_URL: databaseUrlOf() };
        const sink = { write: () => {} };
        const output = new Output(false, { stdout: sink, stderr: sink });
        expect(await runProgram(BOXES_GATEWAY, ['boxes', 'import', tenant.slug, file], output)).toBe(0);
      } finally {
        process.env = before;
        await rm(folder, { recursive: true });
      }
      expect(await found({ tags: 'n42' })).toHaveLength(7);
      expect(await found({ tags: 'hook' })).toHaveLength(1);
      expect((await done('{ boxCount(tags: "all", carrier: dhl) }')).boxCount).toBe(700);
    });

    test('Has-11: of two updates at the same time the lists of texts follow the last one', async () => {
      const id = await make({ tags: ['start'] });
      for (let round = 0; round < 3; round += 1) {
        const writes = Array.from({ length: 4 }, (_, at) =>
          at % 2
            ? `updateBox(id: "${id}", input: {tags: ["r${round}", "w${at}"]}) { id }`
            : `markBox(id: "${id}", input: {tag: "m${at}"}) { id }`,
        );
        await Promise.all(writes.map((write) => done(`mutation { ${write} }`)));
        const { box } = await done(`{ box(id: "${id}") { tags } }`);
        const all = ['start', `r${round - 1}`, `r${round}`, 'w1', 'w3', 'm0', 'm2'];
        const having: string[] = [];
        for (const tag of all) if ((await found({ tags: tag })).length === 1) having.push(tag);
        expect(having.toSorted()).toEqual(box.tags.toSorted());
        app().clock.now += 5_000;
      }
    });

    test('Has-12: a write that fails in its transaction leaves no text behind, and stores none without the record', async () => {
      await make({ tags: ['kept'], code: 'taken' });
      const inputs = [boxOf({ tags: ['lost'] }), boxOf({ tags: ['lost'], code: 'taken' })];
      const { errors } = await ask('mutation ($inputs: [NewBox!]!) { createBoxes(inputs: $inputs) { id } }', {
        inputs,
      });
      expect(errors[0].extensions.code).toBe('CONFLICT');
      const id = await make({ tags: ['mine'] });
      const refused = await ask(
        `mutation { updateBox(id: "${id}", input: {tags: ["lost"], code: "taken"}) { id } }`,
      );
      expect(refused.errors[0].extensions.code).toBe('CONFLICT');
      expect([await found({ tags: 'lost' }), await found({ tags: 'mine' })]).toEqual([[], [id]]);
      const sql = 'SELECT tags FROM has_boxes_tags WHERE project_id = ?';
      const rows = await app().db.execute<{ tags: string }>(sql, [tenant.projectId]);
      expect(rows.map(({ tags }) => tags).toSorted()).toEqual(['kept', 'mine']);
    });

    test('Has-15: after many writes at the same time the rows of texts are exactly those of the stored lists', async () => {
      const rack = (await done('mutation { createRack(input: {place: "A"}) { id } }')).createRack.id;
      const ids = await makeAll(Array.from({ length: 8 }, () => ({ tags: ['x', 'y'], rackId: rack })));
      const texts = ['x', 'y', 'z', 'v', 'w'];
      for (let round = 0; round < 6; round += 1) {
        const writes = ids.flatMap((id, at) => {
          const tags = JSON.stringify(texts.slice((at + round) % 4, ((at + round) % 4) + 2));
          return [
            `updateBox(id: "${id}", input: {tags: ${tags}, carrier: ${at % 2 ? 'dhl' : 'ups'}})`,
            `updateBox(id: "${id}", input: {fragile: ${(at + round) % 2 === 0}})`,
            `${(at + round) % 5 === 0 ? 'deleteBox' : 'restoreBox'}(id: "${id}")`,
            ...(at === round
              ? [`createBox(input: {title: "New", code: "R${round}", tags: ["x", "z"]})`]
              : []),
          ];
        });
        if (round === 3) writes.push(`deleteRack(id: "${rack}")`);
        const answers = await Promise.all(writes.map((write) => ask(`mutation { ${write} { id } }`)));
        const codes = answers.flatMap(({ errors = [] }) =>
          errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code),
        );
        expect(codes.filter((code) => code !== 'NOT_FOUND')).toEqual([]);
        app().clock.now += 10_000;
      }
      const columns = 'CAST(id AS CHAR) AS id, tags, carrier, fragile, CAST(rack_id AS CHAR) AS rack';
      type Row = { id: string; tags: string; carrier: string | null; fragile: unknown; rack: string | null };
      const rowsIn = (table: string) =>
        app().db.execute<Row>(`SELECT ${columns} FROM ${table} WHERE project_id = ?`, [tenant.projectId]);
      const textOf = ({ id, carrier, fragile, rack }: Row, tag: string) =>
        JSON.stringify([id, tag, carrier, Number(fragile), rack]);
      const stored = await rowsIn('boxes');
      const expected = stored.flatMap((row) =>
        (JSON.parse(row.tags) as string[]).map((tag) => textOf(row, tag)),
      );
      const rows = (await rowsIn('has_boxes_tags')).map((row) => textOf(row, row.tags));
      expect(rows.toSorted()).toEqual(expected.toSorted());
      expect(rows.length).toBeGreaterThan(10);
    });

    test('Has-16: nothing else decides on a write: its list follows each creation, change and deletion, also at the same time', async () => {
      const labelled = async (label: string) =>
        idsOf((await done(`{ racks(labels: "${label}") { nodes { id } } }`)).racks.nodes);
      const rack = async (labels: string) =>
        (await done(`mutation { it: createRack(input: {place: "A", labels: ${labels}}) { id } }`)).it.id;
      const plain = await rack('[]');
      const id = await rack('["a", "b"]');
      expect([await labelled('a'), await labelled('b')]).toEqual([[id], [id]]);
      await done(`mutation { updateRack(id: "${plain}", input: {place: "B"}) { id } }`);
      for (let round = 0; round < 5; round += 1) {
        const lists = ['["a"]', '["b", "c"]', '["c"]', '[]', '["a", "c"]', '["b"]'];
        await Promise.all(
          lists.map((labels) =>
            done(`mutation { updateRack(id: "${id}", input: {labels: ${labels}}) { id } }`),
          ),
        );
        const { labels } = (await done(`{ rack(id: "${id}") { labels } }`)).rack;
        for (const label of ['a', 'b', 'c'])
          expect([label, labels, await labelled(label)]).toEqual([
            label,
            labels,
            labels.includes(label) ? [id] : [],
          ]);
        app().clock.now += 5_000;
      }
      await done(`mutation { updateRack(id: "${id}", input: {labels: ["a"]}) { id } }`);
      await done(`mutation { deleteRack(id: "${id}") { id } }`);
      expect(await labelled('a')).toEqual([]);
    });

    const databaseUrlOf = () => {
      const { database } = app().config;
      return database.kind === 'sqlite' ? `sqlite:${database.path}` : database.url;
    };
  },
  { gateway: () => loadGateway(BOXES_GATEWAY) },
);
