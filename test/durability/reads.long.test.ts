import { copyFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import libsql from 'libsql';
import { databaseKinds } from '../support/databases.js';
import { killed } from '../support/durability/faults.js';
import { FaultyGateway, type Tenant } from '../support/durability/faulty-gateway.js';
import { eventually } from '../support/eventually.js';
import { graphql, rest } from '../support/http/client.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const LONGEST_BAN_SECONDS = 3_600;
/** Several transactions of the change log. */
const MANY_WRITES = 100;
const CREATE = 'mutation ($name: String!) { createToy(input: {name: $name, categoryId: 1}) { id } }';
const CHANGES =
  'query ($after: String) { toyChanges(first: 100, after: $after) { nodes { toy { id } } pageInfo { endCursor } } }';
const LIST = `query ($after: String, $order: ToyOrder) {
  toys(first: 7, after: $after, orderBy: $order) { nodes { id } pageInfo { hasNextPage endCursor } }
}`;

describe.each(databaseKinds())('on %s', (kind) => {
  let gateway: FaultyGateway;
  beforeAll(async () => {
    gateway = await FaultyGateway.start(kind);
  });
  afterAll(() => gateway?.stop());

  async function ask({ token }: Tenant, query: string, variables: Record<string, unknown> = {}) {
    const { body } = await graphql(gateway.url, query, { token, variables });
    if (body.errors) throw new Error(JSON.stringify(body.errors));
    return body.data;
  }
  const create = async (tenant: Tenant, name = 'Rex'): Promise<string> =>
    (await ask(tenant, CREATE, { name })).createToy.id;

  /** Follows a list to its end; returns the ids and the last cursor. */
  async function listed(tenant: Tenant, from: string | null, order: 'OLDEST' | 'NEWEST' = 'OLDEST') {
    const ids: string[] = [];
    for (let after = from; ; ) {
      const { nodes, pageInfo } = (await ask(tenant, LIST, { after, order })).toys;
      ids.push(...nodes.map(({ id }: { id: string }) => id));
      after = pageInfo.endCursor ?? after;
      if (!pageInfo.hasNextPage) return { ids, end: after };
    }
  }

  test('Durable-9: a ban of a clock that was a day ahead ends within an hour', async () => {
    await gateway.order({ clockAheadMs: DAY_MS });
    const tenant = await gateway.tenant({ plan: 'FREE' });
    const list = () => rest(gateway.url, '/v1/toys', { token: tenant.token });
    await eventually('a ban', async () => (await list()).body.code === 'key_banned', 120_000);
    await gateway.order({ clockAheadMs: 0 });
    const waitSeconds = async () => Number((await list()).headers.get('retry-after') ?? 0);
    // A used-up quota of the other day does not count either.
    expect(await waitSeconds()).toBeLessThanOrEqual(LONGEST_BAN_SECONDS);
    gateway.kill('SIGTERM');
    expect(await gateway.ended()).toBe(0);
    await gateway.begin();
    expect(await waitSeconds()).toBeLessThanOrEqual(LONGEST_BAN_SECONDS);
  });

  test('Durable-10: an open change log stays open when the clock goes back by an hour', async () => {
    const tenant = await gateway.tenant({ isLogged: true });
    const id = await create(tenant);
    await gateway.order({ clockAheadMs: -HOUR_MS });
    // The cached key of the project must not hide it.
    gateway.kill('SIGTERM');
    await gateway.ended();
    await gateway.begin();
    expect((await ask(tenant, CHANGES)).toyChanges.nodes).toEqual([{ toy: { id } }]);
    await gateway.order({ clockAheadMs: 0 });
  });

  test.each([
    ['while it runs', false],
    ['before a restart', true],
  ])(
    'Durable-11: a clock that goes back by a day %s puts no new toy before an old one',
    async (_, restarts) => {
      await gateway.order({ clockAheadMs: DAY_MS });
      const tenant = await gateway.tenant();
      await create(tenant);
      const { end } = await listed(tenant, null);
      if (restarts) {
        gateway.kill('SIGKILL');
        await gateway.ended();
        await gateway.begin({ clockAheadMs: 0 });
      } else {
        await gateway.order({ clockAheadMs: 0 });
      }
      const id = await create(tenant);
      expect((await listed(tenant, end)).ids).toEqual([id]);
      expect((await listed(tenant, null, 'NEWEST')).ids[0]).toBe(id);
    },
  );

  test('Durable-12: an Idempotency-Key that a dead process held with its clock ahead is free within seconds', async () => {
    const tenant = await gateway.tenant();
    await gateway.order({ clockAheadMs: DAY_MS });
    const send = () =>
      rest(gateway.url, '/v1/toys', {
        method: 'POST',
        token: tenant.token,
        body: { name: 'held', categoryId: 1 },
        headers: { 'idempotency-key': 'held' },
      });
    // Behind the insert of the key's row; the commit with the toy is missing.
    for (let place = 1; ; place += 1) {
      await killed.arm(gateway, place);
      await expect(send()).rejects.toThrow();
      gateway.trap?.release();
      await gateway.ended();
      if (await isHeld(tenant)) break;
      await gateway.begin();
    }
    await gateway.begin({ clockAheadMs: 0 });
    await eventually('the toy', async () => (await send()).status === 201, 20_000, 500);
    expect(await gateway.count('toys WHERE project_id = ?', [tenant.projectId])).toBe(1);
  });

  /** Whether a key is held, and nothing was made with it. */
  async function isHeld({ projectId }: Tenant): Promise<boolean> {
    return (
      (await gateway.count('idempotency_keys WHERE project_id = ? AND result IS NULL', [projectId])) === 1
    );
  }

  test('Durable-13: whoever lists sees each toy of before exactly once, whatever is written beside', async () => {
    const tenant = await gateway.tenant();
    const known: string[] = [];
    for (let at = 0; at < 40; at += 1) known.push(await create(tenant));
    let isWriting = true;
    const writers = Array.from({ length: 10 }, async () => {
      while (isWriting) await create(tenant).catch(() => {});
    });
    const lists = [];
    for (const order of ['OLDEST', 'NEWEST'] as const) lists.push((await listed(tenant, null, order)).ids);
    isWriting = false;
    await Promise.all(writers);
    for (const ids of lists) {
      expect(new Set(ids).size).toBe(ids.length);
      expect(known.filter((id) => !ids.includes(id))).toEqual([]);
    }
  });

  test('Durable-14: no cursor of the change log is beyond a change that its reader did not see', async () => {
    const [plain, cursorOfList] = [CHANGES, '{ toys(first: 100) { changesCursor nodes { id } } }'];
    for (const query of [plain, cursorOfList]) {
      for (let place = 1, isMet = true; isMet; place += 1) {
        const tenant = await gateway.tenant({ isLogged: true });
        // The tenant's key is known, so that the statements are those of the read.
        await ask(tenant, '{ __typename }');
        gateway.trap?.set('slow', place);
        const reading = ask(tenant, query);
        if (gateway.trap)
          await eventually('a slow statement', () => gateway.trap?.hasCaught, 200, 1).catch(() => {});
        const id = await create(tenant);
        const page = await reading;
        isMet = gateway.trap?.release() ?? false;
        const seen = page.toyChanges?.nodes.map(({ toy }: { toy: { id: string } }) => toy.id) ?? [
          ...page.toys.nodes.map((toy: { id: string }) => toy.id),
        ];
        const after = page.toyChanges?.pageInfo.endCursor ?? page.toys.changesCursor;
        const later = (await ask(tenant, CHANGES, { after })).toyChanges.nodes;
        const all = [...seen, ...later.map(({ toy }: { toy: { id: string } }) => toy.id)];
        expect({ place, query, isSeen: all.includes(id) }).toEqual({ place, query, isSeen: true });
      }
    }
  });

  test('Durable-16: of writes that wait for a lock longer than their requests none is done', async () => {
    const tenant = await gateway.tenant({ isLogged: true });
    const release = await gateway.lock();
    const body = { name: 'late', categoryId: 1 };
    const send = () => rest(gateway.url, '/v1/toys', { method: 'POST', token: tenant.token, body });
    const answers = await Promise.all(Array.from({ length: MANY_WRITES }, send));
    await release();
    expect(answers.filter(({ status }) => status !== 503)).toEqual([]);
    // The next write of the project waits for all that are in its queue.
    await eventually('a write', async () => (await send()).status === 201);
    expect(await gateway.count('toys WHERE project_id = ?', [tenant.projectId])).toBe(1);
  });

  if (kind === 'sqlite') {
    test('Durable-15: after a clean stop the file alone has everything', async () => {
      const tenant = await gateway.tenant();
      const ids = [];
      for (let at = 0; at < 20; at += 1) ids.push(await create(tenant));
      gateway.kill('SIGTERM');
      expect(await gateway.ended()).toBe(0);
      const copy = `${gateway.path}.copy`;
      await copyFile(gateway.path, copy);
      const file = new libsql(copy);
      const rows = file.prepare('SELECT id FROM toys WHERE project_id = ?').all(tenant.projectId);
      file.close();
      expect(rows).toHaveLength(ids.length);
      await gateway.begin();
    });
  }
});
