import { expect, test } from '@jest/globals';
import { loadGateway } from '../../src/app/gateway.js';
import { isDuplicateId } from '../../src/ground/database/database-errors.js';
import { defineNoun, type NewRecordOf, type RecordOf } from '../../src/noun/define-noun.js';
import { boolean } from '../../src/noun/kinds/boolean.js';
import { choice } from '../../src/noun/kinds/choice.js';
import { date } from '../../src/noun/kinds/date.js';
import { decimal } from '../../src/noun/kinds/decimal.js';
import { int64 } from '../../src/noun/kinds/int64.js';
import { integer } from '../../src/noun/kinds/integer.js';
import type { Field } from '../../src/noun/kinds/kind.js';
import { reference } from '../../src/noun/kinds/reference.js';
import { text } from '../../src/noun/kinds/text.js';
import { texts } from '../../src/noun/kinds/texts.js';
import { nounOf } from '../../src/noun/noun-of.js';
import { graphql, rest } from '../support/http/client.js';
import type { books } from '../support/nouns/books.js';
import threeNouns from '../support/nouns/three-nouns.js';
import type { toys } from '../support/nouns/toys.js';
import { onEachDatabase } from '../support/on-databases.js';
import type { Tenant } from '../support/start-app.js';

const title = text({});
/** As from an author without TypeScript. */
const misspelled = (options: object) => options as never;
const flag = () => choice({ yes: 'Yes.', no: 'No.' }, { filter: true });

test.each<[problem: string, define: () => unknown]>([
  ['The noun book: it needs a field.', () => defineNoun({ name: 'book', fields: {} })],
  ['The noun book: "2nd" is no name.', () => defineNoun({ name: 'book', fields: { '2nd': title } })],
  ['the platform uses the name cursor', () => defineNoun({ name: 'book', fields: { cursor: title } })],
  [
    'title is optional and has a default',
    () => defineNoun({ name: 'book', fields: { title: text({ optional: true, default: 'A' }) } }),
  ],
  [
    'title is unique and has a default',
    () => defineNoun({ name: 'book', fields: { title: text({ unique: true, default: 'A' }) } }),
  ],
  [
    'the platform has a type for order',
    () => defineNoun({ name: 'book', fields: { title, order: choice({ a: 'A.' }, {}) } }),
  ],
  [
    'every field is immutable',
    () => defineNoun({ name: 'book', fields: { title: text({ immutable: true }) } }),
  ],
  [
    'has a name that is too long',
    () =>
      defineNoun({
        name: 'shipment',
        fields: {
          destinationCountryOrRegion: flag(),
          carrierServiceLevelCode: flag(),
          reference: text({ filter: 'start' }),
        },
      }),
  ],
  [
    'or that two indexes have',
    () => defineNoun({ name: 'book', fields: { title, a: flag(), b: flag(), aB: flag() } }),
  ],
  ['matches a part of a text', () => text({ pattern: /\d{13}/ })],
  ['groups is a word of SQL', () => defineNoun({ name: 'group', fields: { title } })],
  [
    'its lists and unique fields need 31 indexes, and a table has at most 24. They come from filter of a',
    () =>
      defineNoun({ name: 'book', fields: { title, a: flag(), b: flag(), c: flag(), d: flag(), e: flag() } }),
  ],
  [
    'The index of title is longer than MySQL allows',
    () => defineNoun({ name: 'book', fields: { title: text({ max: 800, filter: 'start' }) } }),
  ],
  ['max of a text is a whole number from 1 to 4000, not 0', () => text({ max: 0 })],
  ['has flags, which JSON Schema does not know', () => text({ pattern: /a/i })],
  ['min of an int64 is from -(2^53 - 1) to 2^53 - 1', () => int64({ min: 2n ** 60n })],
  ['A bound of an integer has 32 bits, not 4294967296', () => integer({ max: 2 ** 32 })],
  ['A choice needs values such as draft', () => choice({ 'for sale': '' }, {})],
  ['A decimal has 1 to 38 digits', () => decimal({ digits: 39, places: 2 })],
  ['at most 30 of them as places, not 4 and 5', () => decimal({ digits: 4, places: 5 })],
  [
    "A bound of a decimal with 4 digits is text such as '99.99'",
    () => decimal({ digits: 4, places: 2, max: '100' }),
  ],
  [
    'the default of tags has a backslash',
    () => defineNoun({ name: 'book', fields: { tags: texts({ most: 2, max: 9, default: ['a "b"'] }) } }),
  ],
  ['most and max of texts are whole numbers from 1', () => texts({ most: 0, max: 10 })],
  ['not 100 × 100', () => texts({ most: 100, max: 100 })],
  [
    'title has the option uniqe, which text does not have. It has max, pattern, rule, filter, optional,',
    () => defineNoun({ name: 'book', fields: { title: text(misspelled({ uniqe: true })) } }),
  ],
  [
    'ownerId has the option mustExists, which int64 does not have',
    () => defineNoun({ name: 'book', fields: { title, ownerId: int64(misspelled({ mustExists: true })) } }),
  ],
  [
    'isNew has the option unique, which boolean does not have. It has filter, optional, default, immutable,',
    () => defineNoun({ name: 'book', fields: { title, isNew: boolean(misspelled({ unique: true })) } }),
  ],
  [
    'ownerId has the option default, which int64 does not have',
    () =>
      defineNoun({
        name: 'book',
        fields: { title, ownerId: reference('owner', misspelled({ default: 1n })) },
      }),
  ],
  [
    'title is no kind of field, such as text({ max: 255 })',
    () => defineNoun({ name: 'book', fields: { title: 'text' as never } }),
  ],
  [
    'The noun book: there is no option softDeleted, only name, plural,',
    () => defineNoun(misspelled({ name: 'book', fields: { title }, softDeleted: true })),
  ],
])('Define-1: a definition that cannot work is refused at once: %s', (problem, define) => {
  expect(define).toThrow(problem);
});

