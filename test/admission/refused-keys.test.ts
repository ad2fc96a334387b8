import { expect, test } from '@jest/globals';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Meter, RefusedKeys } from '../../src/request/admission/meter.js';
import { MemoryLimiter } from '../../src/request/rate-limit/memory/memory-limiter.js';
import type { ApiKeyService } from '../../src/tenants/api-keys/api-key.service.js';
import { MINUTE_MS, NOON_MS } from '../support/limiter/charges.js';

function refusedKeys() {
  const clock = { now: NOON_MS };
  return { clock, keys: new RefusedKeys(() => clock.now) };
}

test('RefusedKeys-1: a key is refused until its Retry-After, by the plan or by an allowance', () => {
  const { clock, keys } = refusedKeys();
  keys.note(1n, 'plan', 10);
  keys.note(1n, 'allowance', 20);
  expect([keys.isRefused(1n), keys.isRefusedByPlan(1n), keys.isRefused(2n)]).toEqual([true, true, false]);
  clock.now += 10_000;
  expect([keys.isRefused(1n), keys.isRefusedByPlan(1n)]).toEqual([true, false]);
  clock.now += 10_000;
  expect(keys.isRefused(1n)).toBe(false);
  keys.note(1n, 'plan', 10);
  keys.forgetPlan(1n);
  expect(keys.isRefused(1n)).toBe(false);
});

test('RefusedKeys-2: its documents are counted by the UTC minute, and a later refusal keeps the count', async () => {
  const clock = { now: NOON_MS + 15_000 };
  const now = () => clock.now;
  const meter = new Meter(
    new MemoryLimiter(now),
    {} as ApiKeyService,
    { isStaging: false, rehearse: 'Petstore-Rehearse', nouns: 'books' },
    now,
  );
  const caller = { projectId: 1n, keyId: 1n, quota: { perMinute: 60, perDay: 1_000 } };
  const request = { caller, ip: '127.0.0.1' } as unknown as FastifyRequest;
  const reply = { headers: () => reply } as unknown as FastifyReply;
  const read = async () => meter.admitUnread(request, reply, true);
  for (let documents = 0; documents < 120; documents += 1) await read();
  const message =
    'While a key is refused, the gateway reads 120 of its new documents a minute (UTC). Send documents with variables; try again in 45 s.';
  const refusal = { code: 'rate_limited_minute', limit: 120, retryAfterSeconds: 45, message };
  for (let again = 0; again < 2; again += 1) await expect(read()).rejects.toMatchObject(refusal);
  expect(meter.isRefused(request)).toBe(true);
  clock.now += MINUTE_MS - 15_000;
  await read();
});

test('RefusedKeys-3: 20,000 keys are stored; one more evicts the first', () => {
  const { keys } = refusedKeys();
  for (let key = 0n; key <= 20_000n; key += 1n) keys.note(key, 'plan', 60);
  expect([keys.isRefused(0n), keys.isRefused(1n), keys.isRefused(20_000n)]).toEqual([false, true, true]);
});
