import { beforeEach, expect, test } from '@jest/globals';
import { loadGateway } from '../../src/app/gateway.js';
import { defineNoun } from '../../src/noun/define-noun.js';
import { int64 } from '../../src/noun/kinds/int64.js';
import { text } from '../../src/noun/kinds/text.js';
import { graphql, rest } from '../support/http/client.js';
import { SEATS } from '../support/nouns/seats.js';
import { onEachDatabase } from '../support/on-databases.js';
import type { Tenant } from '../support/start-app.js';

const HALL = 9223372036854775807n;
const SEAT = `{"hall":${HALL},"startsAt":"2026-12-24T18:00:00Z","number":"A1"}`;
const MESSAGE =
  'Another seat of the project has this number and hall and start. Use another one, or change that seat.';

onEachDatabase(
  (app) => {
    let tenant: Tenant;
    beforeEach(async () => {
      tenant = await app().tenant();
    });
    const create = (body: string) =>
      rest(app().url, '/v1/seats', { method: 'POST', token: tenant.token, body });
    const created = async (body: string) => {
      const answer = await create(body);
      expect([answer.status, answer.body.message]).toEqual([201, undefined]);
      return answer.body.id;
    };

    test('Unique-1: only a record with all of the values refuses another one, at a creation and at a change', async () => {
      await created(SEAT);
      const other = await created(SEAT.replace('A1', 'A2'));
      await created(SEAT.replace(String(HALL), '7'));
      await created(SEAT.replace('18:00', '20:00'));
      // Compared as moments and by all characters.
      expect(await create(SEAT.replace('18:00:00Z', '19:00:00+01:00'))).toMatchObject({
        status: 409,
        body: { code: 'conflict', message: MESSAGE },
      });
      await created(SEAT.replace('A1', 'a1'));
      const change = `mutation { updateSeat(id: "${other}", input: {number: "A1"}) { id } }`;
      const { body } = await graphql(app().url, change, tenant);
      expect(body.errors[0]).toMatchObject({ message: MESSAGE, extensions: { code: 'CONFLICT' } });
      const elsewhere = { method: 'POST', token: (await app().tenant()).token, body: SEAT };
      expect((await rest(app().url, '/v1/seats', elsewhere)).status).toBe(201);
    });

    test('Unique-2: a record that lacks one of the values shares it with nobody', async () => {
      const unset = `{"hall":1,"number":"A1"}`;
      expect(await created(unset)).not.toBe(await created(unset));
    });

    test('Unique-3: of 20 simultaneous creations with the same values one is stored', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => create(SEAT)));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)]);
    });
  },
  { gateway: () => loadGateway(SEATS) },
);

test.each([
  ['number is unique with row, which is no other field', ['row']],
  ['number is unique with number, which is no other field', ['number']],
  ['number is unique with no field, or twice with one', []],
  ['number is unique with no field, or twice with one', ['hall', 'hall']],
])('Unique-4: a definition is refused: %s', (message, unique) => {
  const define = () => defineNoun({ name: 'seat', fields: { hall: int64({}), number: text({ unique }) } });
  expect(define).toThrow(`The noun seat: ${message}`);
});
