import { expect, test } from '@jest/globals';
import { Table } from 'typeorm';
import { createGateway, loadGateway } from '../../src/app/gateway.js';
import { exactCollation, NewTables } from '../../src/ground/migrations/tables.js';
import { defineNoun } from '../../src/noun/define-noun.js';
import { date } from '../../src/noun/kinds/date.js';
import { int64 } from '../../src/noun/kinds/int64.js';
import { text } from '../../src/noun/kinds/text.js';
import { nounOf } from '../../src/noun/noun-of.js';
import { rest } from '../support/http/client.js';
import { onAnyDatabase } from '../support/on-databases.js';

const fields = { title: text({ max: 20 }), shelf: int64({ optional: true }) };
const run = () => ({});
const book = (actions: NonNullable<Parameters<typeof defineNoun<typeof fields>>[0]['actions']>) =>
  defineNoun({ name: 'book', fields, actions });

test.each<[problem: string, actions: Parameters<typeof book>[0]]>([
  ['the action 2nd is no name', (action) => ({ '2nd': action({ run }) })],
  ['the action update has a name that the platform uses for books', (of) => ({ update: of({ run }) })],
  ['the action read has a name', (action) => ({ read: action({ run }) })],
  ['the action valueOf has a name', (action) => ({ valueOf: action({ run }) })],
  ['two actions have the name lendout', (of) => ({ lendOut: of({ run }), lendout: of({ run }) })],
  ['the action lend has an async function', (of) => ({ lend: of({ run: (async () => ({})) as never }) })],
  ['the action lend needs a function run', (of) => ({ lend: of({} as never) })],
  [
    'the action lend has no option describtion, only',
    (of) => ({ lend: of({ run, describtion: '' } as never) }),
  ],
  [
    'lend has the input to, which is no kind',
    (of) => ({ lend: of({ input: { to: 'text' as never }, run }) }),
  ],
  [
    'lend has the input to with the option unique',
    (of) => ({ lend: of({ input: { to: text({ unique: true }) }, run }) }),
  ],
  [
    'lend has the input to with the option filter',
    (of) => ({ lend: of({ input: { to: text({ filter: 'whole' }) }, run }) }),
  ],
  ['the platform uses the name id', (of) => ({ lend: of({ input: { id: text({}) }, run }) })],
])('Action-7: an action that cannot work is refused at once: %s', (problem, actions) => {
  expect(() => book(actions)).toThrow(problem);
});

test('Action-8: so is one whose default breaks its rule, or whose mutation has the name of another noun', () => {
  const wrong = book((of) => ({ lend: of({ input: { to: text({ max: 3, default: 'Nobody' }) }, run }) }));
  expect(() => nounOf(wrong, [])).toThrow('the default of to must be text of 1 to 3 characters');
  const nouns = [book((of) => ({ lend: of({ run }) })), defineNoun({ name: 'lendBook', fields })];
  expect(() => createGateway({ name: 'Acme', nouns })).toThrow('lendBook is a name of the noun book too');
});

test('Action-9: the function of an action has the types of the record and of its input', () => {
  const noun = book((action) => ({
    lend: action({
      input: { to: text({}), until: date({ optional: true }), copies: int64({ default: 1n }) },
      run(record, { to, until, copies }, { now }) {
        const known: [bigint, string, bigint | null] = [record.id, record.title, record.shelf];
        const stated: [string, string | null, bigint, string] = [to, until, copies, now];
        // @ts-expect-error a text is no number
        const wrong: number = record.title;
        // @ts-expect-error the input has no such field
        const [unknown, other] = [stated, record.subtitle];
        return { title: String([known, unknown, wrong, other].length) };
      },
    }),
    // @ts-expect-error a title is a text
    retitle: action({ run: () => ({ title: 1 }) }),
    // @ts-expect-error the changes are not awaited
    fetch: action({ run: () => Promise.resolve({ title: '' }) }),
  }));
  expect(noun.model.actions.map(({ operation }) => operation)).toEqual([
    'lendBook',
    'retitleBook',
    'fetchBook',
  ]);
});

const careless = defineNoun({
  name: 'book',
  fields,
  actions: (action) => ({
    wait: action({ run: (() => Promise.resolve({ title: 'Late' })) as never }),
    mistype: action({ run: () => ({ tilte: 'Typo' }) as never }),
    number: action({ run: (() => 7) as never }),
    fail: action({ run: () => JSON.parse('{') }),
    nothing: action({ run: () => {} }),
    unset: action({ run: () => ({ title: undefined, shelf: null }) as never }),
  }),
  migrations: async () => [Books1790000000004],
});
class Books1790000000004 extends NewTables {
  protected readonly tables = [new Table(careless.table.table)];
  protected override readonly collation = exactCollation;
}

onAnyDatabase(
  (app) => {
    test('Action-10: a function that returns no fields is an error of the gateway, and nothing is changed', async () => {
      const { token } = await app().tenant();
      const body = { title: 'Emma', shelf: 1 };
      const { id } = (await rest(app().url, '/v1/books', { method: 'POST', token, body })).body;
      const act = async (action: string) =>
        (await rest(app().url, `/v1/books/${id}/${action}`, { method: 'POST', token })).status;
      for (const action of ['wait', 'mistype', 'number', 'fail'])
        expect([action, await act(action)]).toEqual([action, 500]);
      expect(await act('nothing')).toBe(200);
      const stored = () => rest(app().url, `/v1/books/${id}`, { token });
      expect((await stored()).body).toEqual({ id, title: 'Emma', shelf: 1 });
      expect(await act('unset')).toBe(200);
      expect((await stored()).body).toEqual({ id, title: 'Emma' });
    });
  },
  { gateway: () => loadGateway(createGateway({ name: 'Careless', nouns: [careless] })) },
);
