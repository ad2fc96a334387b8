import { describe, expect, test } from '@jest/globals';
import type { Request } from 'playwright-core';
import { openLog } from '../test/support/changes/changes.js';
import { eventually } from '../test/support/eventually.js';
import { graphql } from '../test/support/http/client.js';
import { freePort } from '../test/support/servers/daemon.js';
import { startApp, TEST_ACTOR, type Tenant, type TestApp } from '../test/support/start-app.js';
import { takePicture } from './support/pictures.js';
import { type Visitor, visits } from './support/visitor.js';

let app: TestApp;
let visitor: Visitor;
const visit = visits(async () => {
  app = await startApp();
  return app;
});

const SOON_MS = 1_000;

/** Another client of the project. */
const client = ({ token }: Pick<Tenant, 'token'>, url = app.url) => {
  const send = async (query: string, variables: object) => {
    const { body } = await graphql(url, query, { token, variables: { ...variables } });
    if (body.errors) throw new Error(JSON.stringify(body.errors));
    return body.data;
  };
  return {
    add: async (name: string, status = 'available'): Promise<string> => {
      const input = { name, categoryId: '1', status };
      return (await send('mutation($input: NewToy!) { createToy(input: $input) { id } }', { input }))
        .createToy.id;
    },
    change: (id: string, input: object) =>
      send('mutation($id: ID!, $input: ToyChanges!) { updateToy(id: $id, input: $input) { id } }', {
        id,
        input,
      }),
    remove: (id: string) => send('mutation($id: ID!) { deleteToy(id: $id) { id } }', { id }),
  };
};

const rows = () => visitor.page.locator('tbody tr');
const row = (name: string) => visitor.page.getByRole('rowheader', { name, exact: true });
const badge = (text: string) => visitor.page.locator('.live').filter({ hasText: text });

/** The names of the operations that the page sends from now on. */
function operations(): string[] {
  const sent: string[] = [];
  visitor.page.on('request', (request: Request) => {
    if (request.url().endsWith('/graphql')) sent.push(request.postDataJSON().operationName);
  });
  return sent;
}

async function openToys(token: string, path = '/toys', url = app.url): Promise<void> {
  visitor = await visit({ url });
  await visitor.signIn(token);
  await visitor.open(path);
}

describe('with a change log', () => {
  test('LivePage-1: toys that another client adds, changes and deletes are shown within a second, and no list is read', async () => {
    const owner = await app.tenant();
    await openLog(app, owner);
    const { add, change, remove } = client(owner);
    await add('Luna');
    await openToys(owner.token);
    await badge('Live').waitFor();
    const sent = operations();
    const id = await add('Rex');
    await row('Rex').waitFor({ timeout: SOON_MS });
    expect(await rows().allInnerTexts()).toEqual([
      expect.stringContaining('Rex'),
      expect.stringContaining('Luna'),
    ]);
    await takePicture(visitor.page, 'toys-live-1280-light', { fullPage: true });
    await change(id, { name: 'Max', status: 'sold' });
    await row('Max').waitFor({ timeout: SOON_MS });
    expect(await rows().first().innerText()).toContain('sold');
    await remove(id);
    await row('Max').waitFor({ state: 'detached', timeout: SOON_MS });
    expect(await rows().count()).toBe(1);
    expect(sent).toEqual([]);
    expect(visitor.complaints).toEqual([]);
  });

  test('LivePage-2: a toy enters and leaves a filtered list with its status', async () => {
    const owner = await app.tenant();
    await openLog(app, owner);
    const { add, change } = client(owner);
    const id = await add('Rex');
    await openToys(owner.token, '/toys?status=sold');
    await badge('Live').waitFor();
    await visitor.page.getByText('No toy is sold').waitFor();
    await change(id, { status: 'sold' });
    await row('Rex').waitFor({ timeout: SOON_MS });
    await add('Luna');
    await change(id, { status: 'pending' });
    await visitor.page.getByText('No toy is sold').waitFor({ timeout: SOON_MS });
    expect(visitor.complaints).toEqual([]);
  });

  test('LivePage-3: a full page stays full, its next page misses no toy, and one stream serves all pages', async () => {
    const owner = await app.tenant();
    await openLog(app, owner);
    const { add } = client(owner);
    for (let at = 0; at < 30; at += 1) await add(`Toy ${at}`);
    await openToys(owner.token);
    await badge('Live').waitFor();
    const sent = operations();
    for (let at = 30; at < 33; at += 1) await add(`Toy ${at}`);
    await row('Toy 32').waitFor();
    expect(await rows().count()).toBe(25);
    await visitor.page.getByRole('button', { name: 'Next' }).click();
    await visitor.page.getByText('Page 2').waitFor();
    const names = visitor.page.locator('tbody th');
    await eventually('the rest', async () => (await names.count()) === 8);
    expect(await names.allInnerTexts()).toEqual(Array.from({ length: 8 }, (_, at) => `Toy ${7 - at}`));
    expect(sent).not.toContain('ToyChanges');
    expect(visitor.complaints).toEqual([]);
  });

  test('LivePage-4: no row moves while the pointer moves over the list', async () => {
    const owner = await app.tenant();
    await openLog(app, owner);
    const { add } = client(owner);
    await add('Luna');
    await openToys(owner.token);
    await badge('Live').waitFor();
    const { x = 0, y = 0 } = (await row('Luna').boundingBox()) ?? {};
    let isMoving = true;
    const moving = (async () => {
      for (let at = 0; isMoving; at += 1) await visitor.page.mouse.move(x + (at % 20), y + 5);
    })();
    await add('Rex');
    const arrived = row('Rex').waitFor({ timeout: 500 });
    await expect(arrived).rejects.toThrow('Timeout');
    isMoving = false;
    await moving;
    await row('Rex').waitFor();
    expect(visitor.complaints).toEqual([]);
  });

  test('LivePage-5: a hidden tab closes its stream after half a minute, and shows the present when it is seen again', async () => {
    const owner = await app.tenant();
    await openLog(app, owner);
    const { add } = client(owner);
    visitor = await visit();
    await visitor.page.clock.install();
    await visitor.signIn(owner.token);
    await visitor.open('/toys');
    await badge('Live').waitFor();
    const ended = visitor.page.waitForEvent('requestfailed');
    await setHidden(true);
    await visitor.page.clock.fastForward(31_000);
    expect((await ended).postDataJSON().operationName).toBe('ToyChanges');
    await add('Rex');
    await setHidden(false);
    await row('Rex').waitFor();
    await badge('Live').waitFor();
  });

  test('LivePage-6: after a restart of the gateway the page shows what was changed meanwhile, and follows again', async () => {
    const other = await startApp({ env: { PORT: String(await freePort()) } });
    let next: Awaited<ReturnType<TestApp['restarted']>> | undefined;
    try {
      const owner = await other.tenant();
      await openLog(other, owner);
      const { add } = client(owner, other.url);
      await add('Luna');
      await openToys(owner.token, '/toys', other.url);
      await badge('Live').waitFor();
      const sent = operations();
      const lost = badge('Reconnects in').waitFor();
      next = await other.restarted();
      await lost;
      await add('Rex');
      await row('Rex').waitFor();
      await badge('Live').waitFor();
      await add('Max');
      await row('Max').waitFor({ timeout: SOON_MS });
      expect(new Set(sent)).toEqual(new Set(['ToyChanges']));
    } finally {
      await visitor.leave();
      await next?.close();
      await other.stop();
    }
  });
});

