import { EventEmitter } from 'node:events';
import { expect, test } from '@jest/globals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BodiesInFlight, type BodyShare } from '../../src/http/content/bodies-in-flight.js';

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
