import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { MemoryLimiter } from '../../src/request/rate-limit/memory/memory-limiter.js';
import { addressSubject } from '../../src/request/rate-limit/rules/subjects.js';
import { newToken } from '../../src/tenants/api-keys/token.js';
import { startApp } from '../support/start-app.js';

const COUNT = 100_000;
const QUOTA = { perMinute: 60, perDay: null };
const HEAP_BYTES = 50_000_000;

test(`Limits-21: ${COUNT} distinct wrong keys from as many addresses take less than 50 MB and slow nothing down`, async () => {
  const app = await startApp();
  try {
    const limiter = new MemoryLimiter(() => app.clock.now);
    const { apiKeys } = app.app.services;
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    collect();
    const before = process.memoryUsage().heapUsed;
    const tookMs: number[] = [];
    const part = COUNT / 10;
    for (let done = 0; done < COUNT; done += part) {
      const startedAt = performance.now();
      for (let at = done; at < done + part; at += 1) {
        if (await apiKeys.identify(newToken())) throw new Error('a wrong key was accepted');
        const address = `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`;
        const account = { subject: addressSubject(address), keyId: null, quota: QUOTA };
        const decision = limiter.charge({ ...account, cost: 1 });
        if (!decision.admitted) throw new Error(`${address} was refused its first request`);
      }
      tookMs.push(performance.now() - startedAt);
    }
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(HEAP_BYTES);
    const [first = 0] = tookMs;
    const median = [...tookMs].sort((a, b) => a - b)[5] ?? 0;
    expect(median).toBeLessThan(first * 3);
  } finally {
    await app.stop();
  }
}, 180_000);
