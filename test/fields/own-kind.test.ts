import { expect, test } from '@jest/globals';
import { Table } from 'typeorm';
import { createGateway, loadGateway } from '../../src/app/gateway.js';
import { exactCollation, NewTables } from '../../src/ground/migrations/tables.js';
import { defineNoun } from '../../src/noun/define-noun.js';
import { text } from '../../src/noun/kinds/text.js';
import { graphql, rest } from '../support/http/client.js';
import { onEachDatabase } from '../support/on-databases.js';
import { money } from './money.js';

const invoices = defineNoun({
  name: 'invoice',
  fields: {
    number: text({ max: 20 }),
    total: money({ currencies: ['EUR', 'CHF'], filter: true }),
  },
  migrations: async () => [Invoices1790000000003],
});

class Invoices1790000000003 extends NewTables {
  protected readonly tables = [new Table(invoices.table.table)];
  protected override readonly collation = exactCollation;
}

onEachDatabase(
  (app) => {
    test('Kinds-15: a kind of the author is one file: its rule, its one form, its filter, its words', async () => {
      const { token } = await app().tenant();
      const send = (path: string, init = {}) => rest(app().url, path, { token, ...init });
      const post = (total: unknown) => send('/v1/invoices', { method: 'POST', body: { number: '1', total } });
      expect((await post('012.5 EUR')).body).toMatchObject({ total: '12.50 EUR' });
      const added = `mutation { it: createInvoice(input: { number: "2", total: "-0.0 CHF" }) { total } }`;
      expect((await graphql(app().url, added, { token })).body.data.it).toEqual({ total: '0.00 CHF' });
      for (const wrong of ['12.5', '12.5 USD', '1.234 EUR', 12.5]) {
        expect((await post(wrong)).body.errors).toEqual([
          { field: 'total', message: expect.stringMatching(/^must be an amount and a currency/) },
        ]);
      }
      const found = await send(`/v1/invoices?total=${encodeURIComponent('12.50 EUR')}`);
      expect(found.body).toMatchObject([{ number: '1', total: '12.50 EUR' }]);
      // The value is found in another form of it, too.
      expect((await send('/v1/invoices?total=12.5%20EUR')).body).toEqual(found.body);
      const listed = '{ it: invoices(total: "012.5 EUR") { nodes { number } } }';
      expect((await graphql(app().url, listed, { token })).body.data.it.nodes).toEqual([{ number: '1' }]);
      const { components } = (await rest(app().url, '/v1/openapi.json')).body;
      expect(components.schemas.NewInvoice.properties.total).toMatchObject({
        pattern: '^-?\\d{1,14}(\\.\\d{1,2})? (EUR|CHF)$',
        examples: ['12.50 EUR'],
      });
    });
  },
  { gateway: () => loadGateway(createGateway({ name: 'Billing', nouns: [invoices] })) },
);
