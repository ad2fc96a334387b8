import { expect, test } from '@jest/globals';
import { startAttackedStreams } from '../../../support/attacks/attacked-streams.js';
import { dropStreams } from '../../../support/attacks/dropped-streams.js';
import { startRedis } from '../../../support/servers/redis.js';

test.each([
  ['in memory', false],
  ['in Redis', true],
])(
  'StreamAttack-12: 10,000 dropped streams, counted %s, leave no slot, no descriptor and no memory',
  async (_, isShared) => {
    const redis = isShared ? await startRedis() : null;
    const attacked = await startAttackedStreams(redis ? { REDIS_URL: redis.url } : {});
    try {
      const { gateway, attack, noneIsOpen, newKey } = attacked;
      const token = await newKey();
      // As many as are measured: until then V8's heap grows, and Redis's client with it. A leak grows on.
      await dropStreams(gateway, token, 10_000);
      await noneIsOpen();
      const descriptors = await attacked.descriptors();
      const { keptMb } = await attack(async () => {
        await dropStreams(gateway, token, 10_000);
        await noneIsOpen();
      });
      console.log({ keptMb });
      expect(await attacked.descriptors()).toBeLessThanOrEqual(descriptors + 5);
      expect(keptMb).toBeLessThan(30);
    } finally {
      await attacked.stop();
      await redis?.stop();
    }
  },
);
