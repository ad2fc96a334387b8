import { afterAll, expect, test } from '@jest/globals';
import type { Request } from 'playwright-core';
import { Domain } from '../src/domains/store/domain.entity.js';
import { openStream } from '../test/support/changes/stream-client.js';
import { letGo, publishedTenant } from '../test/support/domains/domain-rig.js';
import { domainRow } from '../test/support/domains/served-domain.js';
import { eventually } from '../test/support/eventually.js';
import { graphql, rest } from '../test/support/http/client.js';
import { type RedisServer, startRedis } from '../test/support/servers/redis.js';
import { startApp, type TestApp } from '../test/support/start-app.js';
import { type Visitor, visits } from './support/visitor.js';

let redis: RedisServer;
let app: TestApp;
let visitor: Visitor;
const visit = visits(async () => {
  // With Redis the gateway knows that it hears all processes, and has no other reason to tell of updates.
  redis = await startRedis();
  app = await startApp({ env: { REDIS_URL: redis.url } });
  letGo(app.clock);
  return app;
});
afterAll(async () => {
  await redis?.stop();
});

/** Longer than a page waits between its own looks; much shorter than the silence after which it gives a stream up. */
const LOOKS_MS = 20_000;

/** Opens a page. Returns the operations that it sends. */
async function open(token: string, path: string): Promise<string[]> {
  const sent: string[] = [];
  visitor = await visit({ provokes: [429] });
  await visitor.page.clock.install();
  await visitor.signIn(token);
  visitor.page.on('request', (request: Request) => {
    if (request.url().endsWith('/graphql')) sent.push(request.postDataJSON().operationName);
  });
  await visitor.open(path);
  return sent;
}

/** Resolves once the page has read again because its stream has begun, and sends nothing however long it waits. */
async function untilFollowed(sent: string[], operation: string): Promise<void> {
  const reads = () => sent.filter((name) => name === operation).length;
  await eventually('the first reads', () => sent.includes('Updates') && reads() >= 2);
  sent.length = 0;
  await visitor.page.clock.fastForward(LOOKS_MS);
  expect(sent).toEqual([]);
}

test('UpdatesPage-1: the page Requests reads the log only when it has changed, and its own reads are no change', async () => {
  const { token } = await app.tenant();
  const sent = await open(token, '/requests');
  await visitor.page.getByText('Live', { exact: true }).waitFor();
  await untilFollowed(sent, 'RequestLog');
  await rest(app.url, '/v1/toys', { token });
  await visitor.page.getByRole('button', { name: 'listToys' }).waitFor();
  // The row of this read is stored, and would be told, within two seconds.
  await rest(app.url, '/v1/toys/1', { token });
  await visitor.page.getByRole('button', { name: 'getToy' }).waitFor();
  expect(sent).toEqual(['RequestLog', 'RequestLog']);
  expect(visitor.complaints).toEqual([]);
});

test('UpdatesPage-2: the pages of domains show what another client has changed, and read nothing before', async () => {
  const { token, projectId } = await publishedTenant(app);
  const [primary, other] = ['www.updates.test', 'old.updates.test'];
  const rows = [primary, other].map((name) => domainRow(projectId, name, app.clock.now));
  await app.db.repository(Domain).insert(rows);
  const set = (status: number) =>
    graphql(app.url, 'mutation($input: DomainsInput!) { setDomains(input: $input) { applied } }', {
      token,
      variables: { input: { primary, redirects: [{ from: other, to: primary, status }] } },
    });
  const list = await open(token, '/settings/domains');
  await untilFollowed(list, 'Domains');
  await set(301);
  await visitor.page.getByText(`Redirects to ${primary} (301)`).waitFor();
  expect(list).toEqual(['Domains']);
  expect(visitor.complaints).toEqual([]);
  await visitor.leave();

  const single = await open(token, `/settings/domains/${rows[1]?.id}`);
  await untilFollowed(single, 'Domain');
  await set(302);
  await visitor.page.getByText(`${other} redirects to ${primary} with 302.`).waitFor();
  expect(single).toEqual(['Domain']);
  expect(visitor.complaints).toEqual([]);
});

test('UpdatesPage-3: a page whose stream is refused reads at intervals, and follows once there is room', async () => {
  const owner = await app.tenant({ plan: 'FREE' });
  const query = 'subscription { updates(of: REQUESTS) }';
  const others = [
    await openStream(app.url, { ...owner, query }),
    await openStream(app.url, { ...owner, query }),
  ];
  const sent = await open(owner.token, '/requests');
  await visitor.page.getByText('Live', { exact: true }).waitFor();
  await eventually('the refusal', () => sent.includes('Updates'));
  await rest(app.url, '/v1/toys', owner);
  await visitor.page.getByRole('button', { name: 'listToys' }).waitFor();
  for (const other of others) other.close();
  sent.length = 0;
  await visitor.page.clock.fastForward(80_000);
  await untilFollowed(sent, 'RequestLog');
  expect(visitor.complaints).toEqual([]);
});

test('UpdatesPage-4: the removal of a domain on its own page ends on the list, also when the update comes before the answer', async () => {
  const { token, projectId } = await publishedTenant(app);
  const row = domainRow(projectId, 'leaving.updates.test', app.clock.now);
  await app.db.repository(Domain).insert(row);
  const sent = await open(token, `/settings/domains/${row.id}`);
  const { page } = visitor;
  await untilFollowed(sent, 'Domain');
  await page.route('**/graphql', async (route) => {
    if (route.request().postDataJSON().operationName !== 'RemoveDomain') return route.fallback();
    const response = await route.fetch();
    await eventually('the read', () => sent.includes('Domain'));
    await page.getByText('no such domain').waitFor();
    return route.fulfill({ response });
  });
  await page.getByRole('button', { name: 'Actions for leaving.updates.test' }).click();
  await page.getByRole('menuitem', { name: 'Remove…' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByText('Removed leaving.updates.test').waitFor();
  await page.getByText('No domain yet').waitFor();
  expect(await page.getByRole('alertdialog').count()).toBe(0);
  expect(visitor.complaints).toEqual([]);
});
