import { beforeEach, expect, test } from '@jest/globals';
import { loadGateway } from '../../src/app/gateway.js';
import { defineNoun } from '../../src/noun/define-noun.js';
import { text } from '../../src/noun/kinds/text.js';
import { REPLAYED } from '../../src/request/http/headers.js';
import { graphql, rest } from '../support/http/client.js';
import { NOTES } from '../support/nouns/notes.js';
import { onEachDatabase } from '../support/on-databases.js';
import { TEST_ACTOR, type Tenant } from '../support/start-app.js';

const DAY_MS = 86_400_000;
const PATH = '/v1/notes';
const NOTE = {
  title: 'Rëd 😀',
  page: 9223372036854775807n,
  weight: `${'9'.repeat(28)}.0123456789`,
  labels: ['b', 'a'],
};
const BODY = JSON.stringify({ ...NOTE, page: 0 }).replace('"page":0', `"page":${NOTE.page}`);

onEachDatabase(
  (app) => {
    let tenant: Tenant;
    beforeEach(async () => {
      tenant = await app().tenant();
    });
    const send = (path: string, init = {}) => rest(app().url, path, { token: tenant.token, ...init });
    const ask = async (query: string, by = tenant) =>
      (await graphql(app().url, query, { token: by.token })).body;
    const create = async (title = NOTE.title) => {
      const { status, body } = await send(PATH, { method: 'POST', body: BODY.replace(NOTE.title, title) });
      expect(status).toBe(201);
      return String(body.id);
    };
    const remove = async (id: string) =>
      expect((await send(`${PATH}/${id}`, { method: 'DELETE' })).status).toBe(204);
    const restore = (id: string, headers = {}) => send(`${PATH}/${id}/restore`, { method: 'POST', headers });
    const deleted = async (query = '') => (await send(`${PATH}/deleted${query}`)).body;
    const keyWith = async (...scopes: ('notes:read' | 'notes:write')[]) => {
      const wanted = { projectId: tenant.projectId, name: 'x', scopes, expiresAtMs: null };
      return { ...tenant, token: (await app().app.services.apiKeys.create(TEST_ACTOR, wanted)).token };
    };

    test('Trash-1: a deleted record is in no list, and comes back with its id and every value', async () => {
      const id = await create();
      const before = await send(`${PATH}/${id}`);
      await remove(id);
      expect((await send(`${PATH}/${id}`)).status).toBe(404);
      expect((await send(PATH)).body).toEqual([]);
      expect((await ask('{ noteCount notes(titleStartsWith: "R") { nodes { id } } }')).data).toEqual({
        noteCount: 0,
        notes: { nodes: [] },
      });
      expect(await deleted()).toEqual([
        {
          deletedAt: new Date(app().clock.now).toISOString(),
          restorableUntil: new Date(app().clock.now + 30 * DAY_MS).toISOString(),
          note: before.body,
        },
      ]);
      const restored = await restore(id);
      expect([restored.status, restored.text]).toEqual([200, before.text]);
      expect((await send(`${PATH}/${id}`)).text).toBe(before.text);
      expect((await send(PATH)).body).toEqual([before.body]);
      expect(await deleted()).toEqual([]);
      expect(await restore(id)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    });

    test('Trash-2: GraphQL lists and restores the same records, the last deleted one first, page by page', async () => {
      const ids = [await create('A'), await create('B'), await create('C')];
      for (const [at, id] of ids.entries()) {
        // Two are deleted in one moment.
        if (at < 2) app().clock.now += 1_000;
        expect((await ask(`mutation { deleteNote(id: "${id}") { id } }`)).errors).toBeUndefined();
      }
      const newest = [ids[2], ids[1], ids[0]];
      const list = (args: string) =>
        ask(`{ it: deletedNotes(${args}) { nodes { deletedAt restorableUntil note { id title page weight labels } }
          pageInfo { hasNextPage hasPreviousPage endCursor } } }`);
      const { nodes, pageInfo } = (await list('first: 2')).data.it;
      expect(nodes[0].note).toEqual({ id: ids[2], ...NOTE, title: 'C', page: String(NOTE.page) });
      expect(pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
      const second = (await list(`first: 2, after: "${pageInfo.endCursor}"`)).data.it;
      expect([...nodes, ...second.nodes].map(({ note }) => note.id)).toEqual(newest);
      expect(second.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
      const page = await send(`${PATH}/deleted?limit=2`);
      const [, next] = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '') ?? [];
      const rest = await send(next?.slice(next.indexOf('/v1')) ?? '');
      expect([...page.body, ...rest.body].map(({ note }) => String(note.id))).toEqual(newest);
      for (const wrong of ['after: "x"', 'first: 0']) {
        expect((await list(wrong)).errors[0].extensions.code).toBe('INVALID_REQUEST');
      }
      expect((await send(`${PATH}/deleted?limit=0&cursor=x`)).body.errors).toHaveLength(2);
      const restored = await ask(`mutation { restoreNote(id: "${ids[1]}") { title createdAt } }`);
      expect(restored.data.restoreNote.title).toBe('B');
    });

    test('Trash-3: after 30 days a record can be restored no longer, and is deleted for good', async () => {
      const [early, late] = [await create('early'), await create('late')];
      await remove(early);
      app().clock.now += 1;
      await remove(late);
      app().clock.now += 30 * DAY_MS - 1;
      expect((await restore(early)).status).toBe(404);
      expect((await deleted()).map(({ note }: { note: { title: string } }) => note.title)).toEqual(['late']);
      for (const { deleteOldRows } of app().app.services.capabilities.map((each) => ({
        deleteOldRows: () => each.deleteOldRows?.(),
      })))
        await deleteOldRows();
      const rows = await app().db.execute<{ title: string }>(
        'SELECT title FROM deleted_notes WHERE project_id = ?',
        [tenant.projectId],
      );
      expect(rows.map(({ title }) => title)).toEqual(['late']);
      expect((await restore(late)).status).toBe(200);
    });

    test('Trash-4: a unique value of a deleted record is free, and a restoration that needs it changes nothing', async () => {
      const first = await create();
      await remove(first);
      const second = await create();
      const refused = await restore(first);
      expect([refused.status, refused.body.message]).toEqual([
        409,
        'Another note of the project has this title. Use another one, or change that note.',
      ]);
      expect(await deleted()).toHaveLength(1);
      await remove(second);
      expect((await restore(first)).status).toBe(200);
      expect(await deleted()).toHaveLength(1);
    });

    test('Trash-5: of 10 simultaneous restorations one restores, and a repeated Idempotency-Key gets its answer', async () => {
      const id = await create();
      await remove(id);
      const answers = await Promise.all(Array.from({ length: 10 }, () => restore(id)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(404)]);
      await remove(id);
      const key = { 'idempotency-key': 'restore' };
      const first = await restore(id, key);
      const again = await restore(id, key);
      expect([first.status, again.status, again.text, again.headers.get(REPLAYED)]).toEqual([
        200,
        200,
        first.text,
        'true',
      ]);
    });

    test('Trash-6: the log has the deletion and the restoration, and another project sees none of it', async () => {
      await app().app.services.projects.change(TEST_ACTOR, tenant.slug, { isLogged: true });
      app().clock.now += 60_000;
      const id = await create();
      await remove(id);
      await restore(id);
      const changes = (await send(`${PATH}/changes`)).body;
      expect(changes.map(({ kind }: { kind: string }) => kind)).toEqual(['created', 'deleted', 'created']);
      await remove(id);
      const other = await app().tenant();
      expect(
        (await rest(app().url, `${PATH}/${id}/restore`, { method: 'POST', token: other.token })).status,
      ).toBe(404);
      expect((await ask('{ deletedNotes { nodes { deletedAt } } }', other)).data.deletedNotes.nodes).toEqual(
        [],
      );
    });

    test('Trash-7: the list needs the scope to read, a restoration the one to write, and to read for its answer', async () => {
      const id = await create();
      await remove(id);
      const [reader, writer] = [await keyWith('notes:read'), await keyWith('notes:write')];
      expect((await ask('{ deletedNotes { nodes { deletedAt } } }', writer)).errors[0].extensions.code).toBe(
        'FORBIDDEN',
      );
      const restoring = (fields: string) => `mutation { restoreNote(id: "${id}") { ${fields} } }`;
      expect((await ask(restoring('id'), reader)).errors[0].extensions.code).toBe('FORBIDDEN');
      expect((await ask(restoring('id title'), writer)).errors[0].extensions.code).toBe('FORBIDDEN');
      expect((await ask(restoring('id'), writer)).data.restoreNote).toEqual({ id });
    });

    test('Trash-8: the document has both operations, and says that a deletion is not for good', async () => {
      const { paths } = (await send('/v1/openapi.json')).body;
      expect(Object.keys(paths)).toEqual(
        expect.arrayContaining(['/notes/deleted', '/notes/{noteId}/restore']),
      );
      expect(paths['/notes/{noteId}'].delete.description).toContain('can be restored for 30 days');
    });
  },
  { gateway: () => loadGateway(NOTES) },
);

test('Trash-9: a noun without the usual way to read one record cannot have it', () => {
  const define = () =>
    defineNoun({ name: 'note', fields: { title: text({}) }, softDelete: true, get: false });
  expect(define).toThrow('The noun note: softDelete needs the usual get.');
});
