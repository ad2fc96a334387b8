import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { graphql, rest } from './support/client.js';
import { databaseKinds } from './support/databases.js';
import { startApp, type TestApp } from './support/start-app.js';

describe.each(databaseKinds())('on %s', (kind) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp({ kind });
  });
  afterAll(() => app.stop());
  test('smoke', async () => {
    const { token } = await app.tenant();
    const made = await rest(app.url, '/v1/pets', {
      method: 'POST',
      token,
      body: '{"name":"😀","categoryId":9223372036854775807}',
    });
    expect(made.status).toBe(201);
    expect(made.body.categoryId).toBe(9223372036854775807n);
    const g = await graphql(app.url, '{pets{nodes{id name categoryId}}}', { token });
    expect(g.body.data.pets.nodes).toEqual([
      { id: String(made.body.id), name: '😀', categoryId: '9223372036854775807' },
    ]);
  });
});
