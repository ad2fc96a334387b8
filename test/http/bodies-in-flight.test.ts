import { EventEmitter } from 'node:events';
import { expect, test } from '@jest/globals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BodiesInFlight, type BodyShare } from '../../src/request/http/content/bodies-in-flight.js';
import { RawClient } from '../support/attacks/raw-client.js';
import { eventually } from '../support/eventually.js';
import { rest } from '../support/http/client.js';
import { startApp } from '../support/start-app.js';

const MAX_BYTES = 15_000;

/** The requests of projects, each with its share and its response. */
function requests() {
  const bodies = new BodiesInFlight(MAX_BYTES);
  return (projectId: bigint) => {
    const request = { caller: { projectId }, bodyShare: null } as unknown as FastifyRequest;
    const response = new EventEmitter();
    const share = bodies.shareOf(request, { raw: response } as unknown as FastifyReply) as BodyShare;
    return { share, close: () => response.emit('close') };
  };
}

test('Bodies-1: a project alone gets a fifth of the room, and 503 with Retry-After for more', () => {
  const ask = requests();
  const held = [1, 2, 3].map(() => ask(1n));
  for (const { share } of held) share.set(1_000);
  expect(() => ask(1n).share.set(1)).toThrow(
    expect.objectContaining({ code: 'unavailable', retryAfterSeconds: 1 }),
  );
  held[0]?.close();
  ask(1n).share.set(1_000);
});

test('Bodies-2: whatever the number of projects, their total stays below the bound; ten leave room for another', () => {
  const ask = requests();
  let total = 0;
  for (let projectId = 1n; projectId <= 1_000n; projectId += 1n) {
    try {
      for (;;) {
        ask(projectId).share.set(10);
        total += 10;
      }
    } catch {}
    if (projectId === 10n) ask(11n).share.set(MAX_BYTES / 100);
  }
  expect(total).toBeLessThanOrEqual(MAX_BYTES);
  expect(total).toBeGreaterThan(MAX_BYTES * 0.9);
});

test('Bodies-3: a parsed value counts 100 bytes, and less is counted after it is forgotten', () => {
  const ask = requests();
  const { share } = ask(1n);
  expect(() => share.set(1_000, 21)).toThrow();
  share.set(1_000, 20);
  expect(() => ask(1n).share.set(1)).toThrow();
  share.set(1_000);
  ask(1n).share.set(2_000);
});

test('Bodies-4: a body counts until its work has ended, also if its client has disconnected', async () => {
  const ask = requests();
  const { share, close } = ask(1n);
  share.set(3_000);
  let end = () => {};
  const work = share.during(
    () =>
      new Promise<void>((resolve) => {
        end = resolve;
      }),
  );
  close();
  expect(() => ask(1n).share.set(1)).toThrow();
  end();
  await work;
  ask(1n).share.set(3_000);
});

test('Bodies-5: the rest of a body that arrives after its response holds nothing', () => {
  const ask = requests();
  const { share, close } = ask(1n);
  share.set(3_000);
  close();
  share.set(3_000);
  ask(1n).share.set(3_000);
});

test('Bodies-6: a client that disconnects before its key is known holds nothing', async () => {
  const running = await startApp();
  const { callers } = running.app.services.apiKeys;
  const { token } = await running.tenant();
  const port = Number(new URL(running.url).port);
  const identify = callers.identify.bind(callers);
  let asked = 0;
  let proceed = () => {};
  const mayProceed = new Promise<void>((resolve) => {
    proceed = resolve;
  });
  callers.identify = async (digest) => {
    asked += 1;
    await mayProceed;
    return identify(digest);
  };
  try {
    const head = `POST /v1/toys HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n`;
    const clients = Array.from({ length: 150 }, () => new RawClient({ port }).send(head));
    await eventually('all keys are looked up', () => asked === clients.length);
    for (const client of clients) client.leave();
    const { server } = running.app.http;
    const open = () => new Promise((resolve) => server.getConnections((_, count) => resolve(count)));
    await eventually('all have disconnected', async () => (await open()) === 0);
    proceed();
    const body = { name: 'Rex', categoryId: 1, about: 'a'.repeat(99_900) };
    expect((await rest(running.url, '/v1/toys', { method: 'POST', token, body })).status).toBe(201);
  } finally {
    await running.stop();
  }
});
