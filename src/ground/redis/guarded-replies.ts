import type { Redis } from 'ioredis';

/** Our replies are shorter than their commands, except a cluster's slot map and messages from other processes. */
const MAX_UNASKED_BYTES = 1024 * 1024;

/**
 * The same connection, which closes and reconnects when it receives data that is not a Redis reply. Unguarded, the parser
 * of ioredis throws in a socket event, which would end the process. It also buffers a long reply without a bound.
 */
export function guarded(redis: Redis): Redis {
  redis.on('connect', () => {
    const { stream } = redis;
    const [parse] = stream.listeners('data') as ((bytes: Buffer) => void)[];
    if (!parse) return;
    stream.removeListener('data', parse);
    stream.prependListener('data', (bytes: Buffer) => {
      try {
        parse(bytes);
      } catch (fault) {
        stream.destroy(fault as Error);
      }
      if (stream.bytesRead > stream.bytesWritten + MAX_UNASKED_BYTES) {
        stream.destroy(new Error('sends more than it was asked for'));
      }
    });
  });
  return redis;
}
