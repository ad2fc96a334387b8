import { beforeEach, expect, test } from '@jest/globals';
import { createGateway, loadGateway } from '../../src/app/gateway.js';
import { NewTable } from '../../src/ground/migrations/table-changes.js';
import { defineNoun } from '../../src/noun/define-noun.js';
import { refuse } from '../../src/noun/definition/action.js';
import type { ModelAction } from '../../src/noun/definition/model.js';
import { int64 } from '../../src/noun/kinds/int64.js';
import { integer } from '../../src/noun/kinds/integer.js';
import { reference } from '../../src/noun/kinds/reference.js';
import { text } from '../../src/noun/kinds/text.js';
import type { NounService } from '../../src/noun/records/noun.service.js';
import { trashTableOf } from '../../src/noun/tables/noun-trash.js';
import { callAs } from '../support/call-as.js';
import { graphql, rest } from '../support/http/client.js';
import { onEachDatabase } from '../support/on-databases.js';
import { otherTransaction } from '../support/references/other-transaction.js';
import { TEST_ACTOR, type Tenant } from '../support/start-app.js';

const authors = defineNoun({
  name: 'author',
  fields: { name: text({ max: 40, filter: 'start' }) },
  softDelete: true,
});

/** It has every option that another one may meet. */
const drafts = defineNoun({
  name: 'draft',
  fields: {
    title: text({ max: 40 }),
    pin: text({ max: 8, optional: true, writeOnly: true }),
    pages: integer({ default: 1, filter: true, sort: true }),
    authorName: text({ max: 40, optional: true, filter: 'whole' }),
    authorId: reference('author', { filter: true, optional: true, onDelete: 'unset' }),
    editorId: reference('author', {
      filter: true,
      optional: true,
      onDelete: 'refuse',
      as: 'editor',
      list: 'edited',
    }),
  },
  actions: (action) => ({
    touch: action({ input: { why: text({ max: 9, optional: true }) }, run: () => ({}) }),
  }),
  computed: (computed) => ({
    size: computed(int64({}), ({ title }) => {
      if (title === 'boom') throw new Error('boom');
      return BigInt(title.length);
    }),
  }),
  beforeWrite: ({ after }) => {
    if (after?.title === 'banned') refuse([{ field: 'title', message: 'is banned' }]);
  },
  changes: true,
  softDelete: true,
});

/** Without computed fields. */
const safes = defineNoun({
  name: 'safe',
  fields: { title: text({ max: 40 }), pin: text({ max: 8, writeOnly: true }) },
});

const GATEWAY = createGateway({
  name: 'Meetings',
  nouns: [authors, drafts, safes],
  migrations: [
    class Authors1790000000000 extends NewTable {
      table = authors.table.table;
    },
    class DeletedAuthors1790000001000 extends NewTable {
      table = trashTableOf(authors.model, authors.table).definition;
    },
    class Drafts1790000002000 extends NewTable {
      table = drafts.table.table;
    },
    class DeletedDrafts1790000003000 extends NewTable {
      table = trashTableOf(drafts.model, drafts.table).definition;
    },
    class Safes1790000004000 extends NewTable {
      table = safes.table.table;
    },
  ],
});

