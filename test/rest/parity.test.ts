import { beforeAll, expect, test } from '@jest/globals';
import { graphql, rest } from '../support/http/client.js';
import { onEachDatabase } from '../support/on-databases.js';
import type { Tenant } from '../support/start-app.js';

/** The answer of a door, in terms that both doors share. */
type Outcome =
  | { ok: true; value: unknown }
  | { ok: false; code: string; status: number; fields: string[]; retryAfter: boolean };

interface Door {
  create(token: string | null, input: Record<string, unknown>, key?: string): Promise<Outcome>;
  get(token: string | null, id: string): Promise<Outcome>;
  list(token: string | null, query: { size?: number; status?: string; cursor?: string }): Promise<Outcome>;
}

/** The doors differ in these field names only. */
const FIELD_OF_GRAPHQL: Record<string, string> = { first: 'limit', after: 'cursor' };

function restDoor(url: () => string): Door {
  const outcome = (
    { status, body, headers }: Awaited<ReturnType<typeof rest>>,
    present: (body: never) => unknown,
  ): Outcome => {
    if (status < 400) return { ok: true, value: present(body as never) };
    const fields = (body.errors ?? []).map(({ field }: { field: string }) => field).sort();
    return { ok: false, code: body.code, status, fields, retryAfter: headers.has('retry-after') };
  };
  const pet = ({ id, name, categoryId, status = null }: Record<string, unknown>) => ({
    id: String(id),
    name,
    categoryId: String(categoryId),
    status,
  });
  return {
    create: async (token, { categoryId, ...input }, key) => {
      const body = JSON.stringify({ ...input, categoryId: '@' }).replace('"@"', String(categoryId));
      const headers = key === undefined ? {} : { 'idempotency-key': key };
      return outcome(await rest(url(), '/v1/pets', { method: 'POST', token, body, headers }), pet);
    },
    get: async (token, id) => outcome(await rest(url(), `/v1/pets/${id}`, { token }), pet),
    list: async (token, { size, status, cursor }) => {
      const query = new URLSearchParams();
      if (size !== undefined) query.set('limit', String(size));
      if (status !== undefined) query.set('status', status);
      if (cursor !== undefined) query.set('cursor', cursor);
      const answer = await rest(url(), `/v1/pets?${query}`, { token });
      const [, next] = /[?&]cursor=([^&>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '') ?? [];
      return outcome(answer, (pets: Record<string, unknown>[]) => ({
        pets: pets.map(pet),
        next: next ?? null,
      }));
    },
  };
}

function graphqlDoor(url: () => string): Door {
  const FIELDS = 'id name categoryId status';
  const outcome = (
    { body }: Awaited<ReturnType<typeof graphql>>,
    present: (data: never) => unknown,
  ): Outcome => {
    const [error] = body.errors ?? [];
    if (!error) return { ok: true, value: present(body.data as never) };
    const { code, status, errors = [], retryAfterSeconds } = error.extensions;
    const fields = errors.map(({ field }: { field: string }) => FIELD_OF_GRAPHQL[field] ?? field).sort();
    return {
      ok: false,
      code: code.toLowerCase(),
      status,
      fields,
      retryAfter: retryAfterSeconds !== undefined,
    };
  };
  return {
    create: async (token, { categoryId, ...input }, key) => {
      const variables = { input: { ...input, categoryId: String(categoryId) } };
      const headers = key === undefined ? {} : { 'idempotency-key': key };
      const query = `mutation($input: NewPet!) { createPet(input: $input) { ${FIELDS} } }`;
      return outcome(
        await graphql(url(), query, { token, variables, headers }),
        ({ createPet }: { createPet: unknown }) => createPet,
      );
    },
    get: async (token, id) =>
      outcome(
        await graphql(url(), `query($id: ID!) { pet(id: $id) { ${FIELDS} } }`, { token, variables: { id } }),
        ({ pet }: { pet: unknown }) => pet,
      ),
    list: async (token, { size, status, cursor }) => {
      const query = `query($first: Int, $after: String, $status: PetStatus) {
        pets(first: $first, after: $after, status: $status) { nodes { ${FIELDS} } pageInfo { hasNextPage endCursor } } }`;
      const variables = { first: size, after: cursor, status };
      return outcome(
        await graphql(url(), query, { token, variables }),
        ({ pets }: { pets: { nodes: unknown; pageInfo: { hasNextPage: boolean; endCursor: string } } }) => ({
          pets: pets.nodes,
          next: pets.pageInfo.hasNextPage ? pets.pageInfo.endCursor : null,
        }),
      );
    },
  };
}

onEachDatabase((app) => {
  let tenant: Tenant;
  const ids: string[] = [];
  const doors = { rest: restDoor(() => app().url), graphql: graphqlDoor(() => app().url) };

  beforeAll(async () => {
    tenant = await app().tenant();
    for (let at = 0; at < 7; at += 1) {
      const made = await doors.rest.create(tenant.token, {
        name: `Pet ${at}`,
        categoryId: at,
        ...(at % 2 ? { status: 'sold' } : {}),
      });
      if (made.ok) ids.push((made.value as { id: string }).id);
    }
  });

  async function both(ask: (door: Door) => Promise<Outcome>): Promise<Outcome> {
    const [atRest, atGraphql] = [await ask(doors.rest), await ask(doors.graphql)];
    expect(atGraphql).toEqual(atRest);
    return atRest;
  }

  test('Parity-1: both doors give the same lists, page by page, with the same cursors', async () => {
    for (const status of [undefined, 'sold', 'pending']) {
      let cursor: string | undefined;
      do {
        const page = await both((door) =>
          door.list(tenant.token, { size: 2, ...(status ? { status } : {}), ...(cursor ? { cursor } : {}) }),
        );
        if (!page.ok) throw new Error('a list was refused');
        cursor = (page.value as { next: string | null }).next ?? undefined;
      } while (cursor);
    }
  });

  test('Parity-2: both doors give the same pet, and refuse unknown ids alike', async () => {
    for (const id of [...ids, '1', 'abc', '-5', '9223372036854775808'])
      await both((door) => door.get(tenant.token, id));
  });

  test('Parity-3: a pet created at one door is shown by the other', async () => {
    for (const categoryId of ['9223372036854775807', '-9223372036854775808', '9007199254740993', '0']) {
      for (const [maker, reader] of [
        [doors.rest, doors.graphql],
        [doors.graphql, doors.rest],
      ] as const) {
        const made = await maker.create(tenant.token, { name: '🐈 Zoë', categoryId, status: 'pending' });
        if (!made.ok) throw new Error('a pet was refused');
        expect(await reader.get(tenant.token, (made.value as { id: string }).id)).toEqual(made);
      }
    }
  });

  test.each([
    [{ name: '', categoryId: 1 }],
    [{ name: ' ', categoryId: 1 }],
    [{ name: 'x'.repeat(256), categoryId: 1 }],
    [{ name: 'a\u0000', categoryId: 1 }],
    [{ name: '\ud800', categoryId: 1 }],
    [{ name: '', categoryId: '9223372036854775808' }],
    [{ name: 'Rex', categoryId: '1.5' }],
  ])('Parity-4: both doors refuse %j alike', async (input) => {
    expect((await both((door) => door.create(tenant.token, input))).ok).toBe(false);
  });

  test('Parity-5: both doors refuse page sizes and cursors alike', async () => {
    for (const query of [{ size: 0 }, { size: 101 }, { cursor: 'x' }, { size: 0, cursor: 'x' }]) {
      expect((await both((door) => door.list(tenant.token, query))).ok).toBe(false);
    }
  });

  test('Parity-6: both doors refuse callers alike', async () => {
    const { token } = await app().tenant({ scopes: [] });
    for (const caller of [null, 'pk_wrong', token]) {
      await both((door) => door.list(caller, {}));
      await both((door) => door.get(caller, ids[0] ?? ''));
      await both((door) => door.create(caller, { name: 'Rex', categoryId: 1 }));
    }
  });

  test('Parity-7: both doors treat an Idempotency-Key alike', async () => {
    await both((door) => door.create(tenant.token, { name: 'Rex', categoryId: 1 }, 'parity'));
    await both((door) => door.create(tenant.token, { name: 'Max', categoryId: 1 }, 'parity'));
    await both((door) => door.create(tenant.token, { name: 'Max', categoryId: 1 }, ''));
  });

  test('Parity-8: both doors end getPet at the same time', async () => {
    const { now } = app().clock;
    app().clock.now = Date.UTC(2031, 0, 1);
    await both((door) => door.get(tenant.token, ids[0] ?? ''));
    app().clock.now = now;
  });

  test('Parity-9: a pet that GraphQL deleted is unknown at both doors', async () => {
    const made = await doors.rest.create(tenant.token, { name: 'Rex', categoryId: 1 });
    const { id } = (made as { value: { id: string } }).value;
    await both((door) => door.list(tenant.token, { size: 100 }));
    await graphql(app().url, `mutation { deletePet(id: "${id}") { id } }`, { token: tenant.token });
    const list = await both((door) => door.list(tenant.token, { size: 100 }));
    expect(JSON.stringify(list)).not.toContain(id);
    expect((await both((door) => door.get(tenant.token, id))).ok).toBe(false);
  });

  test("Parity-10: both doors refuse the cursors of GraphQL's other lists alike", async () => {
    for (const args of [
      'orderBy: NEWEST',
      'nameStartsWith: "P"',
      `ids: ["${ids[0]}"]`,
      'orderBy: NEWEST, status: sold',
    ]) {
      const query = `{ pets(first: 1, ${args}) { pageInfo { endCursor } } }`;
      const { body } = await graphql(app().url, query, { token: tenant.token });
      const cursor = body.data.pets.pageInfo.endCursor;
      for (const status of [{}, { status: 'sold' }]) {
        const refused = await both((door) => door.list(tenant.token, { cursor, ...status }));
        expect(refused).toMatchObject({ ok: false, status: 400, fields: ['cursor'] });
      }
    }
  });
});
