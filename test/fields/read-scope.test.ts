import { beforeEach, expect, test } from '@jest/globals';
import { loadGateway } from '../../src/app/gateway.js';
import type { Scope } from '../../src/ground/kernel/caller.js';
import { defineNoun } from '../../src/noun/define-noun.js';
import { text } from '../../src/noun/kinds/text.js';
import { graphql, rest } from '../support/http/client.js';
import { OFFERS } from '../support/nouns/offers.js';
import { onEachDatabase } from '../support/on-databases.js';
import { TEST_ACTOR, type Tenant } from '../support/start-app.js';

const COST = 9223372036854775807n;
const OFFER = `{"title":"Bolts","costCents":${COST},"supplier":"Acme"}`;
const PATH = '/v1/offers';

onEachDatabase(
  (app) => {
    let owner: Tenant;
    let reader: string;
    let id: string;
    beforeEach(async () => {
      owner = await app().tenant();
      await app().app.services.projects.change(TEST_ACTOR, owner.slug, { isLogged: true });
      app().clock.now += 60_000;
      reader = await keyWith('offers:read', 'offers:write', 'offers:cut');
      id = String((await send(PATH, { method: 'POST', body: OFFER })).body.id);
    });
    const keyWith = async (...scopes: Scope[]) => {
      const wanted = { projectId: owner.projectId, name: 'x', scopes, expiresAtMs: null };
      return (await app().app.services.apiKeys.create(TEST_ACTOR, wanted)).token;
    };
    const send = (path: string, init = {}, token = owner.token) => rest(app().url, path, { token, ...init });
    const ask = async (query: string, token = owner.token) =>
      (await graphql(app().url, query, { token })).body;

    test('ReadScope-1: no answer of either API has the value for a key without its scope', async () => {
      const one = `${PATH}/${id}`;
      const shown = { id: expect.anything(), title: 'Bolts', halfCents: COST / 2n };
      expect((await send(one)).body).toEqual({ ...shown, costCents: COST, supplier: 'Acme' });
      // From memory too, in which both keys have the same request.
      for (let times = 0; times < 3; times += 1) {
        expect((await send(PATH)).body[0]).toHaveProperty('costCents', COST);
        expect((await send(PATH, {}, reader)).body).toEqual([shown]);
      }
      const created = await send(PATH, { method: 'POST', body: OFFER }, reader);
      expect(created.body).toEqual({ ...shown, id: expect.anything() });
      const changed = await send(one, { method: 'PATCH', body: { supplier: 'Other' } }, reader);
      const acted = await send(`${one}/cut`, { method: 'POST' }, reader);
      await send(`${PATH}/${created.body.id}`, { method: 'DELETE' }, reader);
      const answers = [
        changed,
        acted,
        await send(one, {}, reader),
        await send(`${PATH}/deleted`, {}, reader),
      ];
      for (const { text: body } of [...answers, await send(`${PATH}/changes`, {}, reader)]) {
        expect(body).not.toMatch(/costCents|supplier|Acme|Other/);
      }
      const query = '{ offers { nodes { title costCents supplier } } }';
      expect((await ask(query, reader)).data.offers.nodes).toEqual([
        { title: 'Bolts', costCents: null, supplier: null },
      ]);
      expect((await ask(query)).data.offers.nodes).toEqual([
        { title: 'Bolts', costCents: String(COST / 2n), supplier: 'Other' },
      ]);
    });

    test('ReadScope-2: a change keeps what its key cannot read, and If-Match compares what the key reads', async () => {
      const one = `${PATH}/${id}`;
      const tag = (await send(one, {}, reader)).headers.get('etag') as string;
      expect(tag).not.toBe((await send(one)).headers.get('etag'));
      const headers = { 'if-match': tag };
      const changed = await send(one, { method: 'PATCH', body: { title: 'Nuts' }, headers }, reader);
      expect(changed.status).toBe(200);
      expect((await send(one)).body).toMatchObject({ title: 'Nuts', costCents: COST, supplier: 'Acme' });
    });

    test('ReadScope-3: keys get the scope by its name, and it reads nothing alone', async () => {
      const mutation = `mutation { createApiKey(input: {name: "books", scopes: [OFFERS_READ, OFFERS_COSTS]}) { token } }`;
      const { token } = (await ask(mutation)).data.createApiKey;
      expect((await send(PATH, {}, token)).body[0]).toMatchObject({ costCents: COST });
      const alone = await keyWith('offers:costs');
      expect((await send(PATH, {}, alone)).status).toBe(403);
      const { components } = (await send('/v1/openapi.json')).body;
      expect(components.schemas.Offer.required).toEqual(['id', 'title', 'halfCents']);
      expect(components.schemas.NewOffer.required).toEqual(['title', 'costCents']);
    });

    test('ReadScope-6: a mutation whose answer would have the value is done, and answers null without an error', async () => {
      const writer = await keyWith('offers:write', 'offers:cut');
      const input = `{title: "Nuts", costCents: "${COST}"}`;
      const made = await ask(`mutation { it: createOffer(input: ${input}) { id title costCents } }`, writer);
      expect(made).toEqual({ data: { it: { id: expect.any(String), title: 'Nuts', costCents: null } } });
      const acts = [`updateOffer(id: "${id}", input: {costCents: "4"})`, `cutOffer(id: "${id}")`];
      for (const act of acts) {
        const answer = await ask(`mutation { it: ${act} { costCents } }`, writer);
        expect(answer).toEqual({ data: { it: { costCents: null } } });
      }
      await ask(`mutation { deleteOffer(id: "${id}") { id } }`, reader);
      const restored = await ask(`mutation { it: restoreOffer(id: "${id}") { title costCents } }`, reader);
      expect(restored).toEqual({ data: { it: { title: 'Bolts', costCents: null } } });
      expect((await send(`${PATH}/${id}`)).body.costCents).toBe(2);
    });
  },
  { gateway: () => loadGateway(OFFERS) },
);

test.each([
  ['not every key reads cost', { readScope: 'costs', filter: 'start' }],
  ['the readScope of cost is the end of a scope of its own, such as costs, not read', { readScope: 'read' }],
  ['the readScope of cost is the end of a scope of its own', { readScope: 'x:costs' }],
  ['cost has a readScope and is writeOnly', { readScope: 'costs', writeOnly: true }],
])('ReadScope-4: a definition is refused: %s', (message, options) => {
  const fields = { title: text({}), cost: text(options as object) };
  expect(() => defineNoun({ name: 'offer', fields })).toThrow(message);
});

test('ReadScope-5: an action cannot have the scope of a field', () => {
  const define = () =>
    defineNoun({
      name: 'offer',
      fields: { title: text({}), cost: text({ readScope: 'costs' }) },
      actions: (action) => ({ costs: action({ run: () => ({}) }) }),
    });
  expect(define).toThrow('the action costs has the scope of a field.');
});
