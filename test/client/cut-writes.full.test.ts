import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { toysClient } from '../support/client/toys-client.js';
import { anyDatabase } from '../support/databases.js';
import { type FaultProxy, startFaultProxy } from '../support/http/fault-proxy.js';
import { startApp, type TestApp } from '../support/start-app.js';

const WRITES = 1_000;

let app: TestApp;
let proxy: FaultProxy;
beforeAll(async () => {
  app = await startApp({ kind: anyDatabase() });
  proxy = await startFaultProxy(Number(new URL(app.url).port));
});
afterAll(async () => {
  await proxy?.stop();
  await app?.stop();
});

test(`Client-17: ${WRITES} writes whose connections are cut, before the gateway has them or before their answers arrive, are each done once`, async () => {
  const known = new Set<string>();
  const lost = new WeakSet<Socket>();
  let cutBefore = 0;
  let cutAfter = 0;
  await proxy.set({
    ofRequest(bytes, { client, server }) {
      const [, key] = /idempotency-key: (\w+)/i.exec(bytes.toString('latin1')) ?? [];
      // The first attempt of each write is cut, on one side or the other.
      const isFirst = key !== undefined && !known.has(key);
      if (isFirst) known.add(key);
      if (isFirst && known.size % 2 === 0) {
        cutBefore += 1;
        client.resetAndDestroy();
        server.destroy();
        return;
      }
      if (isFirst) lost.add(server);
      server.write(bytes);
    },
    ofAnswer(bytes, { client, server }) {
      if (!lost.has(server)) return void client.write(bytes);
      cutAfter += 1;
      client.resetAndDestroy();
      server.destroy();
    },
  });
  const { token } = await app.tenant();
  const api = toysClient(`http://127.0.0.1:${proxy.port}`, token);
  const names = Array.from({ length: WRITES }, (_, at) => `Rex ${at}`);
  const made = await Promise.all(names.map((name, at) => api.toys.create({ name, categoryId: BigInt(at) })));
  expect(made.map(({ name }) => name)).toEqual(names);
  expect([known.size, cutBefore]).toEqual([WRITES, WRITES / 2]);
  expect(cutAfter).toBeGreaterThanOrEqual(WRITES / 2);
  const listed: bigint[] = [];
  for await (const { id } of api.toys.all()) listed.push(id);
  const byId = (one: bigint, other: bigint) => Number(one - other);
  expect(listed.sort(byId)).toEqual(made.map(({ id }) => id).sort(byId));
});