test.each<[problem: string, fields: Parameters<typeof defineNoun>[0]['fields']]>([
  ['the example of isbn must be text of 1 to 13', { isbn: text({ max: 13, pattern: /^\d{13}$/ }) }],
  [
    'the default of pages must be a whole number from 1 to 9',
    { pages: integer({ min: 1, max: 9, default: 10 }) },
  ],
  ['the default of on must be a date', { on: date({ default: 'today' }) }],
])('Define-7: a default and an example keep the rules of their field: %s', (problem, fields) => {
  expect(() => nounOf(defineNoun({ name: 'book', fields }), [])).toThrow(problem);
});

test('Define-2: the values of a record have the types of its fields', () => {
  const made: NewRecordOf<typeof books> = { title: 'Emma', pages: 1, priceCents: 1n };
  const record: RecordOf<typeof books> = {
    ...{ id: 1n, projectId: 1n, createdAtMs: 1, title: made.title, pages: made.pages, priceCents: 1n },
    ...{ isbn: null, publishedOn: null, state: null, order: null, binding: 'cloth' },
    ...{ weightGrams: null, rating: 3 },
  };
  // @ts-expect-error a choice has its values only
  const binding: RecordOf<typeof books>['binding'] = 'leather';
  // @ts-expect-error an int64 is a bigint
  const price: NewRecordOf<typeof books>['priceCents'] = 1;
  // @ts-expect-error its name is required
  const toy: NewRecordOf<typeof toys> = { categoryId: 1n };
  expect([record.title, binding, price, toy]).toHaveLength(4);
  // @ts-expect-error an example is a value
  expect(choice({ a: 'A.' }, { example: 'b' }).example).toBe('b');
  // @ts-expect-error a reference has no such option
  expect(reference('owner', { filter: true, mustExists: true }).filter).toBe('whole');
  // @ts-expect-error a text has no such option
  expect(text({ max: 9, uniqe: true }).filter).toBeNull();
  const bare: Field<string, string> = text();
  expect(bare.options).toEqual({});
  // @ts-expect-error a default is a value
  expect(text({ default: 1 }).options.default).toBe(1);
});

test("Define-9: a client's value that looks like the name of an index is no taken id", () => {
  const error = (message: string) => Object.assign(new Error(message), { code: 'ER_DUP_ENTRY' });
  expect(isDuplicateId(error("Duplicate entry '1-4711' for key 'books.PRIMARY'"))).toBe(true);
  expect(isDuplicateId(error("Duplicate entry '1-x.PRIMARY' for key 'books.books_isbn'"))).toBe(false);
});

