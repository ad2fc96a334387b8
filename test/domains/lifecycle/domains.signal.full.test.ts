import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ChangeSignal } from '../../../src/domains/hosts/change-signal.js';
import { eventually } from '../../support/eventually.js';
import { atMachineSpeed, inOwnTicks } from '../../support/own-time.js';
import { type RedisServer, startRedis } from '../../support/servers/redis.js';

let redis: RedisServer;
const open: ChangeSignal[] = [];

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(async () => {
  await Promise.all(open.map((signal) => signal.close()));
  await redis.stop();
});

function process() {
  const seen = { changes: 0 };
  const signal = new ChangeSignal(redis.url, async () => {
    seen.changes += 1;
  });
  signal.listen();
  open.push(signal);
  return { signal, seen };
}

test('Domains-Signal-1: with Redis the other processes check at once when a served host has changed', async () => {
  const [one, two, three] = [process(), process(), process()];
  await eventually('all listen', async () => {
    await one.signal.announce();
    return two.seen.changes > 0 && three.seen.changes > 0;
  });
  const before = two.seen.changes;
  const { tookMs } = await atMachineSpeed(async () => {
    await one.signal.announce();
    await eventually('the other looks', () => two.seen.changes > before);
  });
  expect(tookMs).toBeLessThan(300);
});

test('Domains-Signal-2: a frozen Redis delays an act by at most 300 ms', async () => {
  const { signal } = process();
  await signal.announce();
  await redis.kill('SIGSTOP');
  const { tookMs } = await inOwnTicks(() => signal.announce());
  expect(tookMs).toBeLessThan(600);
  await redis.kill('SIGCONT');
});

test('Domains-Signal-3: a Redis that is away delays no act, and is used again after its return', async () => {
  const { signal, seen } = process();
  const other = process();
  await redis.kill('SIGTERM');
  const { tookMs } = await inOwnTicks(() => signal.announce());
  expect(tookMs).toBeLessThan(1_000);
  expect(seen.changes).toBeGreaterThan(0);
  await redis.restart();
  await eventually('the other process checks again', async () => {
    const before = other.seen.changes;
    await signal.announce();
    await new Promise((resolve) => setTimeout(resolve, 50));
    return other.seen.changes > before;
  });
});
