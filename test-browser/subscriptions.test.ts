import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { closeLog, openLog } from '../test/support/changes/changes.js';
import { eventually } from '../test/support/eventually.js';
import { graphql } from '../test/support/http/client.js';
import { freePort } from '../test/support/servers/daemon.js';
import { startApp, type Tenant, type TestApp } from '../test/support/start-app.js';
import { takePicture, violationsInThemes } from './support/pictures.js';
import { type Visitor, visits } from './support/visitor.js';

let app: TestApp;
let visitor: Visitor;
const visit = visits(async () => {
  app = await startApp();
  return app;
});

const SOON_MS = 1_000;
const CREATE = 'mutation($name: String!) { createToy(input: { name: $name, categoryId: 1 }) { id } }';
const add = async (name: string, { token }: Tenant, url = app.url) => {
  const { body } = await graphql(url, CREATE, { token, variables: { name } });
  expect(body.errors).toBeUndefined();
};

async function loggedTenant(of = app): Promise<Tenant> {
  const owner = await of.tenant();
  await openLog(of, owner);
  return owner;
}

/** Opens GraphiQL with the example, signed in. */
async function openExample({ token }: Tenant, url = app.url): Promise<Page> {
  visitor = await visit({ url, provokes: [409, 410] });
  const { page } = visitor;
  await page.goto(`${url}/graphiql`);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('dialog').getByLabel('API key').fill(token);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await page.getByLabel('Open an example in a new tab').selectOption('Follow changes of toys');
  // GraphiQL knows the operation once its tab has the name.
  await page.getByRole('button', { name: 'FollowToys' }).waitFor();
  return page;
}

const execute = () => visitor.page.getByRole('button', { name: /^Execute query/ });
const stop = () => visitor.page.getByRole('button', { name: /^Stop query/ });
const result = () => visitor.page.getByRole('region', { name: 'Result Window' });
const badge = (text: string) => visitor.page.locator('.live').filter({ hasText: text });

test('Explorers-17: GraphiQL shows the events of a subscription as they come, the newest first, until it is stopped', async () => {
  const owner = await loggedTenant();
  const page = await openExample(owner);
  await execute().click();
  await badge('Live').waitFor();
  await add('Rex', owner);
  await result().getByText('"Rex"').waitFor({ timeout: SOON_MS });
  await add('Luna', owner);
  await result().getByText('"Luna"').waitFor({ timeout: SOON_MS });
  const text = await result().innerText();
  expect(text.indexOf('Luna')).toBeLessThan(text.indexOf('Rex'));
  await page.getByText('2 events', { exact: true }).waitFor();
  expect(await violationsInThemes(page, 'graphiql-subscription-1280')).toEqual([]);
  await stop().click();
  await badge('Live').waitFor({ state: 'detached' });
  await add('Max', owner);
  await execute().waitFor();
  expect(await result().innerText()).not.toContain('Max');
  expect(visitor.complaints).toEqual([]);
});

test('Explorers-18: GraphiQL shows why a subscription is refused, or that its cursor is too old', async () => {
  const owner = await app.tenant();
  const page = await openExample(owner);
  await execute().click();
  await result().getByText('"CONFLICT"').waitFor();
  await execute().waitFor();
  await openLog(app, owner);
  const { body } = await graphql(app.url, '{ toys { changesCursor } }', { token: owner.token });
  await closeLog(app, owner);
  await openLog(app, owner);
  await page.getByRole('button', { name: 'Variables' }).click();
  await page.locator('.graphiql-editor-tool .CodeMirror').first().click();
  await page.keyboard.press('Control+A');
  await page.keyboard.insertText(JSON.stringify({ after: body.data.toys.changesCursor }));
  await execute().click();
  await result().getByText('"GONE"').waitFor();
  await execute().waitFor();
  await takePicture(page, 'graphiql-gone-1280-light');
  expect(visitor.complaints).toEqual([]);
});

test('Explorers-19: after a restart of the gateway GraphiQL resumes, and shows the events of meanwhile', async () => {
  const other = await startApp({ env: { PORT: String(await freePort()) } });
  let next: Awaited<ReturnType<TestApp['restarted']>> | undefined;
  try {
    const owner = await loggedTenant(other);
    await openExample(owner, other.url);
    await execute().click();
    await badge('Live').waitFor();
    await add('Rex', owner, other.url);
    await result().getByText('"Rex"').waitFor();
    next = await other.restarted();
    await add('Luna', owner, other.url);
    await result().getByText('"Luna"').waitFor();
    await badge('Live').waitFor();
    await visitor.page.getByText('2 events', { exact: true }).waitFor();
  } finally {
    await visitor.leave();
    await next?.close();
    await other.stop();
  }
});

/** In the place of Apollo's script, which tests cannot reach: it keeps what the page gives it. */
const SANDBOX = 'window.EmbeddedSandbox = class { constructor(options) { window.given = options; } };';

test('Explorers-20: Sandbox has the endpoint of subscriptions, and its request through the page is answered part by part', async () => {
  const owner = await loggedTenant();
  visitor = await visit();
  const { page } = visitor;
  await page.route(/apollographql/, (route) =>
    route.fulfill({ contentType: 'text/javascript', body: SANDBOX }),
  );
  await page.goto(`${app.url}/graphql`);
  await eventually('loaded', () => page.evaluate<boolean>('"given" in window'));
  expect(await page.evaluate('given.initialSubscriptionEndpoint')).toBe(`${app.url}/graphql`);
  // As Apollo's script sends it, without an Accept header.
  await page.evaluate(
    async ([token, query]) => {
      const { given } = window as unknown as {
        given: { handleRequest(url: string, options: object): Promise<Response> };
      };
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ query });
      const response = await given.handleRequest('/graphql', { method: 'POST', headers, body });
      const received = { type: response.headers.get('content-type'), text: '' };
      Object.assign(window, { received });
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      void (async () => {
        for (;;) received.text += (await reader?.read())?.value ?? '';
      })();
    },
    [owner.token, 'subscription { toyChanges { kind toy { name } } }'] as const,
  );
  await add('Rex', owner);
  await eventually('the event', () => page.evaluate<boolean>('received.text.includes("Rex")'));
  expect(await page.evaluate('received.type')).toMatch(/^multipart\/mixed;/);
  const part = '{"payload":{"data":{"toyChanges":{"kind":"CREATED","toy":{"name":"Rex"}}}}}';
  // Sandbox shows a part only once it has the boundary behind it.
  expect(await page.evaluate('received.text')).toContain(`${part}\r\n--graphql`);
});