onEachDatabase(
  (app) => {
    const post = (tenant: Tenant, body: object) =>
      rest(app().url, '/v1/books', { method: 'POST', token: tenant.token, body: JSON.stringify(body) });
    const EMMA = { title: 'Emma', isbn: '9780141439587', pages: 474, priceCents: 899 };

    test('Define-3: a unique value is refused a second time in its project, through both APIs and by a change', async () => {
      const [owner, other] = [await app().tenant(), await app().tenant()];
      expect((await post(owner, EMMA)).status).toBe(201);
      expect(await post(owner, { ...EMMA, title: 'Copy' })).toMatchObject({
        status: 409,
        body: {
          code: 'conflict',
          message: expect.stringContaining('Another book of the project has this ISBN. Use'),
        },
      });
      expect((await post(other, EMMA)).status).toBe(201);
      expect((await post(owner, { ...EMMA, isbn: undefined })).status).toBe(201);
      const created = await post(owner, { ...EMMA, isbn: '0141439580' });
      const token = owner.token;
      const change = `mutation { updateBook(id: "${created.body.id}", input: { isbn: "${EMMA.isbn}" }) { id } }`;
      expect((await graphql(app().url, change, { token })).body.errors[0].extensions.code).toBe('CONFLICT');
      const both = `mutation { createBooks(inputs: [{ title: "A", pages: 1, priceCents: "1", isbn: "0000000001" }, { title: "B", pages: 1, priceCents: "1", isbn: "0000000001" }]) { id } }`;
      expect((await graphql(app().url, both, { token })).body.errors[0].extensions.code).toBe('CONFLICT');
      expect((await rest(app().url, '/v1/books', { token })).body).toHaveLength(3);
      const found = await rest(app().url, `/v1/books?isbn=${EMMA.isbn}`, { token });
      expect(found.body).toEqual([{ id: expect.anything(), ...EMMA, rating: 3, binding: 'paper' }]);
    });

    test('Define-6: lists filter by an integer, together with a choice and the start of a text, also by a field that is a word of SQL', async () => {
      const owner = await app().tenant();
      for (const order of [1, 2]) await post(owner, { ...EMMA, isbn: undefined, order, state: 'draft' });
      const listed = await rest(app().url, '/v1/books?order=2&state=draft', { token: owner.token });
      expect(listed.body).toEqual([expect.objectContaining({ title: 'Emma', order: 2 })]);
      const wrong = await rest(app().url, '/v1/books?order=x', { token: owner.token });
      expect(wrong).toMatchObject({ status: 400, body: { errors: [{ field: 'order' }] } });
      const query =
        '{ books(order: 1, titleStartsWith: "Em", state: draft) { nodes { order title } } bookCount(order: 1) }';
      const { body } = await graphql(app().url, query, { token: owner.token });
      expect(body.data).toEqual({ books: { nodes: [{ order: 1, title: 'Emma' }] }, bookCount: 1 });
    });

    test('Define-4: a new record has the default, no change states an immutable field, and null is refused', async () => {
      const owner = await app().tenant();
      const { body } = await post(owner, EMMA);
      expect(body.binding).toBe('paper');
      const ask = (input: string) =>
        graphql(app().url, `mutation { updateBook(id: "${body.id}", input: ${input}) { title binding } }`, {
          token: owner.token,
        });
      expect((await ask('{ binding: cloth }')).body.errors[0].message).toContain('"binding"');
      for (const field of ['title', 'rating']) {
        expect((await ask(`{ ${field}: null }`)).body.errors[0].extensions.errors).toEqual([
          expect.objectContaining({ field }),
        ]);
      }
    });

    test('Define-8: a repeated Idempotency-Key gets a record whose 64-bit integer is not stated', async () => {
      const owner = await app().tenant();
      const headers = { 'idempotency-key': 'twice' };
      const send = () =>
        rest(app().url, '/v1/books', {
          method: 'POST',
          token: owner.token,
          headers,
          body: JSON.stringify(EMMA),
        });
      expect((await send()).body).toEqual((await send()).body);
    });

    test('Define-10: both APIs refuse the value of a filter that no record can have', async () => {
      const owner = await app().tenant();
      const answer = await rest(app().url, '/v1/books?isbn=abc', { token: owner.token });
      expect(answer.body.errors).toEqual([expect.objectContaining({ field: 'isbn' })]);
      const { body } = await graphql(app().url, '{ books(isbn: "abc") { nodes { id } } }', {
        token: owner.token,
      });
      expect(body.errors[0].extensions.errors).toEqual(answer.body.errors);
    });

    test('Define-5: the check across fields holds for a new record and for a changed one, which then stays as it was', async () => {
      const owner = await app().tenant();
      const wrong = await post(owner, { ...EMMA, state: 'published', publishedOn: '2101-01-01' });
      expect(wrong).toMatchObject({ status: 400, body: { errors: [{ field: 'publishedOn' }] } });
      const { body } = await post(owner, { ...EMMA, publishedOn: '2101-01-01' });
      const change = `mutation { updateBook(id: "${body.id}", input: { state: published }) { id } }`;
      const refused = await graphql(app().url, change, { token: owner.token });
      expect(refused.body.errors[0].extensions.errors).toEqual([
        { field: 'publishedOn', message: 'must not be in the future of a published book' },
      ]);
      const { body: after } = await rest(app().url, `/v1/books/${body.id}`, { token: owner.token });
      expect(after).toEqual(body);
    });
  },
  { gateway: () => loadGateway(threeNouns) },
);
