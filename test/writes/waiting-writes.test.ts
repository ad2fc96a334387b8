import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { openLog } from '../support/changes/changes.js';
import { lockWrites } from '../support/databases.js';
import { rest } from '../support/http/client.js';
import { Toy } from '../support/nouns/toys.js';
import { onEachDatabase } from '../support/on-databases.js';
import type { Tenant } from '../support/start-app.js';

const WRITES = 20;
const TOY = { name: 'Rex', categoryId: 1 };

onEachDatabase((app, kind) => {
  /** Sends requests whose clients disconnect while another program has the lock. Then it ends, and the owner is served. */
  async function disconnectWhileLocked(
    owner: Tenant,
    send: (at: number, signal: AbortSignal) => Promise<unknown>,
  ) {
    const { server } = app().app.http;
    const release = await lockWrites(app().config.database, [owner.projectId]);
    const ended: Promise<unknown>[] = [];
    const clients = Array.from({ length: WRITES }, () => new AbortController());
    const arrived = (async () => {
      while (ended.length < WRITES) {
        const [, response] = await once(server, 'request');
        ended.push(once(response, 'close'));
      }
    })();
    const sent = clients.map(({ signal }, at) => send(at, signal).catch(() => null));
    await arrived;
    for (const client of clients) client.abort();
    await Promise.all([...sent, ...ended]);
    await release();
    // Behind all that wait.
    const last = () => rest(app().url, '/v1/toys', { method: 'POST', token: owner.token, body: TOY });
    expect((await last()).status).toBe(201);
  }

  const post = (path: string, { token }: Tenant, body: object, key: string | null, signal: AbortSignal) =>
    fetch(`${app().url}${path}`, {
      method: 'POST',
      signal,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        ...(key === null ? {} : { 'idempotency-key': key }),
      },
      body: JSON.stringify(body),
    });

  // On MySQL, a statement that has begun to wait for its row is executed.
  const ways: [what: string, isLogged: boolean, isKeyed: boolean][] = [
    ['with a change log', true, false],
    ['with a change log and keys', true, true],
    ['with keys', false, true],
    ...(kind === 'sqlite' ? [['alone', false, false] as [string, boolean, boolean]] : []),
  ];
  test.each(ways)(
    'Outcome-6: writes %s that wait when their clients disconnect are not done',
    async (_, isLogged, isKeyed) => {
      const owner = await app().tenant();
      if (isLogged) await openLog(app(), owner);
      await disconnectWhileLocked(owner, (at, signal) =>
        post('/v1/toys', owner, TOY, isKeyed ? `key-${at}` : null, signal),
      );
      expect(await app().db.repository(Toy).countBy({ projectId: owner.projectId })).toBe(1);
    },
  );

  test('Outcome-7: an act that waits when its client disconnects is not done, and not in the audit log', async () => {
    const owner = await app().tenant();
    const query = 'mutation { createApiKey(input: {name: "late", scopes: [TOYS_READ]}) { token } }';
    const { apiKeys } = app().app.services;
    await disconnectWhileLocked(owner, (_, signal) => post('/graphql', owner, { query }, null, signal));
    expect(await apiKeys.list(owner.projectId)).toHaveLength(1);
    await post('/graphql', owner, { query }, null, new AbortController().signal);
    expect(await apiKeys.list(owner.projectId)).toHaveLength(2);
  });
});
