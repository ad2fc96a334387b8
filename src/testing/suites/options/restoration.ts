import assert from 'node:assert/strict';
import { type Answer, graphql, rest } from '../../http-client.js';
import { accepted } from '../../noun-doors.js';
import { TEST_ACTOR, type Tenant } from '../../tested-app.js';
import type { Suite } from '../suite.js';

const RESTORABLE_MS = 30 * 86_400_000;

/** Of a noun with softDelete. */
export const restoration: Suite = ({ noun, doors, app, fresh, scopes, testWith, beforeEach }) => {
  const { names, description } = noun;
  const { singular } = description;
  let owner: Tenant;
  beforeEach(async () => {
    owner = await app().tenant();
  });
  const send = (path: string, init: object = {}, { token } = owner) =>
    rest(app().url, `${names.path}${path}`, { token, ...init });
  const ask = async (query: string, { token } = owner) => (await graphql(app().url, query, { token })).body;
  const create = async () => accepted(await doors.rest.create(owner.token, fresh())).id;
  const remove = async (id: string) => assert.equal((await send(`/${id}`, { method: 'DELETE' })).status, 204);
  const restore = (id: string, headers = {}, by = owner) =>
    send(`/${id}/restore`, { method: 'POST', headers }, by);
  const restoreBy = (id: string, by = owner) =>
    ask(`mutation { it: ${names.restore}(id: "${id}") { ${names.fields} } }`, by);
  type Deleted = Record<string, { id: unknown }> & Readonly<Record<'deletedAt' | 'restorableUntil', string>>;
  const idsOf = (nodes: Deleted[]) => nodes.map((node) => String(node[singular]?.id));
  const deleted = async (): Promise<Deleted[]> => (await send('/deleted')).body;
  const TIMES = 'deletedAt restorableUntil';
  const keyWithout = async (missing: string) => {
    const wanted = scopes.filter((scope) => scope !== missing);
    const key = { projectId: owner.projectId, name: 'x', scopes: wanted, expiresAtMs: null };
    return { ...owner, token: (await app().app.services.apiKeys.create(TEST_ACTOR, key)).token };
  };
  const testOf = (name: string, body: () => Promise<void>) =>
    testWith(description.hasTrash || null, 'softDelete', name, body);

  testOf(
    'Restoring-1: both APIs list the deleted records alike, the last deleted one first, page by page',
    async () => {
      const ids = [await create(), await create(), await create()];
      const before = await send(`/${ids[0]}`);
      for (const id of ids) {
        app().clock.now += 1;
        await remove(id);
      }
      const all = await deleted();
      assert.deepEqual(idsOf(all), ids.toReversed());
      assert.deepEqual(all.at(-1)?.[singular], before.body);
      const until = Date.parse(all[0]?.deletedAt ?? '') + RESTORABLE_MS;
      assert.deepEqual(
        [all[0]?.deletedAt, all[0]?.restorableUntil],
        [app().clock.now, until].map((ms) => new Date(ms).toISOString()),
      );
      const page = (args: string) =>
        ask(
          `{ it: ${names.deleted}(${args}) { nodes { ${TIMES} ${singular} { id } } pageInfo { hasNextPage endCursor } } }`,
        );
      const { nodes, pageInfo } = (await page('first: 2')).data.it;
      const second = (await page(`first: 2, after: "${pageInfo.endCursor}"`)).data.it;
      assert.deepEqual([pageInfo.hasNextPage, second.pageInfo.hasNextPage], [true, false]);
      const shown = [...nodes, ...second.nodes];
      assert.deepEqual(idsOf(shown), idsOf(all));
      for (const name of ['deletedAt', 'restorableUntil'] as const)
        assert.deepEqual(
          shown.map((node) => node[name]),
          all.map((each) => each[name]),
        );
    },
  );

  testOf('Restoring-2: both APIs restore a record as it was, to every list, and once', async () => {
    const ids = [await create(), await create()];
    const answers: Answer<unknown>[] = [];
    for (const id of ids) answers.push(await send(`/${id}`));
    for (const id of ids) await remove(id);
    for (const list of Object.values(doors))
      assert.deepEqual(accepted(await list.list(owner.token, {})).records, []);
    assert.equal((await restore(ids[0] ?? '')).text, answers[0]?.text);
    const { data } = await restoreBy(ids[1] ?? '');
    assert.deepEqual(data.it, accepted(await doors.graphql.get(owner.token, ids[1] ?? '')));
    for (const [at, id] of ids.entries()) {
      const read = await send(`/${id}`);
      assert.deepEqual(
        [read.text, read.headers.get('etag')],
        [answers[at]?.text, answers[at]?.headers.get('etag')],
      );
      assert.equal((await restore(id)).status, 404);
      assert.equal((await restoreBy(id)).errors[0].extensions.code, 'NOT_FOUND');
    }
    for (const list of Object.values(doors)) {
      const { records } = accepted(await list.list(owner.token, {}));
      assert.deepEqual(
        records.map(({ id }) => id),
        ids,
      );
    }
    assert.deepEqual(await deleted(), []);
  });

  testOf(
    'Restoring-3: a repeated Idempotency-Key restores once, and answers as the first request',
    async () => {
      const id = await create();
      await remove(id);
      const key = { 'idempotency-key': 'restore' };
      const first = await restore(id, key);
      await remove(id);
      const again = await restore(id, key);
      assert.deepEqual([first.status, again.status, again.text], [200, 200, first.text]);
      assert.deepEqual(idsOf(await deleted()), [id]);
    },
  );

  testOf('Restoring-4: another project, and a key without the scope, see and restore nothing', async () => {
    const id = await create();
    await remove(id);
    const other = await app().tenant();
    assert.deepEqual((await send('/deleted', {}, other)).body, []);
    assert.equal((await restore(id, {}, other)).status, 404);
    assert.equal((await restoreBy(id, other)).errors[0].extensions.code, 'NOT_FOUND');
    const [reader, writer] = [await keyWithout(names.writeScope), await keyWithout(names.readScope)];
    assert.equal((await restore(id, {}, reader)).status, 403);
    assert.equal((await restoreBy(id, reader)).errors[0].extensions.code, 'FORBIDDEN');
    assert.equal((await send('/deleted', {}, writer)).status, 403);
    const list = `{ ${names.deleted} { nodes { deletedAt } } }`;
    assert.equal((await ask(list, writer)).errors[0].extensions.code, 'FORBIDDEN');
    assert.deepEqual(idsOf(await deleted()), [id]);
  });

  testOf('Restoring-5: after 30 days a deleted record is in no list, and is not restored', async () => {
    const id = await create();
    await remove(id);
    app().clock.now += RESTORABLE_MS;
    assert.deepEqual(await deleted(), []);
    assert.equal((await restore(id)).status, 404);
    assert.equal((await restoreBy(id)).errors[0].extensions.code, 'NOT_FOUND');
  });
};
