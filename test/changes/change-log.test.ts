import { beforeEach, describe, expect, test } from '@jest/globals';
import { ChangeLogRow, ChangeRow } from '../../src/ground/records/change-log.entity.js';
import { cursorOf } from '../../src/ground/records/position.js';
import { changesClient, openLog } from '../support/changes/changes.js';
import { onEachDatabase } from '../support/on-databases.js';
import { TEST_ACTOR, type Tenant } from '../support/start-app.js';

onEachDatabase((app) => {
  let owner: Tenant;
  const client = changesClient(app, () => owner);
  beforeEach(async () => {
    owner = await app().tenant();
    await openLog(app(), owner);
  });
  const setLog = (isLogged: boolean) =>
    app().app.services.projects.change(TEST_ACTOR, owner.slug, { isLogged });
  const kinds = async (variables = {}) =>
    (await client.changes(variables)).nodes.map(({ kind, toy }) => `${kind} ${toy.name} ${toy.status}`);

  describe('the change log', () => {
    test('Changes-1: a creation, an update and a deletion are each one change, in this order', async () => {
      const id = await client.create('Rex', 'available');
      await client.update(id, { status: 'sold', name: 'Max' });
      await client.delete(id);
      const { nodes, pageInfo } = await client.changes();
      expect(nodes.map(({ kind, toy }) => [kind, toy.id, toy.name, toy.status])).toEqual([
        ['CREATED', id, 'Rex', 'available'],
        ['UPDATED', id, 'Max', 'sold'],
        ['DELETED', id, 'Max', 'sold'],
      ]);
      expect(pageInfo).toEqual({ hasNextPage: false, endCursor: nodes[2]?.cursor });
    });

    test('Changes-2: an update that changes no value makes no change', async () => {
      const id = await client.create('Rex', 'available');
      await client.update(id, { status: 'available', name: 'Rex' });
      expect(await kinds()).toEqual(['CREATED Rex available']);
    });

    test('Changes-3: pages continue with `endCursor`, without a gap and without a repetition', async () => {
      const inputs = Array.from({ length: 7 }, (_, at) => ({ name: `Toy ${at}`, categoryId: '1' }));
      await client.send('mutation($inputs: [NewToy!]!) { createToys(inputs: $inputs) { id } }', { inputs });
      const seen: string[] = [];
      for (let after: string | null = null, hasNextPage = true; hasNextPage; ) {
        const page = await client.changes({ first: 3, after });
        seen.push(...page.nodes.map(({ toy }) => toy.name));
        ({ endCursor: after, hasNextPage } = page.pageInfo);
      }
      expect(seen).toEqual(inputs.map(({ name }) => name));
    });

    test('Changes-4: `status` matches the toy before or after the change', async () => {
      const id = await client.create('Rex', 'available');
      await client.create('Luna', 'pending');
      await client.update(id, { name: 'Max' });
      await client.update(id, { status: 'sold' });
      await client.update(id, { name: 'Moritz' });
      await client.delete(id);
      expect(await kinds({ status: 'available' })).toEqual([
        'CREATED Rex available',
        'UPDATED Max available',
        'UPDATED Max sold',
      ]);
      expect(await kinds({ status: 'sold' })).toEqual([
        'UPDATED Max sold',
        'UPDATED Moritz sold',
        'DELETED Moritz sold',
      ]);
    });

    test('Changes-5: the changes behind the `changesCursor` of a page are those after it was read', async () => {
      await client.create('Rex');
      const { changesCursor, nodes } = await client.list();
      expect(nodes.map(({ name }) => name)).toEqual(['Rex']);
      await client.create('Luna');
      const { nodes: changes } = await client.changes({ after: changesCursor });
      expect(changes.map(({ toy }) => toy.name)).toEqual(['Luna']);
      const empty = await client.list('first: 1, nameStartsWith: "Nobody"');
      expect(await client.changes({ after: empty.changesCursor })).toEqual({
        nodes: [],
        pageInfo: { hasNextPage: false, endCursor: empty.changesCursor },
      });
      const byId = await client.list(`ids: ["${nodes[0]?.id}"]`);
      expect(byId.changesCursor).toBe(empty.changesCursor);
    });

    test('Changes-6: concurrent writes are numbered in the order of their commits, each number once', async () => {
      await Promise.all(Array.from({ length: 30 }, (_, at) => client.create(`Toy ${at}`)));
      const { nodes } = await client.changes();
      expect(new Set(nodes.map(({ toy }) => toy.name)).size).toBe(30);
      const rows = await app().db.repository(ChangeRow).findBy({ projectId: owner.projectId });
      expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 30 }, (_, at) => at + 1));
    });

    test('Changes-17: concurrent writes share transactions, and one that fails fails no other', async () => {
      const id = await client.create('Rex');
      const key = { 'idempotency-key': 'once' };
      const input = { name: 'Luna', categoryId: '1' };
      const repeated = () =>
        client.send('mutation($input: NewToy!) { createToy(input: $input) { id } }', { input }, key);
      const answers = await Promise.all([
        ...Array.from({ length: 10 }, (_, at) => client.create(`Toy ${at}`)),
        client.delete(id),
        client.delete(id),
        client.update(id, { name: 'Max' }),
        repeated(),
        repeated(),
      ]);
      expect(answers).toHaveLength(15);
      const { nodes } = await client.changes();
      const created = nodes.filter(({ kind }) => kind === 'CREATED').map(({ toy }) => toy.name);
      expect(created.sort()).toEqual(
        ['Luna', 'Rex', ...Array.from({ length: 10 }, (_, at) => `Toy ${at}`)].sort(),
      );
      expect(nodes.filter(({ kind }) => kind === 'DELETED')).toHaveLength(1);
      expect((await client.list()).nodes).toHaveLength(11);
    });

    test('Changes-18: a page without a cursor ends before a change that was committed while it was read', async () => {
      let isFirst = true;
      app().db.traceStatements(async (sql, run) => {
        const rows = await run();
        if (isFirst && /FROM changes WHERE/.test(sql)) {
          isFirst = false;
          await client.create('Rex');
        }
        return rows;
      });
      const { nodes, pageInfo } = await client.changes();
      expect([isFirst, nodes]).toEqual([false, []]);
      const { nodes: next } = await client.changes({ after: pageInfo.endCursor });
      expect(next.map(({ toy }) => toy.name)).toEqual(['Rex']);
    });

    test('Changes-7: a failed write leaves no change', async () => {
      const inputs = [
        { name: 'Rex', categoryId: '1' },
        { name: ' ', categoryId: '1' },
      ];
      await client.send('mutation($inputs: [NewToy!]!) { createToys(inputs: $inputs) { id } }', { inputs });
      await client.update('4711', { name: 'Max' });
      await client.delete('4711');
      expect(await kinds()).toEqual([]);
    });
  });

  describe('cursors', () => {
    test('Changes-8: a malformed cursor is INVALID_REQUEST and names the argument', async () => {
      for (const after of [
        '',
        'x',
        Buffer.from('toy:42').toString('base64url'),
        `${cursorOf({ number: 1, atMs: 2 })}A`,
      ]) {
        const { extensions } = await client.refusal({ after });
        expect(extensions).toMatchObject({ code: 'INVALID_REQUEST', status: 400 });
        expect(extensions.errors[0].field).toBe('after');
      }
    });

    test('Changes-9: a cursor whose next change was trimmed is GONE, with advice', async () => {
      const { changesCursor: old } = await client.list();
      await client.create('Rex');
      const [rex] = (await client.changes()).nodes;
      await client.create('Luna');
      app().clock.now += 7 * 86_400_000 + 1;
      await client.create('Max');
      await app().app.services.changes.log.deleteOldRows();
      expect((await client.changes()).nodes.map(({ toy }) => toy.name)).toEqual(['Max']);
      for (const after of [old, rex?.cursor]) {
        const { message, extensions } = await client.refusal({ after });
        expect(extensions).toMatchObject({
          code: 'GONE',
          status: 410,
          advice: expect.stringContaining('List again'),
        });
        expect(message).toContain('List again');
      }
      const { changesCursor } = await client.list();
      expect((await client.changes({ after: changesCursor })).nodes).toEqual([]);
    });

    test('Changes-10: a cursor of before the log was switched off and on is GONE', async () => {
      await client.create('Rex');
      const { changesCursor: old } = await client.list();
      await setLog(false);
      app().clock.now += 1_000;
      expect((await client.refusal({ after: old })).extensions).toMatchObject({
        code: 'CONFLICT',
        status: 409,
      });
      expect((await client.list()).changesCursor).toBeNull();
      await client.create('Unlogged');
      await openLog(app(), owner);
      expect((await client.refusal({ after: old })).extensions.code).toBe('GONE');
      await client.create('Luna');
      expect((await client.refusal({ after: old })).extensions.code).toBe('GONE');
    });

    test('Changes-11: a cursor of after the backup is GONE when the database is restored, also when its number is used again', async () => {
      await client.create('Rex');
      const logs = app().db.repository(ChangeLogRow);
      const backup = await logs.findOneByOrFail({ projectId: owner.projectId });
      app().clock.now += 1_000;
      await client.create('Lost');
      const { changesCursor: lost } = await client.list();
      await app().db.repository(ChangeRow).delete({ projectId: owner.projectId, number: 2 });
      await logs.update({ projectId: owner.projectId }, backup);
      expect((await client.refusal({ after: lost })).extensions.code).toBe('GONE');
      app().clock.now += 1_000;
      await client.create('Luna');
      expect((await client.refusal({ after: lost })).extensions.code).toBe('GONE');
      await client.create('Max');
      expect((await client.refusal({ after: lost })).extensions.code).toBe('GONE');
    });

    test.each([3_600_000, 86_400_000])(
      'Changes-19: an open log stays open when the clock is set back by %i ms',
      async (backMs) => {
        await client.create('Rex');
        app().clock.now -= backMs;
        expect(await kinds()).toEqual(['CREATED Rex null']);
        app().clock.now += backMs;
      },
    );

    test('Changes-12: the log opens only when every process writes it', async () => {
      await setLog(false);
      await setLog(true);
      app().clock.now += 14_000;
      await client.create('Rex');
      expect((await client.list()).changesCursor).toBeNull();
      expect((await client.refusal({})).message).toContain('opens at');
      app().clock.now += 1_000;
      expect(await kinds()).toEqual(['CREATED Rex null']);
    });
  });

  test('Changes-13: REST has the same changes, and a link to the next ones', async () => {
    const list = await client.rest('/toys?limit=1');
    const start = list.headers.get('petstore-changes-cursor');
    const id = await client.create('Rex', 'available');
    await client.update(id, { status: 'sold' });
    const { status, body, headers } = await client.rest(`/toys/changes?cursor=${start}&status=available`);
    expect(status).toBe(200);
    const { nodes } = await client.changes({ after: start });
    expect(body).toEqual(
      nodes.map(({ cursor, kind, at, toy }) => ({
        cursor,
        kind: kind.toLowerCase(),
        at,
        toy: {
          id: BigInt(toy.id) > 2n ** 53n ? BigInt(toy.id) : Number(toy.id),
          name: 'Rex',
          categoryId: 1,
          status: toy.status,
        },
      })),
    );
    const [, next] = /<[^>]*\/v1([^>]*)>; rel="next"/.exec(headers.get('link') ?? '') ?? [];
    expect((await client.rest(String(next))).body).toEqual([]);
    expect((await client.rest('/toys/changes?cursor=x&limit=0')).body.errors).toEqual([
      { field: 'limit', message: 'must be a whole number from 1 to 100 (got 0)' },
    ]);
    expect((await client.rest('/toys/changes?cursor=x')).body).toMatchObject({ code: 'invalid_request' });
  });

  test('Changes-14: a key without the scope `toys:read` reads no changes', async () => {
    owner = await app().tenant({ scopes: ['toys:write'] });
    expect((await client.refusal({})).extensions.code).toBe('FORBIDDEN');
  });

  test('Changes-15: while the log is off nothing is logged, and nothing is asked of it', async () => {
    owner = await app().tenant();
    await client.create('Rex');
    expect((await client.list()).changesCursor).toBeNull();
    expect(await app().db.repository(ChangeRow).countBy({ projectId: owner.projectId })).toBe(0);
    expect((await client.refusal({})).extensions).toMatchObject({ code: 'CONFLICT' });
    const project = await client.send('{ project { changes } }');
    expect(project.data.project.changes).toBe(false);
  });

  test('Changes-16: at most a million changes of a project are kept', async () => {
    const { projectId } = owner;
    await client.create('Rex');
    await client.create('Luna');
    await app().db.repository(ChangeLogRow).update({ projectId }, { number: 1_000_000 });
    await client.create('Max');
    await app().app.services.changes.log.deleteOldRows();
    const rows = await app().db.repository(ChangeRow).findBy({ projectId });
    expect(rows.map(({ number }) => number)).toEqual([2, 1_000_001]);
  });
});