onEachDatabase(
  (app, kind) => {
    let tenant: Tenant;
    beforeEach(async () => {
      tenant = await app().tenant();
    });
    const send = (method: string, path: string, body?: object, headers = {}) =>
      rest(app().url, `/v1/${path}`, { method, token: tenant.token, headers, ...(body && { body }) });
    const ask = async (query: string) => (await graphql(app().url, query, { token: tenant.token })).body;
    const create = async (path: string, body: object) => String((await send('POST', path, body)).body.id);

    test('Trash-10: a restored record loses a reference that would have been unset, and one that guards is named', async () => {
      const [author, editor] = [
        await create('authors', { name: 'A' }),
        await create('authors', { name: 'E' }),
      ];
      const draft = await create('drafts', { title: 'T' });
      const change = `authorId: "${author}", editorId: "${editor}"`;
      await ask(`mutation { updateDraft(id: "${draft}", input: {${change}}) { id } }`);
      await send('DELETE', `drafts/${draft}`);
      for (const id of [author, editor]) expect((await send('DELETE', `authors/${id}`)).status).toBe(204);
      expect((await send('POST', `drafts/${draft}/restore`)).body).toMatchObject({
        code: 'conflict',
        message: `The draft cannot be restored: editorId refers to the author ${editor}, which was deleted. Restore that author first.`,
      });
      await send('POST', `authors/${editor}/restore`);
      const restored = await send('POST', `drafts/${draft}/restore`);
      expect([restored.status, restored.body.authorId, String(restored.body.editorId)]).toEqual([
        200,
        undefined,
        editor,
      ]);
      expect((await send('GET', `drafts/${draft}`)).text).toBe(restored.text);
    });

    test('Computed-5: a write whose answer cannot be computed is not done', async () => {
      expect((await send('POST', 'drafts', { title: 'boom' })).status).toBe(500);
      const id = await create('drafts', { title: 'T' });
      expect((await send('PATCH', `drafts/${id}`, { title: 'boom' })).status).toBe(500);
      expect((await send('GET', 'drafts')).body).toMatchObject([{ title: 'T', size: 1 }]);
    });

    test('Action-14: null as the input of an action is an input without values', async () => {
      const id = await create('drafts', { title: 'T' });
      expect(await ask(`mutation { touchDraft(id: "${id}", input: null) { title } }`)).toEqual({
        data: { touchDraft: { title: 'T' } },
      });
    });

    test('Hook-5: the refusal of one of several new records names its position', async () => {
      const inputs = '[{title: "ok"}, {title: "banned"}]';
      const { errors } = await ask(`mutation { createDrafts(inputs: ${inputs}) { id } }`);
      expect(errors[0].extensions.errors).toEqual([{ field: 'inputs.1.title', message: 'is banned' }]);
      expect((await send('GET', 'drafts')).body).toEqual([]);
    });

    test('Sort-12: a field with a whole filter orders lists too', async () => {
      for (const pages of [2, 3, 1]) await create('drafts', { title: `${pages}`, pages });
      const titles = async (query: string) =>
        (await send('GET', `drafts?${query}`)).body.map(({ title }: { title: string }) => title);
      expect(await titles('sort=-pages')).toEqual(['3', '2', '1']);
      expect(await titles('pages=2')).toEqual(['2']);
    });

    test('WriteOnly-7: the stored answer of an Idempotency-Key lacks the value', async () => {
      const key = { 'idempotency-key': 'safe' };
      const first = await send('POST', 'safes', { title: 'T', pin: 'S3CRET' }, key);
      expect((await send('POST', 'safes', { title: 'T', pin: 'S3CRET' }, key)).text).toBe(first.text);
      const rows = await app().db.execute<{ result: string }>(
        'SELECT result FROM idempotency_keys WHERE project_id = ?',
        [tenant.projectId],
      );
      expect(rows.map(({ result }) => result.includes('S3CRET'))).toEqual([false]);
    });

    test('Action-15: an action that changes nothing answers with the record as it is, and logs nothing', async () => {
      await app().app.services.projects.change(TEST_ACTOR, tenant.slug, { isLogged: true });
      app().clock.now += 60_000;
      const own = await create('drafts', { title: 'Y' });
      const { data } = await ask(`mutation { touchDraft(id: "${own}") { title } }`);
      expect(data.touchDraft).toEqual({ title: 'Y' });
      const changes = (await send('GET', 'drafts/changes')).body;
      const logged = changes.filter(({ draft }: { draft: { id: unknown } }) => String(draft.id) === own);
      expect(logged.map(({ kind: what }: { kind: string }) => what)).toEqual(['created']);
    });

    // On SQLite no other transaction can write meanwhile.
    if (kind === 'sqlite') return;

    test('Action-16: so does one that shares its transaction with others, of which one has read before the last change', async () => {
      await app().app.services.projects.change(TEST_ACTOR, tenant.slug, { isLogged: true });
      app().clock.now += 60_000;
      const ids = [];
      for (const title of ['First', 'Other', 'Old']) ids.push(await create('drafts', { title }));
      const other = await otherTransaction(app().config.database);
      const change = "UPDATE drafts SET title = 'New' WHERE project_id = ? AND id = ?";
      await other.run(change, [tenant.projectId, ids[2]]);

      const service = app().app.services.nouns[1]?.service as NounService;
      const [touch] = drafts.model.actions;
      const { caller, ...call } = callAs(tenant, ['drafts:touch', 'drafts:read']);
      const logged = { ...call, caller: { ...caller, changesSinceMs: 0 } };
      const touched = ids.map((id) =>
        service.act(logged, touch as ModelAction, { id: BigInt(id), input: {} }, []),
      );
      // The first is alone in its transaction. The last one waits, after the other of its transaction was done.
      await other.isWaitedFor().finally(() => other.end('COMMIT'));
      expect((await Promise.all(touched)).map(({ title }) => title)).toEqual(['First', 'Other', 'New']);
      const changes = (await send('GET', 'drafts/changes')).body;
      expect(changes.map(({ kind: what }: { kind: string }) => what)).toEqual([
        'created',
        'created',
        'created',
      ]);
    });
  },
  { gateway: () => loadGateway(GATEWAY) },
);

test('Reference-43: a reference is refused where its record could not be shown or checked', () => {
  const title = text({});
  const gatewayOf = (options: object) =>
    createGateway({
      name: 'X',
      nouns: [authors, defineNoun({ name: 'draft', fields: { title }, ...options } as never)],
    });
  const hidden = reference('author', { optional: true, writeOnly: true });
  expect(() => gatewayOf({ fields: { title, authorId: hidden } })).toThrow(
    'the reference authorId is writeOnly',
  );
  const actions = (action: (options: object) => object) => ({
    toss: action({ input: { authorId: reference('author', {}) }, run: () => ({}) }),
  });
  expect(() => gatewayOf({ actions })).toThrow('the action toss has the input authorId, a reference.');
  const computed = (make: (kind: object, of: () => bigint) => object) => ({
    authorId: make(reference('author', {}), () => 1n),
  });
  expect(() => gatewayOf({ computed })).toThrow('the computed field authorId is a reference');
  const same = (make: (kind: object, of: () => string) => object) => ({ author: make(text({}), () => 'x') });
  const authorId = reference('author', { filter: true });
  expect(() => gatewayOf({ fields: { title, authorId }, computed: same })).toThrow('two fields author');
});
