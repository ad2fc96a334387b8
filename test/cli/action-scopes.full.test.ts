import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createGateway, loadGateway } from '../../src/app/gateway.js';
import { petstoreHere } from '../support/command-line.js';
import { databaseKinds } from '../support/databases.js';
import { graphql, rest } from '../support/http/client.js';
import { deliveries } from '../support/nouns/deliveries.js';
import { startApp, type TestApp } from '../support/start-app.js';

const gateway = createGateway({ name: 'Deliveries', nouns: [deliveries] });

describe.each(databaseKinds())('on %s', (kind) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp({ kind, gateway: await loadGateway(gateway) });
  });
  afterAll(() => app.stop());
  const run = (...args: string[]) => {
    const { database } = app.config;
    const databaseUrl = database.kind === 'sqlite' ? `sqlite:${database.path}` : database.url;
    return petstoreHere(args, { databaseUrl, gateway });
  };

  test('CLI-60: a key with the scope of one action does that action, and nothing else', async () => {
    const { slug, token: owner } = await app.tenant();
    const made = await run('keys', 'create', slug, '--scopes', 'deliveries:deliver', '--json');
    expect(made).toMatchObject({ code: 0, json: { scopes: ['deliveries:deliver'] } });
    const token = made.json.key;
    const created = await rest(app.url, '/v1/deliveries', {
      method: 'POST',
      token: owner,
      body: { code: 'A' },
    });
    const path = `/v1/deliveries/${created.body.id}`;
    const statuses = [];
    for (const action of ['deliver', 'retry', 'markLost'])
      statuses.push(
        (await rest(app.url, `${path}/${action}`, { method: 'POST', token, body: { signature: 'Ada' } }))
          .status,
      );
    statuses.push((await rest(app.url, path, { token })).status);
    statuses.push((await rest(app.url, path, { method: 'PATCH', token, body: { signature: 'Bob' } })).status);
    expect(statuses).toEqual([204, 403, 403, 403, 403]);
    const again = `mutation { deliverDelivery(id: "${created.body.id}", input: {signature: "Ada"}) { id } }`;
    expect((await graphql(app.url, again, { token })).body.errors[0].extensions.code).toBe('CONFLICT');
    expect((await run('keys', 'list', slug)).stdout).toContain('deliveries:deliver');
  });

  test('CLI-61: the help of keys create, the refusal of an unknown scope and the reference name the scopes of actions', async () => {
    const scopes = ['read', 'write', 'deliver', 'retry', 'markLost'].map((end) => `deliveries:${end}`);
    const { stdout } = await run('keys', 'create', '--help');
    const unwrapped = stdout.replaceAll(/\s+/g, ' ');
    expect(unwrapped).toContain(`separated by commas: ${[...scopes, 'domains', 'keys'].join(', ')}`);
    const unknown = await run('keys', 'create', 'shop', '--scopes', 'deliveries:eat');
    expect(unknown.code).toBe(2);
    expect(unknown.stderr).toContain(scopes.join(', '));
    const { text } = await rest(app.url, '/v1/docs/authentication');
    expect(text).toMatch(/deliveries:deliver<\/code><\/th>\s*<td>hands a delivery over/i);
  });
});