test('LivePage-9: a key that is revoked ends the session within a second, although the page asks for nothing', async () => {
  const owner = await app.tenant();
  await openLog(app, owner);
  await openToys(owner.token);
  await badge('Live').waitFor();
  await app.app.services.apiKeys.revoke(TEST_ACTOR, owner.keyId);
  await visitor.page.getByText('no longer accepted').waitFor({ timeout: SOON_MS });
  expect(visitor.complaints).toEqual([]);
});

describe('without a stream', () => {
  test('LivePage-7: while the log is off the list is read every minute, and followed once the log is open', async () => {
    const owner = await app.tenant();
    const { add } = client(owner);
    await add('Luna');
    visitor = await visit();
    await visitor.page.clock.install();
    await visitor.signIn(owner.token);
    await visitor.open('/toys');
    await badge('Updated every minute').waitFor();
    const sent = operations();
    await add('Rex');
    await visitor.page.clock.fastForward(59_000);
    expect(sent).toEqual([]);
    await visitor.page.clock.fastForward(2_000);
    await row('Rex').waitFor();
    expect(sent).toEqual(['Toys']);
    await takePicture(visitor.page, 'toys-polled-1280-light', { fullPage: true });
    await openLog(app, owner);
    await visitor.page.clock.fastForward(61_000);
    await badge('Live').waitFor();
    expect(visitor.complaints).toEqual([]);
  });

  test('LivePage-8: a page beyond the number of open streams reads the list, and tries again later', async () => {
    const owner = await app.tenant({ plan: 'FREE' });
    await openLog(app, owner);
    const { add } = client(owner);
    const others = [await follow(owner), await follow(owner)];
    visitor = await visit({ provokes: [429] });
    await visitor.page.clock.install();
    await visitor.signIn(owner.token);
    await visitor.open('/toys');
    await badge('Updated every minute').waitFor();
    for (const leave of others) leave();
    await add('Rex');
    await visitor.page.clock.fastForward(80_000);
    await row('Rex').waitFor();
    await badge('Live').waitFor();
    expect(visitor.complaints).toEqual([]);
  });
});

/** Hides the tab, as far as a page can know. */
async function setHidden(isHidden: boolean): Promise<void> {
  await visitor.page.evaluate((hidden) => {
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event('visibilitychange'));
  }, isHidden);
}

/** Opens a stream as another client does. Resolves when it is open, with a function that closes it. */
async function follow({ token }: Tenant): Promise<() => void> {
  const controller = new AbortController();
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
    },
    body: JSON.stringify({ query: 'subscription { toyChanges { cursor } }' }),
    signal: controller.signal,
  });
  expect(response.status).toBe(200);
  return () => controller.abort();
}
