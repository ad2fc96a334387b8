import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import Sqlite from 'libsql';
import { createGateway } from '../../src/app/gateway.js';
import { requireEmpty } from '../../src/testing/databases.js';
import { withExisting } from '../../src/testing/existing-records.js';
import type { TestApp } from '../../src/testing/tested-app.js';
import { testedNoun } from '../../src/testing/tested-noun.js';
import { BOOKS } from '../support/nouns/books.js';
import { DELIVERIES, deliveries } from '../support/nouns/deliveries.js';
import { PARCELS } from '../support/nouns/parcels.js';
import gateway from '../support/nouns/three-nouns.js';
import { TOYS } from '../support/nouns/toys.js';

test('NounSuites-1: a noun that the gateway does not serve is refused, with those that it serves', () => {
  expect(() => testedNoun(gateway, { ...TOYS, noun: 'toys' })).toThrow(
    'The gateway Toys, Books and Parcels has no noun "toys" of defineNoun; it serves toy, book, parcel.',
  );
});

test('NounSuites-2: what the suites need follows from the definition, and is null if no field can have it', () => {
  expect(testedNoun(gateway, TOYS)).toMatchObject({
    text: { name: 'name', maxLength: 255 },
    int64: {
      field: 'categoryId',
      digits: ['9223372036854775807', '-9223372036854775808', '9007199254740993', '0'],
    },
    filter: { field: 'status', values: ['available', 'pending'], usual: null },
  });
  expect(testedNoun(gateway, BOOKS).int64).toEqual({
    field: 'priceCents',
    digits: ['9223372036854775807', '0', '9007199254740993'],
  });
  const parcel = testedNoun(gateway, PARCELS);
  expect(parcel).toMatchObject({ text: { name: 'addressee' }, int64: null });
  expect(parcel.boundLists('7', parcel.input(3))).toEqual([
    'orderBy: NEWEST, trackingCode: "PX3"',
    'ids: ["7"]',
  ]);
});

test('NounSuites-3: without a list of invalid inputs each field has one, and two of them are wrong together', () => {
  const { invalid: _, ...facts } = BOOKS;
  const { invalid } = testedNoun(gateway, facts);
  const wrong = new Set(invalid.flatMap(([, fields]) => fields));
  // Every integer of 32 bits is valid as an order, and the schema of GraphQL refuses an unknown choice.
  expect([...wrong].toSorted()).toEqual([
    ...['isbn', 'pages', 'priceCents', 'publishedOn', 'rating', 'title', 'weightGrams'],
  ]);
  expect(invalid.at(-1)?.[1]).toEqual(['rating', 'title']);
});

test('NounSuites-5: a fact about an action or another noun that does not exist is refused at once', async () => {
  expect(() => testedNoun(gateway, { ...TOYS, actions: { sell: {} } })).toThrow(
    'The noun toy has no action "sell"; it has none.',
  );
  const own = { ...TOYS, existing: { toy: [{ name: 'Rex', categoryId: 1n }] } };
  expect(() => testedNoun(gateway, own)).toThrow('Each project of the tests begins without a toy.');
  const unknown = { shop: [{ name: 'North' }] };
  await expect(withExisting({} as TestApp, gateway, unknown)).rejects.toThrow('has no noun "shop"');
});

test('NounSuites-6: an action that requires input is left out until its test file states one', () => {
  const gateway = createGateway({ name: 'Deliveries', nouns: [deliveries] });
  const [deliver, retry] = testedNoun(gateway, DELIVERIES).actions;
  expect(deliver).toMatchObject({ inputType: 'DeliverDeliveryInput!', accepted: { record: {} } });
  expect(retry).toMatchObject({ inputType: null, accepted: { input: {}, record: {} }, refused: null });
  const { actions: _, ...facts } = DELIVERIES;
  expect(testedNoun(gateway, facts).actions[0]).toMatchObject({ accepted: null });
});

test('NounSuites-4: a file of SQLite that is not empty is refused, and stays as it is to the byte', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-suites-'));
  const path = join(folder, 'own.sqlite');
  const file = new Sqlite(path);
  file.exec('CREATE TABLE orders (id INTEGER)');
  file.close();
  const before = await readFile(path);
  const refused = requireEmpty({ url: `sqlite:${path}`, remove: async () => {} });
  await expect(refused).rejects.toThrow('The tests need an empty database');
  expect(await readFile(path)).toEqual(before);
  expect(await readdir(folder)).toEqual(['own.sqlite']);
  await rm(folder, { recursive: true });
});
