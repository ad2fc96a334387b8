import { beforeAll, expect, test } from '@jest/globals';
import { graphql, rest } from '../support/http/client.js';
import { onAnyDatabase } from '../support/on-databases.js';
import type { Tenant } from '../support/start-app.js';

onAnyDatabase((app) => {
  let mine: Tenant;
  let foreignIds: string[];
  const unknownId = '4503599627370496';

  beforeAll(async () => {
    mine = await app().tenant();
    const theirs = await app().tenant();
    foreignIds = [];
    for (const status of ['available', 'sold']) {
      const { body } = await rest(app().url, '/v1/pets', {
        method: 'POST',
        token: theirs.token,
        body: { name: 'Theirs', categoryId: 7, status },
        headers: { 'idempotency-key': `theirs-${status}` },
      });
      foreignIds.push(String(body.id));
    }
  });

  const operations: Record<string, (id: string) => Promise<{ status: number; text: string }>> = {
    'GET /v1/pets/{petId}': (id) => rest(app().url, `/v1/pets/${id}`, { token: mine.token }),
    'HEAD /v1/pets/{petId}': (id) => rest(app().url, `/v1/pets/${id}`, { method: 'HEAD', token: mine.token }),
    'GET /v1/pets?cursor': (id) =>
      rest(app().url, `/v1/pets?cursor=${Buffer.from(`pet:${id}`).toString('base64url')}`, {
        token: mine.token,
      }),
    'Query.pet': (id) => graphql(app().url, `{ pet(id: "${id}") { id name } }`, { token: mine.token }),
    'Query.pets(after:)': (id) =>
      graphql(
        app().url,
        `{ pets(after: "${Buffer.from(`pet:${id}`).toString('base64url')}") { nodes { id } } }`,
        {
          token: mine.token,
        },
      ),
    'Query.pets(ids:)': (id) =>
      graphql(app().url, `{ pets(ids: ["${id}"]) { nodes { id } } }`, { token: mine.token }),
    'Mutation.deletePet': (id) =>
      graphql(app().url, `mutation { deletePet(id: "${id}") { id } }`, { token: mine.token }),
    'Mutation.updatePet': (id) =>
      graphql(app().url, `mutation { updatePet(id: "${id}", input: {name: "Mine"}) { id } }`, {
        token: mine.token,
      }),
  };

  test.each(Object.keys(operations))('Tenancy-1: %s treats a foreign id as an unknown id', async (name) => {
    const operation = operations[name];
    if (!operation) throw new Error(`no operation ${name}`);
    const unknown = await operation(unknownId);
    for (const id of foreignIds) {
      const foreign = await operation(id);
      expect(foreign.status).toBe(unknown.status);
      expect(foreign.text.replaceAll(id, 'ID')).toBe(unknown.text.replaceAll(unknownId, 'ID'));
    }
  });

  test("Tenancy-2: lists show and count only the project's own pets", async () => {
    const own = await rest(app().url, '/v1/pets?limit=100', { token: mine.token });
    expect(own.body).toEqual([]);
    const { body } = await graphql(
      app().url,
      '{ pets(first: 100) { nodes { id } pageInfo { hasNextPage } } }',
      {
        token: mine.token,
      },
    );
    expect(body.data.pets).toEqual({ nodes: [], pageInfo: { hasNextPage: false } });
  });

  test("Tenancy-3: another project's Idempotency-Key is a new key here", async () => {
    const made = await rest(app().url, '/v1/pets', {
      method: 'POST',
      token: mine.token,
      body: { name: 'Mine', categoryId: 8 },
      headers: { 'idempotency-key': 'theirs-sold' },
    });
    expect([made.status, made.body.name]).toEqual([201, 'Mine']);
  });

  test('Tenancy-4: a project in the input is ignored', async () => {
    const made = await rest(app().url, '/v1/pets?projectId=1', {
      method: 'POST',
      token: mine.token,
      body: { name: 'Mine', categoryId: 8, projectId: 1, project_id: 1 },
    });
    expect((await rest(app().url, `/v1/pets/${made.body.id}`, { token: mine.token })).status).toBe(200);
  });

  test('Tenancy-5: ids do not reveal how many pets other projects add in between', async () => {
    const busy = await app().tenant();
    const add = async (token: string) =>
      (await rest(app().url, '/v1/pets', { method: 'POST', token, body: { name: 'x', categoryId: 1 } })).body
        .id;
    const gaps: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      app().clock.now += 1_000;
      const first = await add(mine.token);
      for (let other = 0; other < round; other += 1) await add(busy.token);
      app().clock.now += 1_000;
      gaps.push((await add(mine.token)) - first);
    }
    // With a shared counter the gaps would be 1, 2, 3…; here each gap is a second, plus or minus a random part.
    for (const gap of gaps) expect(Math.abs(gap - 1_000 * 4_096)).toBeLessThan(4_096);
  });
});
