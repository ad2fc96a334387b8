import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { changesClient, openLog } from '../support/changes/changes.js';
import { attach, type ServingApp, startServing, visit } from '../support/domains/served-domain.js';
import { eventually } from '../support/eventually.js';
import type { Tenant } from '../support/start-app.js';

const HOST = 'shop.example.com';
const BODY = JSON.stringify({ query: 'subscription { petChanges { pet { name } } }' });

let app: ServingApp;
let owner: Tenant;
let stranger: Tenant;
const sent: ClientRequest[] = [];

beforeAll(async () => {
  app = await startServing('sqlite');
  [owner, stranger] = [await app.tenant(), await app.tenant()];
  for (const tenant of [owner, stranger]) await openLog(app, tenant);
  await attach(app, owner.projectId, { hostname: HOST });
  await eventually('served', () => visit(app, HOST, '/healthz').then(() => true));
});
afterAll(async () => {
  for (const one of sent) one.destroy();
  await app.stop();
});

/** Asks for a stream at the own domain of the project over TLS, or at its generated host without. */
async function ask(
  isSecure: boolean,
  { token }: Tenant,
): Promise<{ status: number | undefined; text(): string }> {
  const headers = {
    host: isSecure ? HOST : `${owner.slug}.petstore.localhost`,
    authorization: `Bearer ${token}`,
    accept: 'text/event-stream',
    'content-type': 'application/json',
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
  return { status: response.statusCode, text: () => text };
}

test.each([
  ['own domain', true],
  ['generated host', false],
])(
  "Streams-30: a project's %s streams its changes, and refuses the key of another project",
  async (_, isSecure) => {
    const stream = await ask(isSecure, owner);
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
    const refused = await ask(isSecure, stranger);
    await eventually('the refusal', () => refused.text().includes('UNAUTHORIZED'));
    expect(refused.status).toBe(401);
  },
);
