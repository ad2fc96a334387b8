import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { changesClient, openLog } from '../support/changes/changes.js';
import { attach, type ServingApp, startServing, visit } from '../support/domains/served-domain.js';
import { eventually } from '../support/eventually.js';
import { graphql } from '../support/http/client.js';
import type { Tenant } from '../support/start-app.js';

const HOST = 'shop.example.com';
const BODY = JSON.stringify({ query: 'subscription { toyChanges { toy { name } } }' });

let app: ServingApp;
let owner: Tenant;
let stranger: Tenant;
const sent: ClientRequest[] = [];

beforeAll(async () => {
  app = await startServing('sqlite', { env: { TRUSTED_PROXIES: '127.0.0.1' } });
  [owner, stranger] = [await app.tenant(), await app.tenant()];
  for (const tenant of [owner, stranger]) await openLog(app, tenant);
  await attach(app, owner.projectId, { hostname: HOST });
  await eventually('served', () => visit(app, HOST, '/healthz').then(() => true));
});
afterEach(() => {
  for (const one of sent.splice(0)) one.destroy();
});
afterAll(() => app.stop());

/** Over TLS, through a proxy that ends TLS, or over HTTP to the generated host. */
type Way = 'own domain' | 'own domain behind a proxy' | 'generated host';

interface Asked {
  readonly status: number | undefined;
  readonly response: IncomingMessage;
  text(): string;
}

async function ask(way: Way, { token }: Tenant): Promise<Asked> {
  const isSecure = way === 'own domain';
  const headers = {
    host: way === 'generated host' ? `${owner.slug}.petstore.localhost` : HOST,
    authorization: `Bearer ${token}`,
    accept: 'text/event-stream',
    'content-type': 'application/json',
    ...(way === 'own domain behind a proxy' ? { 'x-forwarded-proto': 'https' } : {}),
  };
  const target = { host: '127.0.0.1', method: 'POST', path: '/graphql', headers, agent: false };
  const asked = isSecure
    ? secureRequest({ ...target, port: app.httpsPort, servername: HOST, rejectUnauthorized: false })
    : request({ ...target, port: new URL(app.url).port });
  sent.push(asked.end(BODY));
  let text = '';
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.on('response', resolve).on('error', reject);
  });
  response.on('data', (bytes) => {
    text += bytes;
  });
  return { status: response.statusCode, response: response.on('error', () => {}), text: () => text };
}

const WAYS: Way[] = ['own domain', 'own domain behind a proxy', 'generated host'];

test.each(WAYS)(
  "Streams-30: a project's %s streams its changes, and refuses the key of another project",
  async (way) => {
    const stream = await ask(way, owner);
    expect(stream.status).toBe(200);
    await eventually('live', () => stream.text().includes('retry:'));
    await changesClient(
      () => app,
      () => stranger,
    ).create('Luna');
    await changesClient(
      () => app,
      () => owner,
    ).create('Rex');
    await eventually('the change', () => stream.text().includes('Rex'));
    expect(stream.text()).not.toContain('Luna');
    const refused = await ask(way, stranger);
    await eventually('the refusal', () => refused.text().includes('UNAUTHORIZED'));
    expect(refused.status).toBe(401);
  },
);

test('Streams-31: the removal of a domain ends the streams that came to it, and no other', async () => {
  const [direct, proxied, other] = await Promise.all(WAYS.map((way) => ask(way, owner)));
  await eventually('live', () =>
    [direct, proxied, other].every((stream) => stream?.text().includes('retry:')),
  );
  const { body } = await graphql(app.url, '{ domains { id } }', owner);
  const remove = 'mutation ($id: ID!) { removeDomain(id: $id) { id } }';
  await graphql(app.url, remove, { ...owner, variables: { id: body.data.domains[0].id } });
  await eventually('the end of the connection', () => direct?.response.destroyed);
  await eventually('the end of the stream', () => proxied?.response.complete);
  expect(proxied?.text()).toMatch(/"MISDIRECTED".*\n\nevent: complete\ndata:\n\n$/);
  expect(other?.response.destroyed).toBe(false);
});
